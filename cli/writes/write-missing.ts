import { existsSync, readFileSync } from "node:fs";
import { ABSENT_HASH, hashOf } from "../../daemon/disk/read-file.ts";
import { replaceFile } from "../../daemon/disk/write-file.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { TextFile } from "../place/project-text.ts";

/** Writes a text into a file that is missing or empty. False: the file has a text. */
export async function writeMissing({ dir, file }: TextFile, content: string): Promise<boolean> {
  const there = existsSync(file) ? readFileSync(file) : undefined;
  if (there && there.toString("utf8").trim() !== "") return false;
  const expectedHash = there ? hashOf(there) : ABSENT_HASH;
  const options = { expectedHash, world: realWorld, within: dir };
  const outcome = await replaceFile(file, content, options);
  if (outcome.kind === "written") await outcome.replaced?.close();
  return outcome.kind === "written";
}
