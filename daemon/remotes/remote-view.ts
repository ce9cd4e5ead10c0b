import type { Kysely } from "kysely";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import {
  EMBEDDED,
  isSameAddress,
  nameOfUrl,
  noSuchRemote,
  type Remote,
  type RemoteEnvironment,
  UnknownDefault,
} from "../home/remote.ts";
import { listRemotes } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/** The remotes of a home in the current environment. */
export interface RemoteView {
  readonly remotes: readonly Remote[];
  /** Undefined where `MEMSYNC_URL` names a service that has no remote. */
  readonly default: Remote | undefined;
  /** No remote was ever named: the only one is what the environment says. */
  readonly follows: boolean;
}

/**
 * The home's remotes under an environment. Changes nothing.
 *
 * ```
 * const view = await readRemotes(db, environment);
 * getDefault(view).name; // "embedded" in a new home
 * ```
 */
export async function readRemotes(db: Db, { url }: RemoteEnvironment): Promise<RemoteView> {
  const remotes = await listRemotes(db);
  if (remotes.length === 0) return remotesOfNewHome({ url });
  const named = (address: string) =>
    remotes.find((each) => isSameAddress(address, each.url ?? null));
  const chosen = url === undefined ? chosenOf(remotes) : named(url);
  return { remotes, default: chosen, follows: false };
}

/** The remotes of a home in which none was ever named. */
export function remotesOfNewHome({ url }: Pick<RemoteEnvironment, "url">): RemoteView {
  const followed = followedRemote(url);
  return { remotes: [followed], default: followed, follows: true };
}

/** The remote of everything in a home without named ones. */
function followedRemote(url: string | undefined): Remote {
  const name = url === undefined ? EMBEDDED : nameOfUrl(url, []);
  return { name, url, account: LOCAL_ACCOUNT, tokenPlace: undefined, isDefault: true };
}

/** The remote of this name. Throws one sentence when there is none. */
export function getRemote(remotes: readonly Remote[], name: string): Remote {
  const found = remotes.find((each) => each.name === name);
  if (found) return found;
  throw noSuchRemote(name);
}

/**
 * The remote that is shown where none is named: the default, or, where the environment names an
 * unknown service, what would be the default without that.
 */
export function shownDefault({ default: named, remotes }: RemoteView): Remote {
  return named ?? chosenOf(remotes);
}

function chosenOf(remotes: readonly Remote[]): Remote {
  return remotes.find((each) => each.isDefault) ?? getRemote(remotes, EMBEDDED);
}

/** The default remote. Throws one sentence where the environment names an unknown service. */
export function getDefault(view: RemoteView): Remote {
  if (view.default) return view.default;
  throw new UnknownDefault(
    "invalid_request",
    "MEMSYNC_URL names a service that is no remote of this home yet: run `memsync login`, or " +
      "unset it",
  );
}
