import { expect, test } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import type { Readable } from "../../daemon/files/state/follow-facts.ts";
import type { FollowedState, MarkedText } from "../../daemon/files/state/follow-store.ts";
import { lookAtMarks, shownByMarks } from "../../daemon/files/tracked/shown-by-git.ts";
import type { FileStanding } from "../../daemon/git/git-state.ts";
import type { Git } from "../../daemon/git/run-git.ts";

const COMMITTED = "Build with make.\nAsk first.\n";
const MARKED = `<<<<<<< Updated upstream
Build with make.
=======
Build with npm.
>>>>>>> Stashed changes
Ask first.
`;
const FILE = {
  path: "/src/CLAUDE.md",
  pathInside: "CLAUDE.md",
  tree: { root: "/src", gitDir: "/src/.git", commonDir: "/src/.git", shallow: false },
} as const;
const BUSY: FileStanding = { kind: "busy", operation: "unmerged", file: FILE };

const textOf = (content: string) =>
  ({ kind: "text", path: FILE.path, content, hash: content, savedAt: 0 }) as Readable;

/** What is known of a file after these looks. */
function knownWith(marked: MarkedText | undefined): FollowedState {
  return { checkedOut: { commit: "c1" }, marked } as FollowedState;
}

/** A git whose index has these: what both versions were made of, and the versions. */
function gitWith(...stages: readonly (string | undefined)[]): Git {
  return async (_, args) => {
    const stage = args.join(" ").match(/:([123]):/)?.[1];
    const text = stages[Number(stage) - 1];
    return text === undefined
      ? { kind: "refused", exitCode: 128, code: "other", message: "fatal: not in the index" }
      : { kind: "done", stdout: Buffer.from(text) };
  };
}

/** What was seen, one after the other, while git's conflict was not over. */
async function shown(...texts: readonly string[]): Promise<MarkedText | undefined> {
  return await shownOver(undefined, ...texts);
}

async function shownOver(
  base: string | undefined,
  ...texts: readonly string[]
): Promise<MarkedText | undefined> {
  return await shownOf((text) => [base, text, text], ...texts);
}

/** The same where the index has these while each of the texts is in the file. */
async function shownOf(
  index: (text: string) => readonly (string | undefined)[],
  ...texts: readonly string[]
): Promise<MarkedText | undefined> {
  let seen: MarkedText | undefined;
  for (const text of texts) {
    const known = knownWith(seen);
    const looked = { read: textOf(text), standing: BUSY, known };
    const { marked, isNoted } = await lookAtMarks(gitWith(...index(text)), looked);
    expect(isNoted).toBe(isDeepStrictEqual(marked, seen));
    seen = marked;
  }
  return seen;
}

function isRead(marks: MarkedText | undefined, text: string): boolean {
  return marks !== undefined && shownByMarks(marks, COMMITTED).isReadIn(text);
}

test("a text that was seen while git's conflict was open says no more than any other", async () => {
  const saved = "Build with either.\nAsk first.\n";
  expect(await shown(MARKED, saved)).toEqual(await shown(MARKED));
  expect(isRead(await shown(MARKED, saved), saved)).toBe(false);
});

test("who has git give up what it shows, and edits at once, has made nothing of it", async () => {
  expect(isRead(await shown(MARKED), COMMITTED)).toBe(false);
  expect(isRead(await shown(MARKED), `${COMMITTED}And more.\n`)).toBe(false);
});

test("a text with a line that git had set aside is by somebody who has read its marks, unseen", async () => {
  expect(isRead(await shown(MARKED), "Build with npm.\nAsk first.\n")).toBe(true);
});

test("what git has brought beside its marks may be from an editor that was opened before", async () => {
  const marked = `${MARKED}Then lint.\n`;
  expect(isRead(await shown(marked), "Build with either.\nAsk first.\nThen lint.\n")).toBe(false);
});

test("a text with every line of both versions is by somebody who has read git's marks, in any of their styles", async () => {
  const styled = MARKED.replace("=======", "||||||| 1a2b3c4\nBuild by hand.\n=======");
  const both = "Build with make.\nBuild with npm.\nAsk first.\n";
  expect(isRead(await shown(styled), both)).toBe(true);
  for (const marked of [styled, styled.replace(" 1a2b3c4", "")])
    expect(shownByMarks({ marked, at: 0 }, COMMITTED).text).toBe(both);
  // An editor that was opened long before may have what both versions were made of.
  const { isReadIn } = shownByMarks({ marked: styled, at: 0 }, COMMITTED);
  expect(isReadIn(COMMITTED.replace("make", "npm"))).toBe(true);
  expect(isReadIn("Build by hand.\nAsk first.\n")).toBe(false);
});

