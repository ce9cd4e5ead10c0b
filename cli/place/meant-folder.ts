import { statSync } from "node:fs";
import { createGit } from "../../daemon/git/run-git.ts";
import {
  projectFolder,
  realPathOf,
  refuseGitsOwn,
  refuseLostTree,
} from "../../daemon/git/working-tree.ts";
import { listLinks } from "../../daemon/home/links.ts";
import { findLinkAbove } from "../../daemon/links/plan-place.ts";
import { findRenamedTo } from "../../daemon/links/renamed-links.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { CommandFailed } from "../screen/errors.ts";
import { sayAside } from "../screen/output.ts";
import { renamedShown } from "../screen/renamed-folder-shown.ts";
import type { Environment } from "./environment.ts";
import { withLocal } from "./place.ts";
import { resolveFolder } from "./resolve-folder.ts";

/**
 * The folder of the project around the current one: the nearest linked folder of the working tree,
 * else its top level. The same for `.`. If that is not the current folder, it is printed. A folder
 * that is named otherwise counts itself.
 */
export async function meantFolder(env: Environment, named: string | undefined): Promise<string> {
  if (named === "") throw new CommandFailed("a folder's name is empty; `.` is the current one");
  if (named !== undefined && !isHere(named)) return resolveFolder(env, named);
  const here = await realPathOf(env.dir);
  const top = await projectFolder(createGit(), here);
  // An unreadable database is for the daemon to repair or to refuse.
  const found = await withLocal(env, async (db) => {
    return db && (await findLinkAbove(db, await listLinks(db), here));
  }).catch(() => undefined);
  const isInside = found !== undefined && (found.dir === top || found.dir.startsWith(`${top}/`));
  return isInside ? found.dir : top;
}

/**
 * Throws where no folder is named, and the current one is what git made of a linked folder, so that
 * it has a project already: the folder around it must not be taken for it.
 */
export async function refuseRenamed(env: Environment, named: string | undefined): Promise<void> {
  if (named !== undefined && !isHere(named)) return;
  const here = await realPathOf(env.dir);
  const renamed = await withLocal(env, async (db) => {
    return db && (await findRenamedTo(createGit(), await listLinks(db), here));
  }).catch(() => undefined);
  if (renamed) throw new CommandFailed(renamedShown(renamed));
}

/** Whether the current folder was named by a dot, and not by a path that leads to it. */
function isHere(named: string): boolean {
  return /^\.(\/+\.?)*$/.test(named);
}

/** Says on standard error which folder counts, if it is not the current one. */
export async function sayMeant(
  env: Environment,
  named: string | undefined,
  folder: string,
): Promise<void> {
  const here = await realPathOf(env.dir);
  if (here === folder || (named !== undefined && !isHere(named))) return;
  sayAside(
    `${folder} is the project that this folder is in; \`memsync link ${shellWord(here)}\` makes ` +
      "this one a project of its own",
  );
}

/**
 * Throws for what is no folder, is git's own, or a worktree without its repository, before anything
 * else is read or started.
 */
export async function assertFolder(folder: string): Promise<void> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CommandFailed(`${folder} is not a folder`, { code: "not-found" });
  }
  refuseGitsOwn(folder);
  await refuseLostTree(await realPathOf(folder));
}
