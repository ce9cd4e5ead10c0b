import { createHash } from "node:crypto";
import * as Y from "yjs";
import type { ReplicaDocument } from "./document.ts";
import { TEXT_ROOT } from "./document.ts";

/**
 * Gives `lines` to a document that never had a text, under a client id derived from them: two
 * machines that seed the same text create equal documents, character for character. Returns that
 * client id.
 */
export function seedText(document: ReplicaDocument, lines: string): number {
  const client = seedClientOf(lines);
  if (document.everHadText() || Y.getState(document.ydoc.store, client) > 0) {
    throw new Error("only a document that never had text is seeded");
  }
  const seed = new Y.Doc();
  seed.clientID = client;
  seed.getText(TEXT_ROOT).insert(0, lines);
  const update = Y.encodeStateAsUpdate(seed);
  document.change("local", () => Y.applyUpdate(document.ydoc, update, "local"));
  return client;
}

/** The first 32 bits of SHA-256. */
function seedClientOf(lines: string): number {
  return createHash("sha256").update(`memsync seed\n${lines}`).digest().readUInt32BE(0);
}
