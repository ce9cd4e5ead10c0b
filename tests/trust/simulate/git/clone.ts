import { MAIN } from "./git-user.ts";
import type { ObjectStore } from "./objects.ts";
import type { Repository } from "./repository.ts";

/** How git stands to a run's followed files. */
export type GitMode = "tracked" | "untracked" | "ignored";

/** The commit before the followed file was there. */
export const BEFORE = "before";
const OTHER_FILE = "src.txt";

/** The repository that all clones are made from. `text`: a followed file's that is tracked. */
export function beginOrigin(objects: ObjectStore, path: string, text: string | undefined): void {
  const other: [string, string] = [OTHER_FILE, objects.blob(Buffer.from("source\n"))];
  const first = objects.commit([], new Map([other]), "first");
  objects.origin.set(BEFORE, first);
  objects.origin.set(MAIN, first);
  if (text === undefined) return;
  const tree = new Map([other, [path, objects.blob(Buffer.from(text))] as const]);
  objects.origin.set(MAIN, objects.commit([first], tree, "second"));
}

/** `git clone` of it, with a branch from before the followed file. */
export function cloneOrigin(repository: Repository, key: string, ignored: readonly string[]): void {
  const { objects, volume, root } = repository;
  const main = objects.origin.get(MAIN);
  const before = objects.origin.get(BEFORE);
  if (main === undefined || before === undefined) throw new Error("there is nothing to clone");
  repository.write("config", key);
  repository.write("info/exclude", ignored.join("\n"));
  repository.write("HEAD", `ref: refs/heads/${MAIN}\n`);
  repository.setRemote("refs/remotes/origin/main", main, "clone: from origin");
  repository.write("refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main\n");
  repository.setBranch(BEFORE, before, "branch: Created");
  repository.setBranch(MAIN, main, "clone: from origin");
  const { tree } = objects.get(main);
  repository.index = tree;
  for (const [path, blob] of tree) {
    volume.putByPerson(`${root}/${path}`, objects.readBlob(blob) ?? Buffer.alloc(0));
  }
  volume.flushFolder(root);
}
