import { parseJson } from "../../shared/json.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { dropHeld, type HeldItem, listHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { writeText } from "../home/text-write.ts";
import { allowSecretsOf } from "./judge.ts";

type Context = WriteContext<DaemonTables>;

/**
 * Puts the held writes that a person has allowed into their documents, unchanged. False: there were
 * none.
 */
export async function applyAllowed(context: Context): Promise<boolean> {
  const allowed = (await listHeld(context.db)).filter((item) => item.allowed);
  for (const item of allowed) await applyAllowedItem(context, item);
  return allowed.length > 0;
}

async function applyAllowedItem(context: Context, item: HeldItem): Promise<void> {
  const { db, now } = context;
  await allowSecretsOf(db, item, now);
  await dropHeld(db, item);
  // A file is read again and then taken like any save.
  if (item.kind === "file") return;
  const open = await context.open({ owner: item.account, name: item.document });
  applyHeld(open, item);
  await context.flush(open);
}

/** What is applied of a held write. */
export type AppliedWrite = Pick<HeldItem, "kind" | "key" | "value" | "base" | "seen" | "writtenAt">;

/** Applies a held write to exactly the entries that its author saw. */
export function applyHeld({ document }: OpenDocument, item: AppliedWrite): void {
  const { kind, key, value, base, seen, writtenAt } = item;
  if (kind === "text") {
    writeText(document, { base: base ?? "", value: value ?? "", writtenAt });
    return;
  }
  const entries = kind === "memory" ? "memories" : "metadata";
  if (value === undefined) {
    document.deleteEntry(entries, key, seen);
    return;
  }
  const stored = kind === "memory" ? value : parseJson(value);
  document.setEntry(entries, key, { value: stored, now: writtenAt, seen });
}
