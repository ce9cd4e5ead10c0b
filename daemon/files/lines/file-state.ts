import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { joinForm, PLAIN_FORM, type TextForm } from "../../../shared/replica/text/text-form.ts";
import { ABSENT_HASH } from "../../disk/read-file.ts";

/** One state of a followed file: its bytes, and where its lines stand in the document. */
export interface FileState {
  /** SHA-256 of the bytes, in hex. */
  readonly hash: string;
  readonly base: CapturedText;
  readonly form: TextForm;
}

/** No file. */
export const ABSENT: FileState = {
  hash: ABSENT_HASH,
  base: { text: "", spans: [] },
  form: PLAIN_FORM,
};

/** A file's text, byte for byte. */
export function fileText({ base, form }: Pick<FileState, "base" | "form">): string {
  return joinForm(base.text, form);
}
