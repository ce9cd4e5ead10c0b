import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { loadDocument } from "../../shared/replica/log/log-rows.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import { splitForm } from "../../shared/replica/text/text-form.ts";
import { applyEdit } from "../files/file-edit.ts";
import { whyHeld } from "../held/judge.ts";
import { hideHeldText } from "../held/shown-text.ts";
import { placeOf, putHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { writeText } from "../home/text-write.ts";
import type { TextWrite } from "./inbox.ts";

type Context = WriteContext<DaemonTables>;

/**
 * Applies what one author wrote of one text, each based on the one before; not empty. Where the
 * document has changed since they read it, both changes meet as those of two machines do: what they
 * did not see stays, and what both put at one place is a conflict.
 */
export async function applyTexts(
  context: Context,
  open: OpenDocument,
  writes: readonly TextWrite[],
): Promise<void> {
  const [first] = writes;
  const seen = first && (await seenBy(context, open, first));
  if (!first || !seen) {
    for (const write of writes) {
      if (await isLetIn(context, open, write)) writeText(open.document, write);
      // So each is a version of its own in the history.
      await context.flush(open);
    }
    return;
  }
  for (const write of writes) if (!(await isLetIn(context, open, write))) return;
  let form = splitForm(first.base, open.document.textForm()).form;
  const steps = writes.map(({ value }) => {
    const split = splitForm(value, form);
    form = split.form;
    return split.lines;
  });
  open.document.setTextForm(form, first.writtenAt);
  await applyEdit(context, open, { seen, lines: steps.at(-1) ?? "", steps: steps.slice(0, -1) });
  await context.flush(open);
}

/** The text that its author saw, where that is known and the document has changed since. */
async function seenBy(
  { db }: Context,
  { id, document }: OpenDocument,
  { base, seenSeq }: TextWrite,
): Promise<CapturedText | undefined> {
  if (seenSeq === undefined || document.content() === base) return undefined;
  const { updates, snapshotSeq, head } = await loadDocument(db, id);
  if (seenSeq < snapshotSeq || seenSeq > head.seq) return undefined;
  const snapshots = snapshotSeq > 0 ? 1 : 0;
  const then = updates.slice(0, snapshots + seenSeq - snapshotSeq);
  const past = new ReplicaDocument(then, document.ydoc.clientID);
  const text = past.content() === base ? past.captureText() : undefined;
  past.ydoc.destroy();
  return text;
}

/** A text that must not enter its document is held. */
async function isLetIn({ db }: Context, open: OpenDocument, write: TextWrite): Promise<boolean> {
  const { value, base, writtenAt } = write;
  const why = await whyHeld(db, open, { text: value, already: [open.document.content()] });
  const place = placeOf(open);
  if (why)
    await putHeld(db, {
      kind: "text",
      ...place,
      key: "",
      value,
      base,
      seen: [],
      writtenAt,
      ...why,
    });
  else await hideHeldText(db, place);
  return !why;
}
