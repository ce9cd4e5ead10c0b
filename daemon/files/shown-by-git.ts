import { plainLines } from "../../shared/replica/text/text-form.ts";
import type { FileStanding } from "../git/git-state.ts";
import type { Readable } from "./follow-facts.ts";
import type { FollowedState } from "./follow-store.ts";

/** How git begins and ends a place where two versions conflict. */
const MARKS = [/^<{7} /m, /^={7}$/m, /^>{7} /m] as const;

/**
 * The lines that git has shown in a file with its marks, since the file was taken last. Whoever
 * settles that in the file has seen both versions, which else nobody can say of a save.
 */
export class ShownByGit {
  #lines: ReadonlySet<string> | undefined;

  get lines(): ReadonlySet<string> | undefined {
    return this.#lines;
  }

  /**
   * Takes notice of a look, and returns how the file stands: while it has the marks, and these are
   * not committed, nobody has settled anything, whatever was staged.
   */
  look(read: Readable, standing: FileStanding, known: FollowedState | undefined): FileStanding {
    const isMarked = read.kind === "text" && MARKS.every((mark) => mark.test(read.content));
    if (standing.kind === "busy") {
      if (isMarked) this.#lines = new Set(plainLines(read.content));
      return standing;
    }
    if (standing.kind !== "tracked" || !standing.onDefaultBranch) {
      // Elsewhere the file has another text, which settles nothing.
      this.over();
      return standing;
    }
    const isOpen = this.#lines && isMarked && standing.commit === known?.checkedOut.commit;
    return isOpen ? { kind: "busy", operation: "unmerged", file: standing.file } : standing;
  }

  over(): void {
    this.#lines = undefined;
  }
}