for (const [ends, end] of [
  ["LF", "\n"],
  ["CRLF", "\r\n"],
] as const)
  test(`of lines like git's marks only those of a place are its own, with ${ends}`, () => {
    const title = "Handbook\n=======\n\n>>>>>>> quoted\n||||||| a table\n";
    const [both, again] = ["Setup\n=======\nBuild with npm.\n", "Teams\n=======\n"];
    const place = `<<<<<<< ours\nBuild with make.\n=======\n${both}>>>>>>> theirs\n`;
    const of = (text: string) => text.replaceAll("\n", end);
    const marked = of(`${title}${place}${again}`);
    const { text } = shownByMarks({ marked, at: 0 }, of(COMMITTED));
    expect(text).toBe(of(`${title}Build with make.\n${both}${again}`));
  });

test("a line made of one that only git's marks have shown says that they were read", () => {
  const base = "Ask someone.\n";
  const mine = "Ask Bob before the release.\nRun it with the flag --fast.\n";
  const theirs = "Ask Bob or Ann, in the channel, before each release on Friday.\nRun it --cold.\n";
  const marked = `<<<<<<< ours\n${mine}||||||| 1a2b3c4\n${base}=======\n${theirs}>>>>>>> theirs\n`;
  const { isReadIn } = shownByMarks({ marked, at: 0 }, mine);
  // What the one has alone: or, Ann, in, channel, each, on, Friday.
  expect(isReadIn("Ask Bob, or Ann on Friday, before the release.\n")).toBe(true);
  expect(isReadIn("Run it with the flag --fast, or --cold.\n")).toBe(true);
  for (const unlike of [
    "Ask Bob before the release, or nobody.\n",
    "Ask Carl before the release.\n",
    "Run it with the flag --slow.\n",
    "Never when it is cold.\n",
    // It may have been in an editor that was opened before one had a version of his own.
    base,
    mine,
  ])
    expect(isReadIn(unlike)).toBe(false);
});

test("what git has not shown with all of its marks is nothing that somebody settles", async () => {
  expect(await shown("Build with npm.\n")).toBeUndefined();
  expect(await shown(MARKED.replace(/^=+$/m, ""))).toBeUndefined();
});

test("while the marks stand, whatever was staged, nobody has settled them, unless they are committed", async () => {
  const known = knownWith(await shown(MARKED));
  const staged = (commit: string): FileStanding => {
    const on = { onDefaultBranch: true, defaultBranch: "main", branch: "main" };
    return { kind: "tracked", ...on, commit, file: FILE };
  };
  const standingOf = async (text: string, commit: string) => {
    const looked = { read: textOf(text), standing: staged(commit), known };
    return (await lookAtMarks(gitWith(undefined), looked)).standing.kind;
  };
  expect(await standingOf(MARKED, "c1")).toBe("busy");
  expect(await standingOf(MARKED, "c2")).toBe("tracked");
  expect(await standingOf(COMMITTED, "c1")).toBe("tracked");
});

test("a line that both versions were made of, and that git shows beside one, may be from an editor of long before", async () => {
  const base = "Build with cargo.\nAsk first.\n";
  const saved = "Build with cargo.\nAsk last.\n";
  const theirs = "Build with cargo.\nAsk twice.\n";
  const marked = `<<<<<<< ours\n${COMMITTED}=======\n${theirs}>>>>>>> theirs\n`;
  expect(isRead(await shown(marked), saved)).toBe(true);
  const known = await shownOver(base, marked);
  expect(isRead(known, saved)).toBe(false);
  expect(isRead(known, theirs)).toBe(true);
  // The index has it only until the conflict is settled.
  expect(await shownOver(base, marked, marked)).toEqual(known);
});

test("what is typed beside git's marks while they stand is nothing that git has shown", async () => {
  const first = await shown(MARKED);
  expect(await shownOf(() => [undefined, MARKED], MARKED, `${MARKED}Typed.\n`)).toEqual(first);
  const two = `${MARKED}\n${MARKED.replaceAll("Build", "Run")}`;
  expect(await shown(two, `${MARKED}\nRun with npm.\nAsk first.\n`)).toEqual(await shown(two));
  // The next commit of a rebase has places of its own.
  const next = MARKED.replaceAll("make", "cargo");
  expect((await shown(MARKED, next))?.marked).toBe(next);
});

test("what is typed beside git's marks before anybody looks, or with a place settled, git has not shown", async () => {
  const theirs = COMMITTED.replace("make", "npm");
  const index = () => [undefined, COMMITTED, theirs];
  const first = await shownOf(index, MARKED);
  expect(first?.marked).toBe(MARKED);
  const typed = `Typed above.\n${MARKED.replace("npm.\n", "npm.\nTyped inside.\n")}Typed.\n`;
  expect(await shownOf(index, typed)).toEqual(first);
  expect(await shownOf(index, typed.replaceAll("\n", "\r\n"))).toEqual({
    ...first,
    marked: MARKED.replaceAll("\n", "\r\n"),
  } as MarkedText);
  const settled = typed.replace("Build with npm.\n", "");
  expect(await shownOf(index, MARKED, settled)).toEqual(first);
  // Once somebody has staged the file, the index has neither version.
  expect(await shownOf((text) => (text === MARKED ? index() : []), MARKED, settled)).toEqual(first);
});
