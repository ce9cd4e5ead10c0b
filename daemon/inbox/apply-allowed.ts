import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { equalForms, splitForm } from "../../shared/replica/text/text-form.ts";
import { applyEdit } from "../files/state/file-edit.ts";
import { applyHeld } from "../held/apply-held.ts";
import { allowPrivateOf } from "../held/judge.ts";
import { dropHeld, type HeldItem, listHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";

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
  await allowPrivateOf(db, item, { now });
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
