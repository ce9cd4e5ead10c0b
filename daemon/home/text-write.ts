import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { splitForm } from "../../shared/replica/text/text-form.ts";

/** A text that replaces another one. */
export interface WholeText {
  /** The text that its author saw. The difference to it is the change. */
  readonly base: string;
  readonly value: string;
  /** Milliseconds since the Unix epoch. */
  readonly writtenAt: number;
}

/**
 * Writes a text. If the document's text is not what its author saw, lines that they did not see
 * stay.
 */
export function writeText(document: ReplicaDocument, { base, value, writtenAt }: WholeText): void {
  if (document.content() === base) {
    document.setContent(value, writtenAt);
    return;
  }
  const seen = splitForm(base, document.textForm());
  const { form, lines } = splitForm(value, seen.form);
  document.setTextForm(form, writtenAt);
  document.editText(document.alignText(seen.lines), lines);
}
