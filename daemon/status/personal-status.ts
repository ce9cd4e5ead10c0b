import { noteFrom, type ReasonCode } from "../../shared/reasons.ts";
import type { PersonalFileStatus, PersonalLook } from "../assistants/personal/personal-status.ts";

/** The user's own text, and the files of assistants that have it. */
export interface PersonalStatus {
  /** Null where there is none yet, or no file has it. */
  readonly lines: number | null;
  readonly files: readonly PersonalFileView[];
  /**
   * Lines of which both versions stand in the text, since both were written at once; null for all
   * of the text: nobody knew what both were made of.
   */
  readonly merges: readonly { readonly mine: string | null; readonly theirs: string | null }[];
}

interface PersonalFileView {
  readonly assistant: string;
  readonly path: string;
  readonly state: PersonalFileStatus["state"];
  /** Why it is left alone, or what is to be read, in words that follow the path. And its code. */
  readonly note: string | null;
  readonly code: ReasonCode | null;
}

/** The status of the files as the last look found them. */
export function personalStatus({ text, files, merges }: PersonalLook): PersonalStatus {
  return {
    // Its last line has an end, as all others.
    lines: text?.split("\n").slice(0, -1).length ?? null,
    files: files.map(({ assistant, path, state, why }) => ({
      assistant,
      path,
      state,
      ...noteFrom(why),
    })),
    merges: merges.map(({ mine, theirs }) => ({ mine: mine ?? null, theirs: theirs ?? null })),
  };
}
