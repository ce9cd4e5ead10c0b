import * as Y from "yjs";
import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { memoryChanges } from "../../support/real-data.ts";
import { NOW } from "../../support/replicas.ts";

const CHANGES = 40;
const VALUE_LENGTH_MAX = 300;

/** The client ids of the machines that wrote it. */
export const CLIENTS = [11, 12] as const;

/** Real memories as two machines wrote them in turn, with a text beside: the updates, in order. */
export function realHistory(): Uint8Array[] {
  const updates: Uint8Array[] = [];
  const documents = CLIENTS.map((client) => new ReplicaDocument([], client));
  for (const document of documents) {
    document.ydoc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== "remote") updates.push(update);
    });
  }
  for (const [at, change] of memoryChanges().slice(0, CHANGES).entries()) {
    const [one, other] = at % 2 === 0 ? documents : documents.toReversed();
    if (!one || !other) continue;
    if (change.op === "delete") one.deleteEntry("memories", change.key);
    else {
      const value = change.value.slice(0, VALUE_LENGTH_MAX).toWellFormed();
      one.setEntry("memories", change.key, { value, now: NOW + at });
      one.setContent(`${value.split("\n").slice(0, 6).join("\n")}\n`, NOW + at);
    }
    if (at % 3 === 0) Y.applyUpdate(other.ydoc, Y.encodeStateAsUpdate(one.ydoc), "remote");
    if (at % 5 === 0) one.setEntry("metadata", "m", { value: { at }, now: NOW + at });
    if (at % 4 === 0) Y.applyUpdate(one.ydoc, Y.encodeStateAsUpdate(other.ydoc), "remote");
  }
  return updates;
}
