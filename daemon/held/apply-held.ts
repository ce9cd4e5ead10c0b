import { parseJson } from "../../shared/json.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { HeldItem } from "../home/held-store.ts";
import { writeText } from "../home/text-write.ts";

/** What is applied of a held write. */
export type AppliedWrite = Pick<HeldItem, "kind" | "key" | "value" | "base" | "seen" | "writtenAt">;

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
