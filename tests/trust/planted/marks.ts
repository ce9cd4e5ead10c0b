import { type Mistake, mistakesIn } from "./mistake.ts";

const marked = mistakesIn("daemon/files/tracked/shown-by-git.ts", "unit/shown-by-git.test.ts");

/** In what is made of a text that has stood in a file with git's marks. */
export const MARKS: readonly Mistake[] = [
  marked(
    "a heading underlined by seven equals signs is a mark of git",
    "of lines like git's marks only those of a place are its own, with LF",
    'return BEGIN.test(line) ? "mine" : undefined;',
    'return BEGIN.test(line) ? "mine" : MIDDLE.test(line) ? "beside" : undefined;',
  ),
  marked(
    "marks that are staged count as settled",
    "while the marks stand, whatever was staged, nobody has settled them, unless they are committed",
    "marked !== undefined &&\n    hasMarks(read) &&",
    "marked === undefined &&\n    hasMarks(read) &&",
  ),
  marked(
    "marks that are committed are waited for",
    "while the marks stand, whatever was staged, nobody has settled them, unless they are committed",
    'standing.kind === "tracked" &&\n    standing.commit === known?.checkedOut.commit;',
    'standing.kind === "tracked";',
  ),
  marked(
    "what both versions were made of says that git's marks were read",
    "a line that both versions were made of, and that git shows beside one, may be from an editor of long before",
    "const had = new Set([...plainLines(before), ...base]);",
    "const had = new Set(plainLines(before));",
  ),
  mistakesIn("daemon/files/take-decided.ts", "long/stash-conflict.test.ts")(
    "an editor from before a stash has read what was pulled since",
    "who saves what was stashed, and more over git's marks at once may not have seen what was pulled",
    "settled !== undefined && hasReadBeside(settled, sight);",
    "settled !== undefined;",
  ),
  mistakesIn("daemon/files/tracked/settled-in-git.ts", "long/stash-conflict.test.ts")(
    "what git shows beside a stashed line was in no editor from before",
    "an editor from before the stash has not read a pulled line that git shows beside it",
    '[...before, ...shown.theirs].join("\\n")',
    'before.join("\\n")',
  ),
  mistakesIn("daemon/files/take-decided.ts", "long/pulled-over.test.ts")(
    "who saves over a version that others know has read what came just now",
    "after checkout and pull a save without a line that memsync had written before at once may not have seen it",
    "unseen: await unseenBy(context, decided),",
    "unseen: [],",
  ),
  marked(
    "what is typed beside git's marks counts as shown by git",
    "what is typed beside git's marks while they stand is nothing that git has shown",
    "const marked = sides.length > 0 ? ofSides(read.content, sides) : read.content;",
    "const marked = read.content;",
  ),
  mistakesIn("daemon/git/file-steps.ts", "long/pulled-over.test.ts")(
    "marks that no look has seen were never there",
    "an editor from before has not read marks that nobody saw, --rebase",
    "if (shown || !sides) return shown;",
    "if (shown || sides) return shown;",
  ),
  mistakesIn("daemon/git/file-steps.ts", "long/typed-between-marks.test.ts")(
    "what was typed at a rebase's first conflict is git's at its second",
    "what is typed among the marks of rebase arrives once where the second side is kept",
    'this.#put(linesOfAny(shown.text, known), "others", { ...last, shown });',
    'this.#put(shown.text, "others", { ...last, shown });',
  ),
  mistakesIn("daemon/files/tracked/take-git-version.ts", "long/pulled-in-question.test.ts")(
    "a pull deletes what a save had left out before",
    "a pull that was seen does not delete a line whose deletion is in question",
    "had.has(withoutBreak(text)) &&",
    "!had.has(withoutBreak(text)) &&",
  ),
  mistakesIn("daemon/files/tracked/take-git-version.ts", "long/pulled-over.test.ts")(
    "what a commit still has no save brings back",
    "after checkout and pull a save at once with a line that others have just deleted keeps it",
    "base: withoutTaken(base, unseen) },",
    "base },",
  ),
];
