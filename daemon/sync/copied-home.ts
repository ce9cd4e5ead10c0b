import type { Log } from "../../shared/log.ts";
import { homeKey, parseHome } from "../../shared/replica/log/homes.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { HomeId } from "../home/home-id.ts";
import { clientsHere } from "../home/outgoing.ts";
import type { DaemonTables } from "../home/tables.ts";

/** What is watched, and where that is written. */
export interface CopiedHomeOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly homeId: HomeId;
  readonly log: Log;
}

/**
 * Tells when this home is a copy of another one that is in use, or the other of this one: a home's
 * record comes from elsewhere, and only who has its id writes that. From then on this home has an
 * id of its own. It gives up its claim on what was written under the former one, of which nobody
 * can say any more by which of the two; and the former one is told as a home of the same name. A
 * home that was put back from a backup looks alike at its first sync, and loses no more than that.
 * What was written before this database had the document is this home's own past, which comes back
 * to a database that was made anew.
 */
export function watchForCopies({ store, homeId, log }: CopiedHomeOptions): () => void {
  const look = async (row: CommittedRow, id: string) => {
    const isOther = await isWrittenElsewhere(store, row, id);
    if (!isOther || homeId.current !== id) return;
    homeId.renew();
    log.warn({}, "another home has this one's id, so one is a copy: this one has a new id");
  };
  return store.onCommit((rows) => {
    const id = homeId.current;
    for (const row of rows) {
      if (!row.changes.by.remote.metadataKeys.has(homeKey(id))) continue;
      look(row, id).catch((thrown) => {
        log.warn({ reason: String(thrown) }, "whether this home is a copy could not be found out");
      });
    }
  });
}

/**
 * Whether a client that is not of this home has written the record since this database has the
 * document. The record may be beside one of its own. Its own may be those of another document here:
 * a home with two remotes of one account has two replicas of one document.
 */
async function isWrittenElsewhere(
  store: ReplicaStore<DaemonTables>,
  { address }: CommittedRow,
  id: string,
): Promise<boolean> {
  return await store.write(async (context) => {
    const open = await context.find(address);
    const key = homeKey(id);
    const said = open?.document.metadata.get(key) ?? [];
    const replicas = await context.db
      .selectFrom("documents")
      .select(["id", "created_at"])
      .where("name", "=", address.name)
      .execute();
    const here = new Set<number>();
    for (const replica of replicas) {
      for (const client of await clientsHere(context.db, replica.id)) here.add(client);
    }
    const since = replicas.find((replica) => replica.id === open?.id)?.created_at ?? 0;
    return said.some(({ id: { client }, value }) => {
      return !here.has(client) && (parseHome(key, value)?.at ?? since) >= since;
    });
  });
}
