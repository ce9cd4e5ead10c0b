import { afterAll, expect, test } from "bun:test";
import { findRenamedFolder } from "../../daemon/git/renamed-folder.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";

const sandbox = createGitSandbox();
afterAll(() => sandbox.remove());

let repositories = 0;

/** A repository with folders of some files each, which are unlike each other. */
async function repository(...folders: readonly string[]): Promise<string> {
  const texts = folders.flatMap((folder) =>
    ["a", "sub/b", "c"].map((name) => [`${folder}/${name}.ts`, `${folder} ${name}\n`.repeat(9)]),
  );
  return await sandbox.repository(`r${repositories++}`, Object.fromEntries(texts));
}

async function move(root: string, from: string, to: string): Promise<void> {
  await sandbox.run(root, "mv", from, to);
  await sandbox.commit(root, {});
}

const find = (root: string, path: string) => findRenamedFolder(sandbox.git, { root }, path);

test("a folder is found where git has renamed it, also more than once, and with odd names", async () => {
  const root = await repository("api", "web", "a [b]*");
  await move(root, "api", "server");
  await move(root, "a [b]*", "ünï –x");
  expect(await find(root, "api")).toBe("server");
  expect(await find(root, "a [b]*")).toBe("ünï –x");
  await move(root, "server", "packages");
  await sandbox.commit(root, { "later.txt": "later\n" });
  expect(await find(root, "api")).toBe("packages");
  expect(await find(root, "server")).toBe("packages");
});

test("a folder that a merged branch renamed is found", async () => {
  const root = await repository("api", "web");
  await sandbox.run(root, "switch", "-qc", "side");
  await move(root, "api", "server");
  await sandbox.run(root, "switch", "-q", "main");
  await sandbox.commit(root, { "web/more.txt": "more\n" });
  await sandbox.run(root, "merge", "-q", "--no-ff", "-m", "merge", "side");
  expect(await find(root, "api")).toBe("server");
});

test("no renamed folder is found where it is still there, was deleted, taken apart, or never there", async () => {
  const root = await repository("api", "web", "gone", "apart");
  await sandbox.run(root, "rm", "-qr", "gone");
  await sandbox.commit(root, {});
  await sandbox.run(root, "mv", "apart/a.ts", "web/x.ts");
  await sandbox.run(root, "mv", "apart/c.ts", "api/c2.ts");
  await move(root, "apart/sub", "sub");
  for (const path of ["api", "web", "gone", "apart", "never"]) {
    expect([path, await find(root, path)]).toEqual([path, undefined]);
  }
});

test("no renamed folder is found where one goes round in circles, as by a revert", async () => {
  const root = await repository("api");
  await move(root, "api", "server");
  await move(root, "server", "api");
  expect(await find(root, "server")).toBe("api");
  expect(await find(root, "api")).toBeUndefined();
});
