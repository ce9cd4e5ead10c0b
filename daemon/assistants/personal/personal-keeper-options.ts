import type { AccountId } from "../../../shared/ids.ts";
import type { Log } from "../../../shared/log.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import type { World } from "../../../shared/world.ts";
import type { Git } from "../../git/run-git.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { Whose } from "../../home/whose.ts";
import type { OpenEvents } from "../../watch/watch.ts";

/** What the keeper of the personal text works with. */
export interface PersonalKeeperOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
  readonly git: Git;
  /** Whose user's text it is. Throws where that can't be said. */
  readonly account: () => AccountId;
  /** Whether the daemon runs for the user whose text it is. */
  readonly whose: () => Promise<Whose>;
  /** Tells of saves between two looks; undefined: nothing does. */
  readonly events?: OpenEvents | undefined;
}
