import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";
import type { FileStanding } from "../git/git-state.ts";
import type { Readable } from "./follow-facts.ts";
import type { FollowedState } from "./follow-store.ts";

/** How git begins and ends a place where two versions conflict. */
const MARKS = [/^<{7} /m, /^={7}$/m, /^>{7} /m] as const;

/** What git has shown in a file with its marks, since the file was taken last. */
export interface MarkedText {
  readonly lines: ReadonlySet<string>;
  /** The latest text with marks. */
  readonly marked: string;
  /** A later text without marks, from before git's conflict was over. */
  readonly settled: string | undefined;
}

/**
 * What git shows with its marks. Whoever settles that in the file has seen both versions, which
 * else nobody can say of a save.
 */
export class ShownByGit {
  #shown: MarkedText | undefined;

  get text(): MarkedText | undefined {
    return this.#shown;
  }

  /**
   * Takes notice of a look, and returns how the file stands: while it has the marks, and these are
   * not committed, nobody has settled anything, whatever was staged.
   */
  look(read: Readable, standing: FileStanding, known: FollowedState | undefined): FileStanding {
    const isMarked = read.kind === "text" && MARKS.every((mark) => mark.test(read.content));
    if (standing.kind === "busy") {
      if (isMarked) this.#show(read.content);
      else if (this.#shown && read.kind === "text") {
        this.#shown = { ...this.#shown, settled: read.content };
      }
      return standing;
    }
    if (standing.kind !== "tracked" || !standing.onDefaultBranch) {
      // Elsewhere the file has another text, which settles nothing.
      this.over();
      return standing;
    }
    const isOpen = this.#shown && isMarked && standing.commit === known?.checkedOut.commit;
    return isOpen ? { kind: "busy", operation: "unmerged", file: standing.file } : standing;
  }

  #show(marked: string): void {
    this.#shown = { lines: new Set(plainLines(marked)), marked, settled: undefined };
  }

  over(): void {
    this.#shown = undefined;
  }
}

/**
 * Whether a text is what somebody made of git's marks. Whoever has git give up puts back what was
 * committed, and what is edited there at once says nothing of what git had shown. So only these
 * count: a text that was seen while git's conflict was not over, one that still has all that was
 * new in such a text, and one that has every line that git had set aside.
 */
export function isMadeOf({ lines, settled }: MarkedText, text: string, committed: string): boolean {
  if (text === settled) return true;
  const [now, before] = [text, committed].map((each) => new Set(plainLines(each)));
  const isNew = (line: string) => hasWord(line) && !before?.has(line);
  const made = plainLines(settled ?? "").filter(isNew);
  if (made.length > 0) return made.every((line) => now?.has(line));
  const aside = [...lines].filter((line) => isNew(line) && !MARKS.some((mark) => mark.test(line)));
  return aside.every((line) => now?.has(line));
}
