import { Followers } from "../../../daemon/files/followers.ts";
import { serviceStoreOf } from "../../../daemon/gateway/mount.ts";
import { routeServices } from "../../../daemon/gateway/routed-services.ts";
import { createWithholding } from "../../../daemon/gateway/withholding.ts";
import type { Git } from "../../../daemon/git/run-git.ts";
import type { Home } from "../../../daemon/home/home.ts";
import { type Link, listLinks, putLink } from "../../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../../daemon/home/local-account.ts";
import { serviceNameOf } from "../../../daemon/home/remote.ts";
import type { DaemonTables } from "../../../daemon/home/tables.ts";
import { drainInbox } from "../../../daemon/inbox/drain-inbox.ts";
import { LinkedFolders } from "../../../daemon/links/linked-folders.ts";
import { OpenRemotes } from "../../../daemon/remotes/open-remotes.ts";
import { type FoundToken, TokenStore } from "../../../daemon/remotes/token-store.ts";
import type { WatchFolder } from "../../../daemon/watch/watched-folder.ts";
import { devAccounts } from "../../../server/emulator/state/dev-tokens.ts";
import { RequestLimits } from "../../../server/limits/request-limits.ts";
import { createServices } from "../../../server/services/create-services.ts";
import type { Caller, Services } from "../../../server/services/services.ts";
import { type Log, silentLog } from "../../../shared/log.ts";
import { Sweeper } from "../../../shared/replica/history/sweeper.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import type { World } from "../../../shared/world.ts";
import type { CallWatch } from "./call-watch.ts";

export const TOKEN = "mst_dev_simulation";

/** What a daemon of the simulation is put together from. */
export interface WiringOptions {
  readonly home: Home;
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly git: Git;
  readonly watch: WatchFolder;
  /** The service that the environment names. */
  readonly url: string;
  /** Links of a home that has none yet. */
  readonly links: readonly Link[];
  /** What watches the calls to each service, made as they are opened. */
  readonly calls: CallWatch[];
}

/** A daemon that runs: what `Daemon` puts together, without its gateway's sockets. */
export interface Wired {
  readonly store: ReplicaStore<DaemonTables>;
  readonly services: Services;
  readonly caller: Caller;
  readonly remotes: OpenRemotes;
  readonly folders: LinkedFolders;
  readonly followers: Followers;
  readonly sweeper: Sweeper;
  readonly calls: readonly CallWatch[];
}

/** Whoever asks is logged in everywhere. */
class Tokens extends TokenStore {
  override async find(): Promise<FoundToken> {
    return { kind: "found", token: TOKEN };
  }
}

/** Begins as `Daemon.start` does. */
export async function wire(options: WiringOptions): Promise<Wired> {
  const { home, store, world, git, watch, url, calls } = options;
  const environment = { url, token: TOKEN };
  const log: Log = silentLog;
  const warn = () => {
    for (const each of calls) each.failed();
  };
  const callLog: Log = { ...log, warn };
  const followers: Followers = new Followers({
    ...{ store, world, log, git, watch, account: LOCAL_ACCOUNT },
    service: serviceNameOf(environment),
    findGitProcess: async () => false,
    isOpenToWrite: async () => false,
    onGone: (link) => folders.onGone(link),
    onRepository: (link) => folders.onRepository(link),
  });
  const remotes: OpenRemotes = new OpenRemotes({
    ...{ store, world, environment, log: callLog },
    tokens: new Tokens({ home, world, keyring: undefined }),
    openEmbedded: () => Promise.reject(new Error("the embedded service is in no run")),
    links: () => folders.links,
    onContact: () => {
      for (const file of followers.files()) if (file.status.state === "waiting") file.look();
    },
  });
  const book = { world, environment };
  const folders = new LinkedFolders({ home, log, store, book, git, followers, remotes });
  await linkFirst(store, options.links);
  await folders.load();
  await drainInbox(store, remotes.view.default?.account);
  const routes = routeServices({ store, view: () => remotes.view, refuse: async () => {} });
  const limits = new RequestLimits(world);
  const served = createServices(serviceStoreOf(store), world, {
    usage: limits,
    account: devAccounts,
    withholding: createWithholding(),
  });
  const caller = routes.callerOfAll();
  await folders.followAll();
  remotes.start();
  const sweeper = new Sweeper(store, world, log);
  sweeper.start();
  const services = routes.over(served);
  return { store, services, caller, remotes, folders, followers, sweeper, calls };
}

async function linkFirst(store: ReplicaStore<DaemonTables>, links: readonly Link[]) {
  if ((await listLinks(store.reader)).length > 0) return;
  await store.write(async ({ db, now }) => {
    for (const link of links) await putLink(db, link, now);
  });
}

/** Ends in order, as `Daemon.stop` does. */
export async function unwire({
  store,
  remotes,
  folders,
  followers,
  sweeper,
}: Wired): Promise<void> {
  folders.stop();
  remotes.abandonCalls();
  await folders.settled();
  await followers.stop();
  await remotes.stop();
  await sweeper.stop();
  await store.close();
}
