import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { findAudience } from "../home/audience-store.ts";
import { findFormerService } from "../home/former-service.ts";
import type { Home } from "../home/home.ts";
import { isSameAddress, type Remote, type RemoteEnvironment } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";
import { digestOfToken } from "../service/token-digest.ts";
import { readFromFile } from "./credentials-file.ts";
import { type RemoteView, readRemotes } from "./remote-view.ts";

type Db = Kysely<DaemonTables>;

/** A variable that names another token, or another service, than the home keeps. */
export type Unkept =
  /** The address is missing of the service that the home was synced with by it. */
  | { readonly code: "no-service"; readonly synced: string }
  /** Another address than that of the service with which everything in the home was synced. */
  | { readonly code: "another-service"; readonly synced: string }
  /** An address that is none of the home's named remotes. */
  | { readonly code: "unknown-service" }
  /** A token that the home was not told to be of this user, if it was told of one. */
  | { readonly code: "another-token"; readonly remote: Remote; readonly user: string | null };

/**
 * Compares `MEMSYNC_URL` and `MEMSYNC_TOKEN`, of a shell or of the daemon, with what the home
 * keeps, without a request. Undefined: they are the same, or nothing where the home keeps it, or
 * there is nothing yet to compare with.
 */
export async function findUnkept(
  db: Db,
  home: Pick<Home, "credentials" | "dir">,
  { url, token }: RemoteEnvironment,
): Promise<Unkept | undefined> {
  if (url === undefined) {
    const synced = await findFormerService(db);
    if (synced !== undefined) return { code: "no-service", synced };
    if (token === undefined) return undefined;
  }
  const view = await readRemotes(db, { url, token });
  const other = url === undefined ? undefined : await findOtherService(db, view, url);
  if (other) return other;
  const remote = view.default;
  if (token === undefined || !remote?.url) return undefined;
  return await findOtherToken(db, home, { remote, token });
}

/**
 * Whether what is written to `user` or `global` of an account, by whoever set the variables, would
 * become another's: it is refused, in a command and by the gateway.
 */
export function isOfOthers(unkept: Unkept | undefined, account: AccountId): boolean {
  switch (unkept?.code) {
    case "another-service":
    case "unknown-service":
      return true;
    case "another-token":
      return unkept.user !== null && unkept.remote.account === account;
    default:
      return false;
  }
}

async function findOtherService(
  db: Db,
  { remotes, follows }: RemoteView,
  url: string,
): Promise<Unkept | undefined> {
  if (!follows) {
    const isKnown = remotes.some((each) => isSameAddress(url, each.url ?? null));
    return isKnown ? undefined : { code: "unknown-service" };
  }
  const synced = await findFormerService(db);
  if (synced === undefined || isSameAddress(url, synced)) return undefined;
  return { code: "another-service", synced };
}

async function findOtherToken(
  db: Db,
  { credentials, dir }: Pick<Home, "credentials" | "dir">,
  { remote, token }: { readonly remote: Remote; readonly token: string },
): Promise<Unkept | undefined> {
  const { user, tokens } = await findAudience(db, remote);
  if (tokens.length === 0 || tokens.includes(digestOfToken(token))) return undefined;
  if (remote.tokenPlace === "file") {
    if (readFromFile(credentials, { dir, account: remote.account }) === token) return undefined;
  }
  return { code: "another-token", remote, user };
}
