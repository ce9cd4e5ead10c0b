import { type Mistake, mistakesIn } from "./mistake.ts";

const TESTS = "unit/memory-folders.test.ts";
const take = mistakesIn("daemon/assistants/memory-folders/take-memory-file.ts", TESTS);
const edit = mistakesIn("daemon/assistants/memory-folders/take-memory-edit.ts", TESTS);
const plan = mistakesIn("daemon/assistants/memory-folders/plan-arrivals.ts", TESTS);
const lines = mistakesIn(
  "daemon/assistants/memory-folders/plan-arrivals.ts",
  "unit/memory-index-lines.test.ts",
);
const killed = mistakesIn(
  "daemon/assistants/memory-folders/take-memory-file.ts",
  "unit/memory-kills.test.ts",
);
const named = mistakesIn(
  "daemon/assistants/memory-folders/plan-arrivals.ts",
  "unit/memory-file-names.test.ts",
);
const owner = mistakesIn(
  "daemon/assistants/claude-code/auto-memory-folders.ts",
  "unit/memory-folder-owners.test.ts",
);
const FOLDERS = "daemon/assistants/memory-folders";
const merged = mistakesIn(`${FOLDERS}/take-index-edit.ts`, "unit/index-merges.test.ts");
const asked = "unit/missing-topics.test.ts";
const missing = mistakesIn(`${FOLDERS}/take-index-edit.ts`, asked);
const topics = mistakesIn(`${FOLDERS}/missing-topics.ts`, asked);
const keeper = mistakesIn(`${FOLDERS}/write-memory-folder.ts`, TESTS);
const TRACKED = "unit/tracked-memories.test.ts";
const inGit = mistakesIn(`${FOLDERS}/take-memory-file.ts`, TRACKED);
const standing = mistakesIn(`${FOLDERS}/folder-in-git.ts`, TRACKED);
const writer = mistakesIn(`${FOLDERS}/write-memory-folder.ts`, TRACKED);
const DELETIONS = "unit/memory-deletions.test.ts";
const write = mistakesIn("shared/replica/document/document.ts", DELETIONS);
const deletion = mistakesIn("shared/replica/document/memory-deletion.ts", DELETIONS);
const MOVED = "unit/moved-memories.test.ts";
const surplus = mistakesIn("shared/replica/document/memory-deletion.ts", MOVED);
const followed = mistakesIn("cli/local/moved-memories.ts", MOVED);
const settled = mistakesIn("cli/writes/settle-move.ts", MOVED);
const plain = mistakesIn("daemon/plain/merge-items.ts", DELETIONS);

