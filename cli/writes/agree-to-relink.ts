import type { Kysely } from "kysely";
import { listLinks } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { findProjectName } from "../../daemon/home/project-name.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findLinkAbove } from "../../daemon/links/plan-place.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { isWayBack } from "../../daemon/status/joined-projects.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { agreeTo } from "../screen/agree.ts";
import { count } from "../screen/output.ts";
import { isUnknownToService } from "./ask-service.ts";

type Db = Kysely<DaemonTables>;

/**
 * Asks before a folder that has one project gets another one: what the first has is copied into the
 * second, for everybody who has that, and nothing takes them apart again. Throws without a yes.
 */
export async function agreeToRelink(
  env: Environment,
  { dir, id }: { readonly dir: string; readonly id: ProjectId },
  options: Pick<Parameters<typeof agreeTo>[1], "yes">,
): Promise<void> {
  const question = await withLocal(env, async (db) => db && (await questionOf(db, dir, id)));
  if (question === undefined) return;
  const unknown = (await isKnownNowhere(env, id)) ? ` ${knownNowhere(id)}` : "";
  await agreeTo(question + unknown, { ...options, undone: "nothing was linked" });
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
async function questionOf(db: Db, dir: string, id: ProjectId): Promise<string | undefined> {
  const found = await findLinkAbove(db, await listLinks(db), dir);
  if (found?.dir !== dir || found.link.projectId === id) return undefined;
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
  const named = await findProjectName(db, id);
  const other = named === undefined ? id : `${named} (${id})`;
  if (isSame && (await isWayBack(db, { from: former, to: id }))) {
    return (
      `${dir} is linked to ${name} (${former}). Link it back to ${other}? Memories that were ` +
      `written in ${name} since it came there come along, and what its file says. What it ` +
      `brought there stays in ${name}, too.`
    );
  }
  return (
    `${dir} is linked to ${name} (${former}). Link it to ${other} instead? ` +
    `What it has (${things.join(", ")}) comes into that one. Other machines are told, and go on ` +
    `in ${name} until the same is done there: what they write meanwhile comes then.`
  );
}
