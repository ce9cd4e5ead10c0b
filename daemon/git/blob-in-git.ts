import { createHash } from "node:crypto";
import type { Git } from "./run-git.ts";

/** By which names git may know a text; see gitformat-pack(5) and hash-function-transition(7). */
const HASHES = ["sha1", "sha256"] as const;

/**
 * Whether the repository of a folder has just this text as a file of any commit, of its index or of
 * a stash. False also where git can't say. Up to four git processes.
 */
export async function isInGit(git: Git, folder: string, text: string): Promise<boolean> {
  const forms = new Set([text, text.replaceAll("\r\n", "\n")]);
  for (const form of forms) {
    for (const hash of HASHES) {
      const found = await git(folder, ["cat-file", "-e", blobName(hash, form)]);
      if (found.kind === "done") return true;
    }
  }
  return false;
}

function blobName(hash: (typeof HASHES)[number], text: string): string {
  const bytes = Buffer.from(text);
  return createHash(hash).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
