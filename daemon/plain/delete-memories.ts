import type { DocumentAddress } from "../../shared/replica/document/address.ts";
import type { Outcome } from "../service/service.ts";
import { writeKept } from "./document-state.ts";
import { hasRoom, type PlainOptions } from "./plain-options.ts";
import { hashOfValue, journalDelete, putRefused } from "./plain-store.ts";
import type { Removal } from "./refusals.ts";

/** Deletions of one round. The others wait for the next. */
const DELETIONS_MAX = 20;

const DONE: Outcome<void> = { kind: "answered", value: undefined };

/** Refusals with these statuses concern the memory; others concern the token or the service. */
const OF_THE_MEMORY: ReadonlySet<number> = new Set([400, 404]);

/**
 * Deletes memories by their ids. Each deletion is recorded first: memories that vanish without a
 * record are put back after the next reading. A deletion that the service refuses is not tried
 * again.
 */
export async function deleteMemories(
  { store, service }: Pick<PlainOptions, "store" | "service">,
  address: DocumentAddress,
  removals: readonly Removal[],
): Promise<Outcome<void>> {
  const part = removals.slice(0, DELETIONS_MAX);
  if (part.length === 0) return DONE;
  await writeKept(store, address, async (db, documentId) => {
    for (const { key, id } of part)
      if (id !== null) await journalDelete(db, documentId, { key, memoryId: id });
  });
  for (const [at, { key, id }] of part.entries()) {
    if (id === null) continue;
    if (at > 0 && !hasRoom({ service })) break;
    const outcome = await service.request("DELETE", `/v1/memories/${encodeURIComponent(id)}`);
    if (outcome.kind === "answered") continue;
    if (outcome.kind !== "refused" || !OF_THE_MEMORY.has(outcome.status)) return outcome;
    const reason = { code: "deletion-refused", said: outcome.message } as const;
    await writeKept(store, address, async (db, documentId) => {
      await putRefused(db, documentId, { kind: "deletion", key, hash: hashOfValue(id), reason });
    });
  }
  return DONE;
}
