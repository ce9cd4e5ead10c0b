import { dirname, join, normalize } from "node:path";
import type { Kysely } from "kysely";
import { AppError } from "../../../shared/errors.ts";
import { explain } from "../../../shared/reasons.ts";
import type { FollowedName } from "../../disk/followable-files.ts";
import { readFileAt } from "../../disk/read-file.ts";
import type { Git } from "../../git/run-git.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { readIgnored } from "../../ignored/ignore-file.ts";
import { listInstructionFiles } from "./instruction-files.ts";
import { whyFileIgnored } from "./why-ignored.ts";

/** A file that has nothing but one line as `@AGENTS.md` or `@./AGENTS.md`. */
const IMPORT = /^@(\S+)$/;

/** Whether a text is that of another file, by importing it. */
export function isImport(text: string): boolean {
  return IMPORT.test(text.trim());
}

/**
 * The paths, from a project's folder, that a file may mean whose text is only an import; none where
 * it is more. Assistants read the path from the file's own folder, people write it from the
 * project's.
 */
export function importedPaths(text: string, path: string): readonly string[] {
  const [, target] = IMPORT.exec(text.trim()) ?? [];
  return target === undefined ? [] : [join(dirname(path), target), normalize(target)];
}

/**
 * Refuses to have a file count that can't be followed, or that only imports another one which
 * could: the one that counts would be followed no longer, and in the second case has all of the
 * text.
 */
export async function refuseChosen(
  db: Kysely<DaemonTables>,
  git: Git,
  { dir, file }: { readonly dir: string; readonly file: FollowedName },
): Promise<void> {
  const found = await listInstructionFiles(git, dir);
  const own = found.find(({ name }) => name === file);
  if (!own) return;
  if (own.problem) {
    const why = explain(own.problem);
    throw new AppError("invalid_request", `nothing was changed: ${file} ${why}`);
  }
  const read = await readFileAt(dir, own.path);
  if (read.kind !== "text") return;
  const paths = importedPaths(read.content, own.path);
  const ignored = await readIgnored(db, dir);
  const imported = found.find((each) => {
    const isOther = each !== own && each.problem === undefined && paths.includes(each.path);
    return isOther && !whyFileIgnored(ignored, each);
  });
  if (!imported) return;
  throw new AppError(
    "invalid_request",
    `${file} only imports ${imported.name}, and has its text so: nothing was changed. ` +
      `\`memsync link --file ${imported.name}\` follows that one`,
  );
}
