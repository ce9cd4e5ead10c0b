import { join } from "node:path";
import type { Kysely } from "kysely";
import { IGNORE_NAME } from "../../daemon/disk/followable-files.ts";
import { readPlace } from "../../daemon/files/names/folder-place.ts";
import { identifyProject } from "../../daemon/git/identity.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { findIgnoreText } from "../../daemon/home/ignore-files.ts";
import { listLinks } from "../../daemon/home/links.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { patternsIn } from "../../daemon/ignored/gitignore.ts";
import { type GoneIgnore, listGoneIgnores } from "../../daemon/ignored/ignore-file.ts";
import { findPastProject } from "../../daemon/links/unlinked-folders.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { agreeTo } from "../screen/agree.ts";
import { CommandFailed } from "../screen/errors.ts";
import { tilde } from "../screen/tilde.ts";

type Db = Kysely<DaemonTables>;

/** This many names are said. */
const NAMED_MAX = 8;

/**
 * Asks before memories are sent that a `.memsyncignore` named which is gone now. Throws without a
 * yes. Does nothing if none are kept back. Resolves to the folders of these files. `project`: the
 * one that the folder is to be linked to, if it is named.
 */
export async function agreeToSendIgnored(
  env: Environment,
  { dir, project }: { readonly dir: string; readonly project: ProjectId | undefined },
  options: Pick<Parameters<typeof agreeTo>[1], "yes">,
): Promise<string[]> {
  const gone = await withLocal(env, async (db) => (db ? await goneIn(db, dir, project) : []));
  if (gone.length === 0) {
    throw new CommandFailed(
      `no ${IGNORE_NAME} of this project is gone that named anything: what one names that is ` +
        "there is sent once it names it no longer",
    );
  }
  const named = gone.map((each) => `${namesShown(each.names)} (${tilde(fileIn(each.dir))})`);
  const question = `Send what was named in ${IGNORE_NAME}: ${named.join("; ")}?`;
  await agreeTo(question, { ...options, undone: "nothing was linked or sent" });
  return gone.map((each) => each.dir);
}

async function goneIn(db: Db, dir: string, given: ProjectId | undefined): Promise<GoneIgnore[]> {
  const links = await listLinks(db);
  const linked = links.find((each) => each.dir === dir)?.projectId;
  const project = given ?? linked ?? (await pastProject(db, dir));
  return project === undefined ? [] : await listGoneIgnores(db, links, project);
}

async function pastProject(db: Db, dir: string): Promise<ProjectId | undefined> {
  const identity = await identifyProject(createGit(), dir);
  if (identity.kind !== "none") return identity.projectId;
  const found = await readPlace(dir);
  const place = found.kind === "folder" ? found.place : undefined;
  return place && (await findPastProject(db, { dir, place }))?.projectId;
}

/** For whoever has unlinked a folder: that what its file named still stays here, and until when. */
export async function keptBackShown(env: Environment, dir: string): Promise<string | undefined> {
  const text = await withLocal(env, async (db) => db && (await findIgnoreText(db, dir)));
  const names = patternsIn(text ?? "");
  if (names.length === 0) return undefined;
  return (
    `what ${tilde(fileIn(dir))} names stays on this machine (${namesShown(names)}), here and in ` +
    "the project's other folders. If it is sent after all: delete the file, and " +
    "`memsync link --send-ignored`"
  );
}

function fileIn(dir: string): string {
  return join(dir, IGNORE_NAME);
}

function namesShown(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return `${names.slice(0, NAMED_MAX).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
