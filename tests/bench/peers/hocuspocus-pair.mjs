import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import WebSocket from "ws";
import * as Y from "yjs";
import { serve } from "./serve.mjs";

const [url, token] = process.argv.slice(2);

/** A client of its own: one socket, one document in memory. */
function open() {
  const websocketProvider = new HocuspocusProviderWebsocket({ url, WebSocketPolyfill: WebSocket });
  const document = new Y.Doc();
  return new Promise((resolve) => {
    const provider = new HocuspocusProvider({
      websocketProvider,
      document,
      token,
      name: "pair",
      onSynced: () => resolve(document.getMap("memories")),
    });
    provider.attach();
  });
}

const [one, other] = await Promise.all([open(), open()]);

serve({
  /** From before a write to one document to its being seen in the other, in milliseconds. */
  write({ content }) {
    const startedAt = performance.now();
    return new Promise((resolve) => {
      const look = () => {
        if (other.get("decision") !== content) return;
        const tookMs = performance.now() - startedAt;
        other.unobserve(look);
        resolve({ tookMs });
      };
      other.observe(look);
      one.set("decision", content);
    });
  },
});
