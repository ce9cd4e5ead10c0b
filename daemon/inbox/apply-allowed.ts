import { parseJson } from "../../shared/json.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { equalForms, splitForm } from "../../shared/replica/text/text-form.ts";
import { applyEdit } from "../files/state/file-edit.ts";
import { applyHeld } from "../held/apply-held.ts";
import { allowPrivateOf, whyHeld, whyMemoryHeld, whyMetadataHeld } from "../held/judge.ts";
import { dropHeld, type HeldItem, listHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";

type Context = WriteContext<DaemonTables>;

/**
 * Puts the held writes that a person has allowed into their documents, unchanged. False: there were
 * none.
 */
export async function applyAllowed(context: Context): Promise<boolean> {
  const allowed = (await listHeld(context.db)).filter((item) => item.allowed);
  if (allowed.length === 0) return false;
  for (const item of allowed) {
    await allowPrivateOf(context.db, item, { now: context.now });
    await applyAllowedItem(context, item);
  }
  // What was allowed in one write is allowed wherever else it is written.
  for (const item of await listHeld(context.db)) {
    if (await isAllowedNow(context, item)) await applyAllowedItem(context, item);
  }
  return true;
}

/** Whether nothing that was private in it is private any more. */
async function isAllowedNow(context: Context, item: HeldItem): Promise<boolean> {
  const { kind, key, value, account, document, cause, shown } = item;
  if (cause !== "private" || !shown || value === undefined) return false;
  const { db } = context;
  const open = await context.open({ owner: account, name: document });
  if (kind === "text" || kind === "file") {
    return !(await whyHeld(db, open, { text: value, already: [] }));
  }
  if (kind === "memory") {
    return !(await whyMemoryHeld(db, open, { memory: { key, value }, already: [] }));
  }
  return !(await whyMetadataHeld(db, open, { key, value: parseJson(value), already: [] }));
}

async function applyAllowedItem(context: Context, item: HeldItem): Promise<void> {
  const { db, now } = context;
  await dropHeld(db, item);
  // A file is read again and then taken like any save.
  if (item.kind === "file") return;
  const open = await context.open({ owner: item.account, name: item.document });
  if (item.kind === "text") await applyText(context, open, item);
  else applyHeld(open, item.kind === "metadata" ? asWrittenNow(open, item, now) : item);
  await context.flush(open);
}

/**
 * Of metadata the latest write counts, and no conflict tells of the others. Who allows it now means
 * it now.
 */
function asWrittenNow({ document }: OpenDocument, item: HeldItem, now: number): HeldItem {
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
