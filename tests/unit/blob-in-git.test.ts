import { afterAll, expect, test } from "bun:test";
import { hasBlob, isInGit } from "../../daemon/git/blob-in-git.ts";
import { placeFile } from "../../daemon/git/working-tree.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";

const sandbox = createGitSandbox();
const { git, run, commit, repository, write, path } = sandbox;
afterAll(() => sandbox.remove());

const NAME = "CLAUDE.md";
const COMMITTED_AT = Date.UTC(2026, 2, 1, 12);

test("git keeps what a tracked file had in a stash, and not what was only added", async () => {
  const folder = await repository("stashed", { [NAME]: "one\n" });
  await write(path("stashed", NAME), "stashed\n");
  await run(folder, "stash", "-q");
  await write(path("stashed", NAME), "added\n");
  await run(folder, "add", NAME);
  const has = (text: string) => isInGit(git, folder, { name: NAME, text });
  expect([await has("one\n"), await has("stashed\n"), await has("added\n")]).toEqual([
    true,
    true,
    false,
  ]);
});

for (const [when, laterMs, expected] of [
  ["an hour later", 3_600_000, true],
  ["a second later", 1000, true],
  ["in the same second", 999, false],
  ["before it was committed", -1, false],
] as const) {
  const is = expected ? "may have been brought by git" : "was not brought by git";
  test(`a text that stood in the file ${when} ${is}`, async () => {
    const folder = await repository(`at${laterMs}`, { [NAME]: "one\n" });
    await commit(folder, { [NAME]: "two\n" }, new Date(COMMITTED_AT).toISOString());
    const before = COMMITTED_AT + laterMs;
    expect(await isInGit(git, folder, { name: NAME, text: "two\n", before })).toBe(expected);
  });
}

test("git has a text that was committed or staged, with its line endings or git's, and no other", async () => {
  const folder = await repository("blobs", { [NAME]: "one\ntwo\n" });
  await write(path("blobs", NAME), "staged\n");
  await run(folder, "add", NAME);
  const placed = await placeFile(git, path("blobs", NAME));
  if (placed.kind !== "placed") throw new Error(placed.kind);
  const has = (text: string) => hasBlob(git, placed.file, text);
  const texts = ["one\ntwo\n", "one\r\ntwo\r\n", "staged\n", "typed\n"];
  expect(await Promise.all(texts.map(has))).toEqual([true, true, true, false]);
});
