import { expect, test } from "bun:test";
import type { Readable } from "../../daemon/files/follow-facts.ts";
import type { FollowedState } from "../../daemon/files/follow-store.ts";
import { isMadeOf, ShownByGit } from "../../daemon/files/shown-by-git.ts";
import type { FileStanding } from "../../daemon/git/git-state.ts";

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

/** What was seen, one after the other, while git's conflict was not over. */
function shown(...texts: readonly string[]): ShownByGit {
  const marks = new ShownByGit();
  for (const text of texts) marks.look(textOf(text), BUSY, undefined);
  return marks;
}

function isSettled(marks: ShownByGit, text: string): boolean {
  return marks.text !== undefined && isMadeOf(marks.text, text, COMMITTED);
}

test("a text that was seen while git's conflict was open is made of its marks", () => {
  const settled = "Build with either.\nAsk first.\n";
  expect(isSettled(shown(MARKED, settled), settled)).toBe(true);
  expect(isSettled(shown(MARKED, settled), `${settled}And more.\n`)).toBe(true);
});

test("who has git give up what it shows, and edits at once, has made nothing of it", () => {
  expect(isSettled(shown(MARKED), COMMITTED)).toBe(false);
  expect(isSettled(shown(MARKED), `${COMMITTED}And more.\n`)).toBe(false);
});

test("a text with every line that git had set aside is made of its marks, unseen", () => {
  expect(isSettled(shown(MARKED), "Build with npm.\nAsk first.\n")).toBe(true);
});

test("what git has not shown with all of its marks is nothing that somebody settles", () => {
  expect(shown("Build with npm.\n").text).toBeUndefined();
  expect(shown(MARKED.replace(/^=+$/m, "")).text).toBeUndefined();
});

test("while the marks stand, whatever was staged, nobody has settled them, unless they are committed", () => {
  const marks = shown(MARKED);
  const known = { checkedOut: { commit: "c1" } } as FollowedState;
  const staged = (commit: string): FileStanding => {
    const on = { onDefaultBranch: true, defaultBranch: "main", branch: "main" };
    return { kind: "tracked", ...on, commit, file: FILE };
  };
  expect(marks.look(textOf(MARKED), staged("c1"), known).kind).toBe("busy");
  expect(marks.look(textOf(MARKED), staged("c2"), known).kind).toBe("tracked");
  expect(marks.look(textOf(COMMITTED), staged("c1"), known).kind).toBe("tracked");
});
