import { join, resolve } from "node:path";
import type { Kysely } from "kysely";
import { countedOf } from "../../daemon/disk/followable-files.ts";
import { listInstructionFiles } from "../../daemon/files/names/instruction-files.ts";
import { readFollowed } from "../../daemon/files/state/follow-store.ts";
import { nameToCreate } from "../../daemon/files/state/project-file.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { realPathOf } from "../../daemon/git/working-tree.ts";
import { type Link, listLinks } from "../../daemon/home/links.ts";
import { readMachineName } from "../../daemon/home/machine-name.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findLocalDocument } from "../../daemon/reading/find-document.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { parseProjectId } from "../../shared/ids.ts";
import type { Reason } from "../../shared/reasons.ts";
import { loadLocalDocument } from "../local/load-local-document.ts";
import { currentOf, textHistory, type Version } from "../local/local-history.ts";
import { CommandFailed } from "../screen/errors.ts";
import type { Environment } from "./environment.ts";
import { findMeantProject } from "./find-project.ts";
import { withLocal } from "./place.ts";

/** A followed file and its linked folder. */
export interface TextFile {
  readonly dir: string;
  /** The absolute path; for a link that leads nowhere yet, its target. */
  readonly file: string;
  /** Why the file is neither read nor written, whatever is in it. */
  readonly refused?: Reason | undefined;
}

/** A project's text with all its versions, and the files that follow it here. */
export interface ProjectText {
  readonly id: string;
  /** Newest first. */
  readonly versions: readonly Version[];
  readonly current: Version | undefined;
  /** The last row of the document's log that the current version includes, if that is known. */
  readonly seenSeq: number | undefined;
  /** The file of the current folder; those of all folders if a project was named. */
  readonly files: readonly TextFile[];
  /** The further files that have the same text; see `link --also`. */
  readonly also: readonly TextFile[];
}

/** The text of the project that `findMeantProject` finds. */
export async function findText(env: Environment, named: string | undefined): Promise<ProjectText> {
  return await withLocal(env, async (db) => {
    const id = await findMeantProject(db, named, env);
    if (!db)
      return { id, versions: [], current: undefined, seenSeq: undefined, files: [], also: [] };
    const machine = readMachineName(env.home);
    const text = await readLocalText(db, id);
    const versions = await textHistory({ db, document: id, machine });
    const folders = await foldersOf(env, db, { id, named });
    const files = await filesOf(db, folders, id);
    const also = folders.flatMap(({ dir, also: names = [] }) =>
      names.map((name) => ({ dir, file: join(dir, name) })),
    );
    const current = currentOf(versions);
    const seenSeq = text?.value === current?.value ? text?.seenSeq : undefined;
    return { id, versions, current, seenSeq, files, also };
  });
}

/** The version that a REV names. Throws where there is none. */
export function pickVersion({ versions }: ProjectText, revision: string): Version {
  const version = versions.find((each) => each.revision === revision);
  if (version) return version;
  throw new CommandFailed(
    `the document has no version ${revision}: \`memsync doc history\` lists those it has`,
    { code: "not-found" },
  );
}

async function foldersOf(
  env: Environment,
  db: Kysely<DaemonTables>,
  { id, named }: { readonly id: string; readonly named: string | undefined },
): Promise<Link[]> {
  const links = (await listLinks(db)).filter(({ projectId }) => projectId === id);
  const isId = named !== undefined && parseProjectId(named) !== undefined;
  const folder = isId ? undefined : await realPathOf(resolve(env.dir, named ?? "."));
  const here = links.filter(({ dir }) => folder === dir || folder?.startsWith(`${dir}/`));
  return here.length > 0 ? here : links;
}

async function filesOf(
  db: Kysely<DaemonTables>,
  folders: readonly Link[],
  project: string,
): Promise<TextFile[]> {
  const files: TextFile[] = [];
  const git = createGit();
  const found = await findLocalDocument(db, project);
  for (const { dir, file } of folders) {
    const known = await readFollowed(db, dir);
    const before = known && { path: known.path, hadText: known.base.text.trim() !== "" };
    const there = await listInstructionFiles(git, dir);
    const isNew = there.length === 0 && !before?.hadText && found !== undefined;
    const used = isNew ? await nameToCreate(dir, await loadLocalDocument(db, found.id)) : undefined;
    const chosen = file ?? used;
    const counted = countedOf(there, { chosen, before: used ? undefined : before });
    const { path } = counted;
    const named = there.find((each) => each.name === path || each.path === path);
    files.push({ dir, file: join(dir, named?.path ?? path), refused: named?.problem });
  }
  return files;
}
