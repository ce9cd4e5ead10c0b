import type { AccountId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { World } from "../../shared/world.ts";
import type { FindGitProcess } from "../git/git-processes.ts";
import type { Git } from "../git/run-git.ts";
import type { OnActivity } from "../home/activity.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";

/** What a followed file stands on, and who is told of what it finds. */
export interface FollowerOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
  readonly git: Git;
  readonly account: AccountId;
  /** The service whose first answer the file waits for, by its name. */
  readonly service: string;
  /** Replaces the search for git's processes, in tests. */
  readonly findGitProcess?: FindGitProcess;
  /** Replaces the question whether a program has a file open to write, in tests. */
  readonly isOpenToWrite?: (path: string) => Promise<boolean>;
  /** Called when a look finds that the folder is not where it was linked. */
  readonly onGone?: (link: Link) => void;
  /** Called when a look finds that something else is ignored than at the one before. */
  readonly onIgnored?: () => void;
  /** Called with each write of others' changes into a file. */
  readonly onActivity?: OnActivity | undefined;
}
