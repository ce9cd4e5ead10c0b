import { settleTextConflict } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { loadDocument } from "../../shared/replica/log/log-rows.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import { splitForm } from "../../shared/replica/text/text-form.ts";
import { applyEdit } from "../files/state/file-edit.ts";
import { whyHeld } from "../held/judge.ts";
import { placeOf, putHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { writeText } from "../home/text-write.ts";
import { replaceHeld } from "../overwritten/replace-held.ts";
import type { TextWrite } from "./inbox.ts";

type Context = WriteContext<DaemonTables>;

/**
 * Applies what one author wrote of one text, each based on the one before; not empty. Where the
 * document has changed since they read it, both changes meet as those of two machines do: what they
 * did not see stays, and what both put at one place is a conflict.
 *
 * The steps of one command have one `writtenAt`: they enter together, or are held as one.
 * `settled`: ids of the conflicts that the first command settles. They stay open if it is held.
 */
export async function applyTexts(
  context: Context,
  open: OpenDocument,
  {
    writes,
    settled,
  }: { readonly writes: readonly TextWrite[]; readonly settled: readonly string[] },
): Promise<void> {
  const commands = [...Map.groupBy(writes, ({ writtenAt }) => writtenAt).values()];
  const [first] = writes;
  let seen = first && (await seenBy(context, open, first));
  for (const [nth, steps] of commands.entries()) {
    const [begun, last] = [steps[0], steps.at(-1)];
    if (!begun || !last) continue;
    if (!(await isLetIn(context, open, { ...last, base: begun.base }))) continue;
    for (const id of nth === 0 ? settled : []) {
      settleTextConflict(open.document, id, context.now);
    }
    if (seen) seen = await applySteps(context, open, { seen, steps });
    else for (const write of steps) writeText(open.document, write);
    // So each is a version of its own in the history.
    await context.flush(open);
  }
}

/** Gives the text as their author has it now. */
async function applySteps(
  context: Context,
  open: OpenDocument,
  { seen, steps }: { readonly seen: CapturedText; readonly steps: readonly TextWrite[] },
): Promise<CapturedText> {
  const [first] = steps;
  let form = splitForm(first?.base ?? "", open.document.textForm()).form;
  const texts = steps.map(({ value }) => {
    const split = splitForm(value, form);
    form = split.form;
    return split.lines;
  });
  const former = open.document.captureText();
  open.document.setTextForm(form, first?.writtenAt ?? context.now);
  const change = { seen, lines: texts.at(-1) ?? "", steps: texts.slice(0, -1), former };
  return (await applyEdit(context, open, change)).base;
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
  const content = open.document.content();
  const place = { kind: "text", ...placeOf(open), key: "" } as const;
  const why = await whyHeld(db, open, { text: value, already: [content] });
  await replaceHeld(db, place, { base: content, value });
  if (why) await putHeld(db, { ...place, value, base, seen: [], writtenAt, ...why });
  return !why;
}
