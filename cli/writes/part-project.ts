import type { Kysely } from "kysely";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { type LocalMemory, readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { readReturns } from "../../daemon/status/joined-projects.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { isBrought } from "../../shared/replica/document/project-join.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { writeToInbox } from "./inbox-write.ts";

type Db = Kysely<DaemonTables>;

/** What a folder brought into a project that it has left again. */
export interface BroughtMemories {
  /** The project that it came from, and is in again. */
  readonly from: ProjectId;
  /** When it came; in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Those that can be taken out. */
  readonly memories: readonly LocalMemory[];
  /** Brought as well, and with another version beside it here. */
  readonly contested: readonly string[];
  /** Brought as well, and not the same any more in the project that it came from. */
  readonly apart: readonly string[];
  /** False: a former version linked the folder, and did not say what came. */
  readonly isKnown: boolean;
}

/**
 * The memories of a project that folders brought and left there, for each folder's project that has
 * taken its folder back: the very entries that were written as the folder came. What can be taken
 * out is in the folder's own project, too, with no change since on either side and no other
 * version.
 */
export async function findBrought(db: Db, project: ProjectId): Promise<BroughtMemories[]> {
  const memories = await readIn(db, project);
  const found: BroughtMemories[] = [];
  for (const { to: from, brought, joinedAt, at: returnedAt } of await readReturns(db, project)) {
    const own = new Map((await readIn(db, from)).map((each) => [each.key, each]));
    const came = memories.filter(({ seen }) => seen.some((id) => isBrought(id, brought)));
    const isAlone = (memory: LocalMemory) => memory.seen.length === 1 && !isUnsettled(memory);
    const isBoth = (memory: LocalMemory) => {
      const there = own.get(memory.key);
      return there !== undefined && isSame(memory, there);
    };
    const alone = came.filter(isAlone);
    found.push({
      from,
      at: joinedAt ?? returnedAt,
      memories: alone.filter(isBoth),
      contested: came.filter((each) => !isAlone(each)).map(({ key }) => key),
      apart: alone.filter((each) => !isBoth(each)).map(({ key }) => key),
      isKnown: brought !== undefined,
    });
  }
  return found;
}

async function readIn(db: Db, project: ProjectId): Promise<LocalMemory[]> {
  return await readLocalMemories(db, project, (await findBinding(db, project)) ?? LOCAL_ACCOUNT);
}

function isUnsettled({ in_inbox: waits, held }: LocalMemory): boolean {
  return waits || held !== undefined;
}

function isSame(one: LocalMemory, other: LocalMemory): boolean {
  return one.value === other.value && one.updated_at === other.updated_at && !isUnsettled(other);
}

/**
 * Deletes what was brought, as `memsync rm` does, but for what is not so any more. Durable when it
 * resolves, to the keys.
 */
export async function takeOut(
  { home }: Environment,
  project: ProjectId,
  agreed: readonly LocalMemory[],
): Promise<string[]> {
  const asked = new Map(agreed.map((each) => [each.key, each]));
  let keys: string[] = [];
  await writeToInbox(home, async (db) => {
    const now = (await findBrought(db, project)).flatMap(({ memories }) => memories);
    const still = now.filter((each) => {
      const before = asked.get(each.key);
      return before !== undefined && isSame(each, before);
    });
    keys = still.map(({ key }) => key);
    const account = await findBinding(db, project);
    const written = { kind: "memory", document: project, account, value: undefined } as const;
    return still.map(({ key, seen }) => ({ ...written, key, seen, writtenAt: realWorld.now() }));
  });
  return keys;
}
