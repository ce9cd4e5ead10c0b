import { parseJson } from "../../shared/json.ts";
import { sameId } from "../../shared/replica/document/entry-index.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { equalForms, splitForm } from "../../shared/replica/text/text-form.ts";
import { applyEdit } from "../files/state/file-edit.ts";
import { applyHeld } from "../held/apply-held.ts";
import { heldForTheSame } from "../held/held-alike.ts";
import { allowPrivateOf, whyHeld, whyMemoryHeld, whyMetadataHeld } from "../held/judge.ts";
import { dropHeld, type HeldItem, listHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";

type Context = WriteContext<DaemonTables>;

/**
 * Puts the held writes that a person has allowed into their documents, unchanged, and with each
 * what else of its document is held for nothing but the same. False: there were none.
 */
export async function applyAllowed(context: Context): Promise<boolean> {
  const { db, now } = context;
  const allowed = (await listHeld(db)).filter((item) => item.allowed);
  const alike = new Map<number, HeldItem>();
  for (const item of allowed) {
    for (const other of await heldForTheSame(db, item)) alike.set(other.rowId, other);
  }
  for (const item of allowed) {
    await allowPrivateOf(db, item, { now });
    await applyItem(context, item, asAllowedNow);
  }
  for (const item of alike.values()) {
    if (await mayComeAlong(context, item)) await applyItem(context, item, (_, asHeld) => asHeld);
  }
  return allowed.length > 0;
}

/**
 * Whether nothing is private in it any more, and nothing is lost by it: of metadata the latest
 * write alone is seen, and nobody has said that it is to be this one.
 */
async function mayComeAlong(context: Context, item: HeldItem): Promise<boolean> {
  const { kind, key, value = "", seen, account, document } = item;
  const { db } = context;
  const open = await context.open({ owner: account, name: document });
  if (kind === "text" || kind === "file") {
    return !(await whyHeld(db, open, { text: value, already: [] }));
  }
  if (kind === "memory") {
    return !(await whyMemoryHeld(db, open, { memory: { key, value }, already: [] }));
  }
  const entries = open.document.metadata.get(key);
  const isAsSeen =
    entries.length === seen.length &&
    entries.every(({ id }) => seen.some((each) => sameId(id, each)));
  const written = { key, value: parseJson(value), already: [] };
  return isAsSeen && !(await whyMetadataHeld(db, open, written));
}

async function applyItem(
  context: Context,
  item: HeldItem,
  meant: (open: OpenDocument, item: HeldItem, now: number) => HeldItem,
): Promise<void> {
  const { db, now } = context;
  await dropHeld(db, item);
  // A file is read again and then taken like any save.
  if (item.kind === "file") return;
  const open = await context.open({ owner: item.account, name: item.document });
  if (item.kind === "text") await applyText(context, open, item);
  else applyHeld(open, meant(open, item, now));
  await context.flush(open);
}

/**
 * Of metadata the latest write counts, and no conflict tells of the others. Who allows it now means
 * it now.
 */
function asAllowedNow({ document }: OpenDocument, item: HeldItem, now: number): HeldItem {
  if (item.kind !== "metadata") return item;
  const seen = document.metadata.get(item.key).map(({ id }) => id);
  return { ...item, seen, writtenAt: now };
}

/**
 * A text and what was written since it was held meet as the changes of two machines do: what both
 * put at one place is a conflict.
 */
async function applyText(
  context: Context,
  open: OpenDocument,
  { base = "", value = "", writtenAt }: HeldItem,
): Promise<void> {
  const { document } = open;
  const seen = splitForm(base, document.textForm());
  const { form, lines } = splitForm(value, seen.form);
  const former = document.captureText();
  if (!equalForms(form, seen.form)) document.setTextForm(form, writtenAt);
  await applyEdit(context, open, { seen: document.alignText(seen.lines), lines, former });
}
