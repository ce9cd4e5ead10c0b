import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fork } from "./merge-data.ts";

/** `git merge-file` in a directory of its own, until disposed. */
export class GitMerge implements Disposable {
  readonly #dir = mkdtempSync(join(tmpdir(), "memsync-merge-"));

  /** Git's text, or undefined where git reports a conflict. */
  merge({ ours, base, theirs }: Omit<Fork, "name">): string | undefined {
    const files = Object.entries({ ours, base, theirs }).map(([name, text]) => {
      const path = join(this.#dir, name);
      writeFileSync(path, text);
      return path;
    });
    const args = ["merge-file", "-p", "--diff3", ...files];
    const result = spawnSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 28 });
    if (result.error || result.status === null || result.status > 127) {
      throw new Error(`git merge-file failed: ${result.error?.message ?? result.stderr}`);
    }
    return result.status === 0 ? result.stdout : undefined;
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
