import type { Author } from "../../../shared/replica/document/author.ts";
import type { LineHunk } from "../../../shared/replica/text/line-diff.ts";
import type { Arrival } from "../arrivals/arrivals.ts";

/** A hunk of the save's difference, and what was decided about its lines. */
export interface Hunk extends LineHunk {
  /** Indices of the base's lines that stay. */
  readonly kept: number[];
}

/** The decisions about a save that tell what it undid. */
export interface DecidedSave {
  /** This machine. */
  readonly author: Author;
  readonly savedAt: number;
  /** The lines of the base and of the save, without their line ends. */
  readonly shown: readonly string[];
  readonly after: readonly string[];
  readonly hunks: readonly Hunk[];
  /** Saved lines that are not inserted, and those that the save moved. */
  readonly leftOut: ReadonlySet<number>;
  readonly moved: ReadonlyMap<number, Arrival>;
  /** Saved lines that others took out, as they were. */
  readonly returned: ReadonlySet<number>;
  /** The change that brought a line of the base. */
  readonly bringerOf: (at: number) => Arrival | undefined;
}
