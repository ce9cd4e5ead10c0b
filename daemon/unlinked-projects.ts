import type { Kysely } from "kysely";
import type { AccountId } from "../shared/ids.ts";
import { projectOf } from "../shared/replica/address.ts";
import { PROJECT_NAME_KEY } from "../shared/replica/document.ts";
import type { Link } from "./links.ts";
import type { OpenRemotes } from "./remotes/open-remotes.ts";
import { serviceNameOf } from "./remotes/remote.ts";
import { countUnacknowledged, readPosition } from "./sync/positions.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** A project that is written to here but linked to no folder, so that nothing of it is sent. */
export interface UnlinkedProject {
  readonly id: string;
  /** As whoever made it named it; null where nobody did. */
  readonly name: string | null;
  /** Name of the remote that it is bound to. */
  readonly remote: string;
  readonly memories: number;
  /** Changes that are on this machine alone. */
  readonly waiting: number;
}

/** Projects get here through the gateway, too, and stay when their folder is unlinked. */
export async function findUnlinked(
  db: Db,
  remotes: Pick<OpenRemotes, "remoteOf">,
  links: readonly Link[],
): Promise<UnlinkedProject[]> {
  const linked = new Set<string>(links.map(({ projectId }) => projectId));
  const documents = await db
    .selectFrom("documents")
    .select(["id", "name", "owner"])
    .orderBy("id")
    .execute();
  const unlinked: UnlinkedProject[] = [];
  for (const { id, name: project, owner } of documents) {
    if (projectOf(project) === undefined || linked.has(project)) continue;
    const remote = remotes.remoteOf(owner as AccountId);
    const { ackedSeq } = await readPosition(db, serviceNameOf(remote), id);
    const waiting = await countUnacknowledged(db, id, ackedSeq);
    if (waiting === 0) continue;
    unlinked.push({
      id: project,
      name: await nameOf(db, id),
      remote: remote?.name ?? "",
      memories: await countMemories(db, id),
      waiting,
    });
  }
  return unlinked;
}

async function nameOf(db: Db, documentId: number): Promise<string | null> {
  const row = await db
    .selectFrom("metadata")
    .select("value")
    .where("document_id", "=", documentId)
    .where("key", "=", PROJECT_NAME_KEY)
    .executeTakeFirst();
  const name: unknown = row && JSON.parse(row.value);
  return typeof name === "string" && name !== "" ? name : null;
}

/** Memories of a document that are saved here. */
export async function countMemories(db: Db, documentId: number): Promise<number> {
  const { count } = await db
    .selectFrom("memories")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("document_id", "=", documentId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
