import * as Y from "yjs";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { applyHeld } from "../held/apply-held.ts";
import { readPosition, writePosition } from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import { knownDocument } from "./known-state.ts";
import { unsentWrites } from "./unsent-writes.ts";

/**
 * The service holds writes under this process's own client id that were not made here, as where a
 * virtual machine was copied, or put back, while the daemon ran. The document gets another client
 * id, and the writes that no service has acknowledged are made again under it: under the former one
 * the service would take them for writes that it has.
 */
export async function writeUnderAnotherId(
  context: WriteContext<DaemonTables>,
  service: string,
  open: OpenDocument,
): Promise<void> {
  const { db } = context;
  const position = await readPosition(db, service, open.id);
  const { ackedSeq } = position;
  await context.flush(open);
  const mine = open.document;
  // Before the first acknowledgement everything is sent anyway.
  const known = ackedSeq > 0 ? await knownDocument(db, open.id, ackedSeq) : undefined;
  const writes = known ? unsentWrites(mine, known, context.now) : [];
  const rebuilt = await context.rebuild(open, Y.encodeStateAsUpdate((known ?? mine).ydoc));
  const { seq } = rebuilt.head;
  for (const write of writes) applyHeld(rebuilt, write);
  await context.flush(rebuilt);
  await writePosition(db, service, {
    documentId: open.id,
    position: { ...position, ackedSeq: known ? seq : 0, refused: undefined },
  });
}
