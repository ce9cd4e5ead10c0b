import * as Y from "yjs";

/** What an update adds. */
export function itemsOf(update: Uint8Array): Y.Item[] {
  return Y.decodeUpdate(update).structs.flatMap((struct) => {
    return struct instanceof Y.Item ? [struct] : [];
  });
}
