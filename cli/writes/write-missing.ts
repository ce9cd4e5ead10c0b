import { lstatSync, readFileSync } from "node:fs";
import { ABSENT_HASH, hashOf } from "../../daemon/disk/read-file.ts";
import { replaceFile } from "../../daemon/disk/write-file.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { TextFile } from "../place/project-text.ts";

/** `not-a-file`: a link that leads nowhere, or where it must not, or a folder has the name. */
export type MissingOutcome = "written" | "has-text" | "not-a-file";

/** Writes a text into a file that is missing or empty. Anything else is left as it is. */
export async function writeMissing(
  { dir, file }: TextFile,
  content: string,
): Promise<MissingOutcome> {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) return "not-a-file";
  const there = stats && readFileSync(file);
  if (there && there.toString("utf8").trim() !== "") return "has-text";
  const expectedHash = there ? hashOf(there) : ABSENT_HASH;
  const options = { expectedHash, world: realWorld, within: dir };
  const outcome = await replaceFile(file, content, options);
  if (outcome.kind === "changed") return "has-text";
  await outcome.replaced?.close();
  return "written";
}