/** In memories, and in what is done with the files in which assistants keep them. */
export const MEMORIES: readonly Mistake[] = [
  mistakesIn(`${FOLDERS}/take-memory-file.ts`, "unit/salvaged-files.test.ts")(
    "what a lost home had is written anew though others have deleted it",
    "a file that a home has forgotten is asked about where its memory was deleted: delete",
    "if (deletions.length > 0) {",
    "if (deletions.length < 0) {",
  ),
  mistakesIn(`${FOLDERS}/take-memory-edit.ts`, "unit/met-memories.test.ts")(
    "a copy of a deleted memory's file that looks new settles the deletion",
    "an old copy of a deleted auto memory that looks new brings it back on no machine untold",
    "seen: over, isBeforeDeletion: isMet });",
    "seen: over });",
  ),
  mistakesIn("daemon/home/memory-files.ts", "unit/met-memories.test.ts")(
    "of a file that went with its memory nothing is known",
    "of a deleted auto memory that is there again, another text is begun anew, on a",
    "if (deletions.length === 0) return;",
    "if (deletions.length >= 0) return;",
  ),
  mistakesIn(`${FOLDERS}/begun-anew.ts`, "unit/met-memories.test.ts")(
    "whatever is there again after its deletion is a new memory",
    "of a deleted auto memory that is there again, the text that it had may be a copy, on a",
    "if (versions.length === 0) return false;",
    "if (versions.length >= 0) return true;",
  ),
  mistakesIn(`${FOLDERS}/begun-anew.ts`, "unit/met-memories.test.ts")(
    "one new line makes an old copy a new memory",
    "an editor that saves a deleted auto memory with a line more is told, after a minute",
    ".every((line) => had.mostAlike(line).length === 0);",
    ".some((line) => had.mostAlike(line).length === 0);",
  ),
  mistakesIn("daemon/assistants/personal/personal-document.ts", "unit/personal-key.test.ts")(
    "a copy of the personal text is taken for it",
    "a copy of the text under another key is left as it is, and so is what only begins so",
    "[PERSONAL_KEY, ...(await keysOfService(db, id))]",
    "[...document.memories.keys(), ...(await keysOfService(db, id))]",
  ),
  write(
    "a write undoes a deletion that it has not seen, untold",
    "a write that names what it saw leaves a deletion that came since",
    "return seen && !isBegun ? told.filter((each) => includes(seen, each)) : told;",
    "return isBegun ? told : told;",
  ),
  deletion(
    "a deletion takes away a value that it has not seen",
    "a deletion of what was written over before it was applied is told as well",
    'document.deleteEntry("memories", key, seen);\n    const value',
    'document.deleteEntry("memories", key);\n    const value',
  ),
  surplus(
    "what nobody has settled is forgotten after so many later deletions",
    "what nobody has settled outlives any number of later deletions",
    "return !disagree(metadata.get(key));",
    "return true;",
  ),
  followed(
    "a memory that was moved twice is looked for in its second place alone",
    "a memory is followed to where it was moved on, or deleted",
    "if (told.length > 0) return await",
    "if (told.length < 0) return await",
  ),
  settled(
    "where a memory is to stay it is not written anew",
    "different choices at once are that question again, and no other one",
    "seen: [...each.winning, ...choices] };",
    "seen: [] };",
  ),
  mistakesIn("cli/local/local-conflicts.ts", MOVED)(
    "a deletion is hidden behind different choices that was no choice",
    "a deletion by somebody who chose nothing is told beside different choices",
    "deletion.deletions.every(isChoice);",
    "deletion.deletions.some(isChoice);",
  ),
  deletion(
    "a memory that is to stay is not written anew",
    "what is to stay stays where another machine deletes it after all, and that is told",
    'return document.setEntry("memories", key, { value: winner.value, now, seen: replaced });',
    'return document.deleteEntry("metadata", REMOVED_PREFIX + key, replaced);',
  ),
  plain(
    "a deletion that a write here undoes is told by nobody at a service of others",
    "a deletion that a write here undoes is told, at a service of others, too",
    "if (base !== undefined) undone.push(key);",
    "",
  ),
  take(
    "an index that is begun anew deletes all lines of the former one",
    "an index that is begun anew after a purge takes nothing from the others",
    "  if (!isEdit || isAnew) return undefined;\n" +
      "  return name === format.index && isOther(known.text, file.content) ? undefined : known;",
    "  return isEdit ? known : undefined;",
  ),
  inGit(
    "what a stash puts back is taken for an edit",
    "what a stash, a checkout or a reset puts back is no edit, and is told",
    'if (ofGit?.kind === "beside") return ofGit.shown;',
    "if (ofGit === null) return undefined;",
  ),
  inGit(
    "somebody is asked about files that git has taken away",
    "files that git does not know are followed on every branch, and stashed ones are not asked about",
    "if (!isGone && git?.isTakenAway) {",
    "if (!isGone && git === null) {",
  ),
  standing(
    "what git tracks is read on any branch",
    "a branch that takes away and brings dozens of memories changes none, and asks nothing",
    'if (why || found.isUnmerged || found.isSkipped) return "left";',
    'if (found.isUnmerged || found.isSkipped) return "left";',
  ),
  writer(
    "what git tracks is written though nobody has agreed to that",
    "a memory is made only where git ignores it, until somebody says so",
    "if (needsYes && !link.write && !isAskedFor) {",
    "if (needsYes && link === null) {",
  ),
  killed(
    "what was being written before a kill counts as an edit",
    "after a kill in the middle of a write, what was written is no edit",
    "if (known?.next?.hash === hash) return { name, arrivedAt, ...known.next };",
    "",
  ),
  edit(
    "an edit of a memory file replaces what it has not shown",
    "a save over a text that others have changed meanwhile is an edit of what it showed",
    "const seen = base?.seen ?? [];",
    "const seen = open.document.memories.get(key).map(({ id }) => id);",
  ),
  merged(
    "an older version that stands beside an index is merged into it",
    "two edits at once bring back no line that is in dispute, and its older version stays",
    "over: [], from: [], isAside: true",
    "over: [], from: []",
  ),
  named(
    "a memory's key leads out of its folder",
    "a key from elsewhere never leads out of the folder, nor to what a system takes for else",
    'if (!isMemoryName(format, name) || text.includes("\\0")) {',
    'if (text.includes("\\0")) {',
  ),
  lines(
    "the line of a file that comes is written nowhere before a minute is over",
    "a file that comes has its line at once, in its file alone for a minute",
    "withLinesFor(ofMemory, unnamedYet(folder, plan.arrivals))",
    "withLinesFor(ofMemory, [])",
  ),
  missing(
    "the lines of topics that somebody is asked about go everywhere at once",
    "the lines of 3 topics that are asked about stay elsewhere",
    "topics) ?? withUnseen",
    "topics) && withUnseen",
  ),
  missing(
    "the lines of a topic that is deleted stay for ever",
    "what is brought back has its line again, and what is deleted has it nowhere",
    "if (text === before) return;",
    "if (text !== before) return;",
  ),
  topics(
    "the lines of topics that are asked about come back into the file that has lost them",
    "the lines of 3 topics that are asked about stay elsewhere",
    "return lines.length === 0 ? index : withoutLast(index, lines);",
    "return index;",
  ),
  topics(
    "a save of an index is taken before it is known which topics are missing",
    "the lines of 3 topics that are asked about stay elsewhere",
    "[...topics, index] : topics",
    "[index, ...topics] : topics",
  ),
  plan(
    "a folder that somebody has emptied is filled again",
    "files that are gone delete nothing, and one decision brings them back or deletes them",
    "(this.#isPurged && !isAskedFor)",
    "this.#isPurged === undefined",
  ),
  owner(
    "of several projects that may have a folder of memories the first gets it",
    "a folder that two paths may have is left alone, until one is gone",
    "return owners.size === 1 ?",
    "return owners.size >= 1 ?",
  ),
  keeper(
    "memory files are written though they were only to be read",
    "nothing is read before somebody says so, and nothing written by a yes to reading",
    'if (mode !== "write") return { arrivals: [], notes: beside };',
    "",
  ),
  mistakesIn(
    "daemon/assistants/memory-folders/unfinished-memories.ts",
    "unit/rule-folders.test.ts",
  )(
    "what is left of a longer rule is looked for in the line endings that git commits",
    "what is left of a longer rule under a shorter one is nobody's, also where git makes the line endings",
    "isUncut(shownBytes(former), file.asRead ?? file.content)",
    "isUncut(former.text, file.content)",
  ),
];
