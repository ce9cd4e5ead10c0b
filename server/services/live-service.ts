import type { Kysely } from "kysely";
import { parseProjectId } from "../../shared/ids.ts";
import { layerOf, projectOf, userOf } from "../../shared/replica/document/address.ts";
import { epochOfRow } from "../../shared/replica/log/log-rows.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { mayReach } from "./access.ts";
import type { Caller, LivePosition, Services } from "./services.ts";

/** Commits to one store: positions, and the rows of each commit in order. */
export function createLiveService(store: ReplicaStore<ServiceTables>): Services["live"] {
  return {
    async positions(caller, projects) {
      const own = caller.boundTo === null ? [`user/${caller.user}`, "global"] : [];
      const names = [...projects.filter((id) => mayReach(caller, id)), ...own];
      const found: LivePosition[] = [];
      for (const name of names) found.push(...(await positionOf(store, caller, name)));
      return found;
    },

    onChange(account, listener) {
      return store.onCommit((rows) => {
        for (const row of rows) {
          if (row.address.owner !== account) continue;
          const { epoch, seq, update } = row;
          listener({ ...placeOf(row.address.name), epoch, seq, update });
        }
      });
    },
  };
}

async function positionOf(
  store: ReplicaStore<ServiceTables>,
  caller: Caller,
  name: string,
): Promise<LivePosition[]> {
  const row = await store.reader
    .selectFrom("documents")
    .select(["id", "seq"])
    .where("owner", "=", caller.account)
    .where("name", "=", name)
    .executeTakeFirst();
  if (!row) return parseProjectId(name) ? [] : [{ ...placeOf(name), epoch: "", seq: 0 }];
  const db: Kysely<ReplicaTables> = narrowTables(store.reader);
  const epoch = row.seq === 0 ? "" : ((await epochOfRow(db, row.id, row.seq)) ?? "");
  return [{ ...placeOf(name), epoch, seq: row.seq }];
}

function placeOf(name: CommittedRow["address"]["name"]) {
  const layer = layerOf(name);
  return {
    document: layer,
    projectId: projectOf(name) ?? null,
    user: userOf(name) ?? null,
  };
}
