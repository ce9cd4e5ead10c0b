import { type AccountId, type ProjectId, parseProjectId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import type { ReplicaStore } from "../shared/replica/store/store.ts";
import type { World } from "../shared/world.ts";
import type { FolderSource } from "./assistants/folders/owned-folder.ts";
import { MemoryKeeper } from "./assistants/memory-folders/memory-keeper.ts";
import { PersonalKeeper } from "./assistants/personal/personal-keeper.ts";
import { SessionKeeper } from "./assistants/sessions/session-keeper.ts";
import type { SessionSource } from "./assistants/transcripts/session-source.ts";
import type { SyncUnit } from "./budget/sync-units.ts";
import type { Git } from "./git/run-git.ts";
import { folderMode } from "./home/folder-switches.ts";
import type { Home } from "./home/home.ts";
import type { Link } from "./home/links.ts";
import { currentMachineName } from "./home/machine-name.ts";
import { serviceNameOf } from "./home/remote.ts";
import { sessionSwitchOf } from "./home/session-switch.ts";
import type { DaemonTables } from "./home/tables.ts";
import type { Whose } from "./home/whose.ts";
import { FactsKeeper } from "./manifests/facts-keeper.ts";
import { HeldMeeting } from "./overwritten/met-held.ts";
import type { OpenRemotes } from "./remotes/open-remotes.ts";
import { getDefault } from "./remotes/remote-view.ts";
import { NameKeeper } from "./sync/name-keeper.ts";
import { openEvents } from "./watch/watch.ts";

/** What the keepers work with. */
export interface KeepersOptions {
  readonly home: Home;
  readonly world: World;
  readonly log: Log;
  readonly store: ReplicaStore<DaemonTables>;
  readonly git: Git;
  readonly remotes: OpenRemotes;
  readonly links: () => readonly Link[];
  /** Whether the daemon runs for an account's user; see `OthersWrites`. */
  readonly whose: (account: AccountId) => Promise<Whose>;
  /** The assistants whose sessions are recorded; none where it is left out. */
  readonly assistants?: readonly SessionSource[] | undefined;
  /** The folders of memories that are looked at, once somebody says so; none where left out. */
  readonly memoryFolders?: ((git: Git) => readonly FolderSource[]) | undefined;
}

/** Those who read what is in projects beside their texts, and write the files of assistants. */
export class Keepers {
  readonly memories: MemoryKeeper;
  readonly sessions: SessionKeeper;
  readonly personal: PersonalKeeper;
  readonly #facts: FactsKeeper;
  readonly #names: NameKeeper;
  readonly #held: HeldMeeting;

  constructor({ home, assistants, memoryFolders, remotes, whose, ...options }: KeepersOptions) {
    const usual = () => getDefault(remotes.view).account;
    const accountOf = (project?: ProjectId) => (project && remotes.bindingOf(project)) ?? usual();
    const serviceOf = (account: AccountId) => serviceNameOf(remotes.remoteOf(account));
    const all = { ...options, accountOf };
    this.memories = new MemoryKeeper({
      ...all,
      sources: memoryFolders?.(options.git) ?? [],
      modeOf: (kind) => folderMode(home, kind),
      events: openEvents,
    });
    this.sessions = new SessionKeeper({
      ...all,
      sources: assistants ?? [],
      machine: currentMachineName(home),
      ...sessionSwitchOf(home),
      onDue: (project) => remotes.find(accountOf(project))?.engine.sessionsDue(project),
    });
    this.personal = new PersonalKeeper({
      ...all,
      account: usual,
      whose: () => whose(usual()),
      events: openEvents,
    });
    this.#facts = new FactsKeeper({ ...all, serviceOf });
    this.#names = new NameKeeper({ ...all, serviceOf });
    this.#held = new HeldMeeting(options);
  }

  /** Begins to look. Resolves before the first looks are over. */
  async start(): Promise<void> {
    this.#held.start();
    await this.sessions.start();
    this.memories.start();
    this.personal.start();
  }

  /** A service has answered about these units. */
  contacted(units: readonly SyncUnit[], account: AccountId): void {
    void this.memories.look();
    void this.personal.look();
    void this.#names.look(units, account);
    void this.#facts.look(units.flatMap((unit) => parseProjectId(unit) ?? []));
  }

  /** Looks at files of memories, rules and the user's own text. See `SyncWaiterOptions`. */
  async lookAtFiles(): Promise<void> {
    await Promise.all([this.memories.look(), this.personal.look()]);
  }

  /** Resolves when the looks under way are over; none begins any more. */
  async stop(): Promise<void> {
    await this.sessions.stop();
    await this.memories.stop();
    await this.personal.stop();
    await this.#facts.settled();
    await this.#names.settled();
    await this.#held.stop();
  }
}
