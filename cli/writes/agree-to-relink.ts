import type { Kysely } from "kysely";
import { readPlace } from "../../daemon/files/names/folder-place.ts";
import { findKnownPlace } from "../../daemon/files/names/place-store.ts";
import { identifyProject } from "../../daemon/git/identity.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { readDeletion } from "../../daemon/home/deleted-project.ts";
import { listLinks } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { findProjectName } from "../../daemon/home/project-name.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findLinkAbove } from "../../daemon/links/plan-place.ts";
import { findPastProject, findWayBack } from "../../daemon/links/unlinked-folders.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { findJoinBack } from "../../daemon/status/joined-projects.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { isBeforeKnown, type ProjectJoin } from "../../shared/replica/document/project-join.ts";
import { shellWord } from "../../shared/shell-word.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { agreeTo } from "../screen/agree.ts";
import { count } from "../screen/output.ts";
import { isUnknownToService } from "./ask-service.ts";

type Db = Kysely<DaemonTables>;

/**
 * Asks before a folder that has one project gets another one: what the first has is copied into the
 * second, for everybody who has that, and nothing takes them apart again. A folder that was
 * unlinked, and goes back, is asked about as well: its file comes along. `id`: the project that the
 * user named. Throws without a yes.
 */
export async function agreeToRelink(
  env: Environment,
  { dir, id }: { readonly dir: string; readonly id: ProjectId | undefined },
  {
    anew = false,
    ...options
  }: Pick<Parameters<typeof agreeTo>[1], "yes"> & { readonly anew?: boolean | undefined },
): Promise<void> {
  const question = await withLocal(env, async (db) => db && (await questionOf(db, dir, id)));
  if (question === undefined) return;
  const isUnknown = id !== undefined && (await isKnownNowhere(env, id));
  const isDeleted = !anew && (await isDeletedHere(env, id));
  const deleted = isDeleted ? ` ${GOES_NOWHERE}` : "";
  const unknown = isUnknown ? ` ${knownNowhere(id)}` : "";
  await agreeTo(question + unknown + deleted, { ...options, undone: "nothing was linked" });
}

const GOES_NOWHERE =
  "The project that it goes to was deleted: without --anew nothing is synced there.";

/** Whether this home knows that a project was deleted. */
export async function isDeletedHere(env: Environment, id: string | undefined): Promise<boolean> {
  if (id === undefined) return false;
  return await withLocal(env, async (db) => db !== undefined && !!(await readDeletion(db, id)));
}

/** Whether neither this home nor the default service has a project; false where nobody tells. */
export async function isKnownNowhere(env: Environment, id: ProjectId): Promise<boolean> {
  const name = await withLocal(env, async (db) => db && (await findProjectName(db, id)));
  return name === undefined && (await isUnknownToService(env, id));
}

export function knownNowhere(id: ProjectId): string {
  return `No project ${id} is known here or to the service: it becomes a new one.`;
}

function linesIn(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

/** The question; undefined if nothing would be mixed. */
async function questionOf(
  db: Db,
  dir: string,
  id: ProjectId | undefined,
): Promise<string | undefined> {
  const found = await findLinkAbove(db, await listLinks(db), dir);
  // Without a name nothing is copied.
  if (id === undefined) return undefined;
  if (found?.dir !== dir) return await unlinkedQuestion(db, dir, id);
  if (found.link.projectId === id) return undefined;
  const { projectId: former, name } = found.link;
  const account = (await findBinding(db, former)) ?? LOCAL_ACCOUNT;
  // Nothing is copied into a project of another remote.
  const isSame = ((await findBinding(db, id)) ?? account) === account;
  const memories = isSame ? (await readLocalMemories(db, former, account)).length : 0;
  const text = (await readLocalText(db, former))?.value ?? "";
  const things = [
    ...(memories > 0 ? [count(memories, "memory", "memories")] : []),
    ...(text.trim() === ""
      ? []
      : [`${count(linesIn(text), "line", "lines")} of text, without what git has committed`]),
  ];
  if (things.length === 0) return undefined;
  const other = await shownProject(db, id);
  const derivedId = (await findKnownPlace(db, dir))?.derivedId;
  const back = isSame && (await findJoinBack(db, { from: former, to: id, derivedId }));
  if (back) return `${dir} is linked to ${name} (${former}). ${backQuestion(back, name, other)}`;
  return (
    `${dir} is linked to ${name} (${former}). Link it to ${other} instead? ` +
    `What it has (${things.join(", ")}) comes into that one. Other machines are told, and go on ` +
    `in ${name} until the same is done there: what they write meanwhile comes then.`
  );
}

/** The question about a folder that is linked nowhere; undefined unless it goes back. */
async function unlinkedQuestion(db: Db, dir: string, to: ProjectId): Promise<string | undefined> {
  const read = await readPlace(dir);
  const place = read.kind === "folder" ? read.place : undefined;
  const past = place && (await findPastProject(db, { dir, place }));
  // git is asked of a folder alone that somebody has given another project than its own.
  if (past?.evidence !== "chosen") return undefined;
  const identity = await identifyProject(createGit(), dir);
  const derivedId = identity.kind === "none" ? undefined : identity.projectId;
  const from = await findWayBack(db, { dir, place, derivedId, to });
  if (!from) return undefined;
  const { name, projectId: former } = from;
  const back = await findJoinBack(db, { from: former, to, derivedId });
  if (!back) return undefined;
  return (
    `${dir} was linked to ${name} (${former}). ` +
    `${backQuestion(back, name, await shownProject(db, to))} ` +
    `\`memsync link ${shellWord(dir)} --id ${former}\` links it to ${name} again.`
  );
}

function backQuestion(join: ProjectJoin, name: string, other: string): string {
  const along = isBeforeKnown(join)
    ? `Memories that were written in ${name} since it came there come along, and what its file ` +
      "says."
    : `What its file says comes along, and no memory of ${name}: nothing tells which were ` +
      "written there since it came.";
  return `Link it back to ${other}? ${along} What it brought there stays in ${name}, too.`;
}

async function shownProject(db: Db, id: ProjectId): Promise<string> {
  const name = await findProjectName(db, id);
  return name === undefined ? id : `${name} (${id})`;
}
