import { type CountingProxy, type Exchange, startCountingProxy } from "./counting-proxy.ts";
import type { Note } from "./notes.ts";
import { ask, type Peer, startPeer, startPeerOnPort } from "./peers.ts";
import type { Bench } from "./row.ts";

/** A piece of work of PouchDB's, and what went over the wire for it. */
export interface Replicated extends Exchange {
  readonly tookMs: number;
}

/** A replica in LevelDB beside a pouchdb-server, with what goes between them counted. */
export interface Pouchdb {
  /** Changes one memory, which is replicated at once. */
  change(key: string, value: string): Promise<Replicated>;
  /** Fetches everything into an empty replica. */
  first(): Promise<Replicated & { readonly documents: number }>;
  stop(): Promise<void>;
}

/** Starts both, and replicates these memories to the server. */
export async function startPouchdb(bench: Bench, memories: readonly Note[]): Promise<Pouchdb> {
  const { programs, folder } = bench;
  const dir = await folder();
  const path = "pouchdb-server/bin/pouchdb-server";
  const server = await startPeerOnPort(programs, path, dir, (port) => [
    ...["--host", "127.0.0.1", "--port", String(port), "--dir", dir, "--no-stdout-logs"],
  ]);
  const proxy = await startCountingProxy(server.url);
  const args = [`${proxy.url}/bench`, await folder()];
  const replica = await startPeer(programs, "pouchdb-replica.mjs", args);
  await ask(replica, "fill", { memories });
  return {
    change: (key, value) => counted(proxy, replica, "change", { key, value }),
    first: () => counted(proxy, replica, "first", {}),
    async stop() {
      await replica.stop();
      await proxy.stop();
      await server.stop();
    },
  };
}

async function counted<Result>(
  proxy: CountingProxy,
  replica: Peer,
  what: string,
  body: unknown,
): Promise<Result & Exchange> {
  proxy.take();
  const result = await ask<Result>(replica, what, body);
  const exchange = proxy.take();
  if (!exchange) throw new Error("PouchDB replicated nothing");
  return { ...result, ...exchange };
}
