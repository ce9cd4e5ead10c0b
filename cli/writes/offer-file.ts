import { join } from "node:path";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import type { DaemonStatus, FolderStatus, ProjectStatus } from "../../daemon/status/status.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { confirm, isTerminal } from "../screen/ask.ts";
import { bytesShown, count, say, sayAside } from "../screen/output.ts";
import { hasTerminal } from "../screen/terminal.ts";
import { readTrackedFile, sayComingLines } from "./coming-lines.ts";
import { writeMissing } from "./write-missing.ts";

/** A daemon, in this process or in another one. */
export interface OfferingDaemon {
  status(): Promise<DaemonStatus>;
  link(dir: string, options: { readonly write: true }): Promise<unknown>;
}

/** A folder that `up` was told to follow. */
export interface OfferedFolder {
  readonly dir: string;
  /** It was just linked. */
  readonly isNew: boolean;
}

/**
 * Asks at a terminal whether to create a missing file, and once, for a folder that was just linked,
 * whether to go on writing a file that git tracks. Does nothing without a yes. True: it did
 * something, which a status from before does not show.
 */
export async function offerFile(
  env: Environment,
  daemon: OfferingDaemon,
  { dir, isNew }: OfferedFolder,
): Promise<boolean> {
  if (!isTerminal() || !hasTerminal()) return false;
  const found = findFolder(await daemon.status(), dir);
  if (!found) return false;
  const { project, folder } = found;
  const { text } = project;
  if (folder.why === "missing" && text !== null) {
    const size = `${count(text.lines, "line", "lines")}, ${bytesShown(text.bytes)}`;
    const missing = `${folder.path} is missing here, and ${project.name} has one (${size}).`;
    if (!(await confirm(`${missing} Write it?`))) return false;
    await write(env, project, folder);
    return true;
  }
  if (isNew && folder.state === "upwards") {
    const tracked = await readTrackedFile(dir, folder.path);
    const coming = tracked && (await sayComingLines(env, project.id, tracked));
    const lacks = coming === undefined ? "" : `; ${coming}`;
    sayAside(`git tracks ${folder.path} of ${project.name}, so nothing is written into it${lacks}`);
    const question = `May memsync write others' changes into ${folder.path} here?`;
    if (!(await confirm(question))) return false;
    await daemon.link(dir, { write: true });
    return true;
  }
  return false;
}

async function write(env: Environment, { id }: ProjectStatus, { dir, path }: FolderStatus) {
  const file = join(dir, path);
  const text = await withLocal(env, async (db) => db && (await readLocalText(db, id)));
  const isWritten = await writeMissing({ dir, file }, text?.value ?? "");
  say(isWritten ? `wrote ${file}` : `${file} is there by now, and was not touched`);
}

function findFolder(status: DaemonStatus, dir: string) {
  for (const project of status.projects) {
    const folder = project.folders.find((each) => each.dir === dir);
    if (folder) return { project, folder };
  }
  return undefined;
}
