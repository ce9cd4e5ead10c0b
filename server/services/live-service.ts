import type { Kysely } from "kysely";
import { type AccountId, parseProjectId } from "../../shared/ids.ts";
import { layerOf, projectOf, userOf } from "../../shared/replica/document/address.ts";
import { EMPTY_POSITION, headsOf } from "../../shared/replica/log/log-rows.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { mayReach } from "./access.ts";
import type { LiveChange, Services } from "./services.ts";

/** Commits to one store: positions, and the rows of each commit in order. */
export function createLiveService(store: ReplicaStore<ServiceTables>): Services["live"] {
  const listeners = new Map<AccountId, Set<Listener>>();
  store.onCommit((rows) => {
    const failures: unknown[] = [];
    for (const { address, epoch, seq, update } of rows) {
      const concerned = listeners.get(address.owner);
      if (!concerned) continue;
      const change = { ...placeOf(address.name), epoch, seq, update };
      for (const listener of [...concerned]) tell(listener, change, failures);
    }
    if (failures.length > 0) throw failures[0];
  });
  return {
    async positions(caller, projects) {
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
      const ofAccount = listeners.get(account) ?? new Set();
      listeners.set(account, ofAccount.add(listener));
      return () => {
        ofAccount.delete(listener);
        if (ofAccount.size === 0 && listeners.get(account) === ofAccount) listeners.delete(account);
      };
    },
  };
}

type Listener = (change: LiveChange) => void;

/** A listener's error is a bug, but not the others'. */
function tell(listener: Listener, change: LiveChange, failures: unknown[]): void {
  try {
    listener(change);
  } catch (thrown) {
    failures.push(thrown);
  }
}

function placeOf(name: CommittedRow["address"]["name"]) {
  const layer = layerOf(name);
  return {
    document: layer,
    projectId: projectOf(name) ?? null,
    user: userOf(name) ?? null,
  };
}
