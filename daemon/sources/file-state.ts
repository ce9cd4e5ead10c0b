import type { CapturedText } from "../../shared/replica/text.ts";
import type { TextForm } from "../../shared/replica/text-form.ts";

/** One state of a followed file: its bytes, and where its lines stand in the document. */
export interface FileState {
  /** SHA-256 of the bytes, in hex. */
  readonly hash: string;
  readonly base: CapturedText;
  readonly form: TextForm;
}
