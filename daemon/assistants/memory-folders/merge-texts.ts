import * as Y from "yjs";
import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { removeDoubles } from "../../../shared/replica/merge/doubles.ts";
import { mergeIntoText } from "../../../shared/replica/text/text.ts";
import { joinForm, splitForm, type TextForm } from "../../../shared/replica/text/text-form.ts";

/** Any numbers: the documents here are gone after the merge. */
const [BASE, THEIRS, MINE] = [1, 2, 3];

/** Three versions of a text. */
export interface TextSides {
  /** Both others were made of it. */
  readonly base: string;
  readonly mine: string;
  readonly theirs: string;
}

/** What two edits of a text come to. */
export interface MergedTexts {
  readonly text: string;
  /** No place was changed differently by both. Otherwise both versions of it are in the text. */
  readonly isClean: boolean;
  /** Those versions, place by place. */
  readonly places: readonly { readonly mine: string; readonly theirs: string }[];
}

/**
 * Merges two edits by whole lines, as the edits of a followed file are merged. The same sides give
 * the same text on every machine.
 *
 * ```
 * mergeTexts({ base: "a\n", mine: "a\nb\n", theirs: "0\na\n" }).text; // "0\na\nb\n"
 * ```
 */
export function mergeTexts({ base, mine, theirs }: TextSides): MergedTexts {
  const former = splitForm(base);
  const [my, their] = [splitForm(mine, former.form), splitForm(theirs, former.form)];
  const document = new ReplicaDocument([], BASE);
  const write = (client: number, lines: string, seen = document.captureText()) => {
    document.ydoc.clientID = client;
    document.editText(seen, lines);
    return new Map([[client, [[0, Y.getState(document.ydoc.store, client)] as const]]]);
  };
  write(BASE, former.lines);
  const seen = document.captureText();
  const theirIds = write(THEIRS, their.lines, seen);
  const myIds = write(MINE, my.lines, seen);
  const { conflicts } = document.change("local", () =>
    removeDoubles(document.text, myIds, { theirs: theirIds }),
  );
  const form = mergedForm(former.form, my.form, their.form);
  const text = joinForm(document.text.toString(), form);
  document.ydoc.destroy();
  const places = conflicts.map((each) => ({ mine: each.mine.text, theirs: each.theirs.text }));
  return { text, isClean: conflicts.length === 0, places };
}

/** Each part is that of whoever changed it. */
function mergedForm(base: TextForm, mine: TextForm, theirs: TextForm): TextForm {
  return {
    bom: mine.bom === base.bom ? theirs.bom : mine.bom,
    eol: mine.eol === base.eol ? theirs.eol : mine.eol,
    final_newline:
      mine.final_newline === base.final_newline ? theirs.final_newline : mine.final_newline,
  };
}

/**
 * All lines of a text, and those that only the other one has, where they belong: for two texts of
 * which nobody knows what they were made of. What one of them has deleted is there again.
 */
export function uniteTexts(text: string, other: string): string {
  const { form, lines } = splitForm(text);
  const document = new ReplicaDocument([], BASE);
  document.editText(document.captureText(), lines);
  document.change("local", () => mergeIntoText(document.text, splitForm(other, form).lines));
  const united = joinForm(document.text.toString(), form);
  document.ydoc.destroy();
  return united;
}
