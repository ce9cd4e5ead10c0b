import type { Kysely } from "kysely";
import { parseProjectId } from "../../shared/ids.ts";
import { layerOf, projectOf, userOf } from "../../shared/replica/document/address.ts";
import { EMPTY_POSITION, headsOf } from "../../shared/replica/log/log-rows.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { World } from "../../shared/world.ts";
import { mayReach } from "./access.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Services } from "./services.ts";
import { Telling } from "./telling.ts";

/** Commits to one store: positions, and the rows of each commit in order. */
export function createLiveService(store: ServiceStore, world: World): Services["live"] {
  const telling = new Telling(world);
  store.onCommit((rows) => {
    for (const { address, epoch, seq, update } of rows) {
      telling.tell(address.owner, () => ({ ...placeOf(address.name), epoch, seq, update }));
    }
  });
  return {
    async positions(caller, projects) {
      // What is committed after the positions were read comes as a frame.
      const following = store.following(caller.account);
      if (following) await following;
      const own = caller.boundTo === null ? [`user/${caller.user}`, "global"] : [];
      const names = [...projects.filter((id) => mayReach(caller, id)), ...own];
      const db: Kysely<ReplicaTables> = narrowTables(store.reader);
      const heads = await headsOf(db, caller.account, names);
      return names.flatMap((name) => {
        const head = heads.get(name);
        if (head) return [{ ...placeOf(name), ...head }];
        return parseProjectId(name) ? [] : [{ ...placeOf(name), ...EMPTY_POSITION }];
      });
    },

    onChange(account, listener) {
      const unfollow = store.follow(account);
      const unlisten = telling.listen(account, listener);
      return () => {
        unlisten();
        unfollow();
      };
    },
  };
}

function placeOf(name: CommittedRow["address"]["name"]) {
  const layer = layerOf(name);
  return {
    document: layer,
    projectId: projectOf(name) ?? null,
    user: userOf(name) ?? null,
  };
}
