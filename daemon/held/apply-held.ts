import { parseJson } from "../../shared/json.ts";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { HeldItem } from "../home/held-store.ts";
import { writeText } from "../home/text-write.ts";

/** What is applied of a held write. */
export type AppliedWrite = Pick<HeldItem, "kind" | "key" | "value" | "base" | "seen" | "writtenAt">;

/**
 * What the author of a held write saw who wrote elsewhere: no entry of the document that it is held
 * of, and none of its deletions. Who saw nothing at all has begun the memory anew. No replica
 * writes under this client id.
 */
export const BEFORE_DELETIONS: readonly EntryId[] = [{ client: 0, clock: 0 }];

/** Applies a held write to exactly the entries that its author saw. */
export function applyHeld(open: OpenDocument, item: AppliedWrite): void {
  const { document } = open;
  const { kind, key, value, base, seen, writtenAt } = item;
  if (kind === "text") {
    writeText(document, { base: base ?? "", value: value ?? "", writtenAt });
    return;
  }
  const entries = kind === "memory" ? "memories" : "metadata";
  if (value === undefined) {
    if (kind === "memory") open.deleteMemory({ key, now: writtenAt, seen });
    else document.deleteEntry(entries, key, seen);
    return;
  }
  const stored = kind === "memory" ? value : parseJson(value);
  document.setEntry(entries, key, { value: stored, now: writtenAt, seen });
}
