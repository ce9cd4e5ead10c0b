import type { Reason } from "../../../shared/reasons.ts";
import type { PersonalQuestion } from "../../home/personal-files.ts";

/** What a look found of one file that is to have the personal text. */
export interface PersonalFileStatus {
  readonly assistant: string;
  /** Where the assistant looks for it. */
  readonly path: string;
  /** `current`: its block has the text. `waiting`: it is about to get it. */
  readonly state: "current" | "waiting" | "asked" | "left-alone";
  readonly asked: PersonalQuestion | undefined;
  /** Why it is left alone, what is asked, or what somebody should read. */
  readonly why: Reason | undefined;
}

/** What a look found of the personal text. */
export interface PersonalLook {
  readonly files: readonly PersonalFileStatus[];
  /** Undefined: there is none. */
  readonly text: string | undefined;
  /** Merges whose outcome somebody should read. */
  readonly merges: readonly PersonalMerge[];
}

/** Both versions of what was changed twice at once; undefined where two whole texts met. */
export interface PersonalMerge {
  readonly mine: string | undefined;
  readonly theirs: string | undefined;
}
