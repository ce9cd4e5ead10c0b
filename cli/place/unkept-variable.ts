import type { Kysely } from "kysely";
import { findAudience } from "../../daemon/home/audience-store.ts";
import { findSyncedService } from "../../daemon/home/former-service.ts";
import type { Remote } from "../../daemon/home/remote.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readFromFile } from "../../daemon/remotes/credentials-file.ts";
import { type RemoteView, readRemotes } from "../../daemon/remotes/remote-view.ts";
import { digestOfToken } from "../../daemon/service/token-digest.ts";
import type { AccountId } from "../../shared/ids.ts";
import { isSameAddress } from "../contact/unused-variables.ts";
import type { Environment } from "./environment.ts";
import { remoteEnvironment } from "./remote-environment.ts";

/** A variable of a shell that names another token, or another service, than the home keeps. */
export interface UnkeptVariable {
  readonly code: "another-service" | "no-service" | "another-token";
  readonly detail: string;
  readonly mend: string;
  /** The account that it is about; undefined: everything of the home. */
  readonly account: AccountId | undefined;
  /** What is written to `user` and `global` here would be another's. */
  readonly isOfOthers: boolean;
}

/**
 * Compares what a shell sets with what the home keeps, without a request. Undefined: it sets
 * the same, or nothing where the home keeps it, or there is nothing yet to compare with. Throws one
 * sentence for a malformed variable.
 */
export async function findUnkept(
  env: Environment,
  db: Kysely<DaemonTables>,
): Promise<UnkeptVariable | undefined> {
  const { url, token } = remoteEnvironment(env);
  const synced = await findSyncedService(db);
  if (url === undefined && synced !== undefined) return forgotten(synced);
  if (url === undefined && token === undefined) return undefined;
  const view = await readRemotes(db, { url, token });
  if (url !== undefined) {
    const other = await findOtherService(view, url, synced);
    if (other) return other;
  }
  const remote = view.default;
  return token === undefined || !remote?.url
    ? undefined
    : await findOther(env, db, { remote, token });
}

/** A home that a service's address was given to by a variable, which is missing. */
function forgotten(synced: string): UnkeptVariable {
  return {
    code: "no-service",
    detail: forgottenShown(synced),
    mend: `set it, or \`memsync login --url ${synced}\` keeps it for all shells`,
    account: undefined,
    isOfOthers: false,
  };
}

/** That a shell does not name the service that its home was synced with. */
export function forgottenShown(synced: string): string {
  return `MEMSYNC_URL is unset here, and this home was synced with ${synced} until now`;
}

function findOtherService(
  { remotes, follows }: RemoteView,
  url: string,
  synced: string | undefined,
): UnkeptVariable | undefined {
  if (!follows) {
    if (remotes.some((each) => isSameAddress(url, each.url ?? null))) return undefined;
    return {
      code: "another-service",
      detail: "MEMSYNC_URL is an address here that is no remote of this home's",
      mend: "nothing of what is here goes there, so unset it, or run `memsync login` to add it",
      account: undefined,
      isOfOthers: true,
    };
  }
  if (synced === undefined || isSameAddress(url, synced)) return undefined;
  return {
    code: "another-service",
    detail: `MEMSYNC_URL is another here than this home's service until now, ${synced}`,
    mend:
      "a daemon that is started here takes everything to the other one: unset it, or set " +
      "MEMSYNC_HOME to another folder, if that is not meant",
    account: undefined,
    isOfOthers: true,
  };
}

/** A token that this home has not been told to be of the remote's user. */
async function findOther(
  { home }: Environment,
  db: Kysely<DaemonTables>,
  { remote, token }: { readonly remote: Remote; readonly token: string },
): Promise<UnkeptVariable | undefined> {
  const { account, name } = remote;
  const { user, token: digest } = await findAudience(db, remote);
  if (digest === undefined || digest === digestOfToken(token)) return undefined;
  if (remote.tokenPlace === "file") {
    if (readFromFile(home.credentials, { dir: home.dir, account }) === token) return undefined;
  }
  const whose = user === null ? "the one that" : `${user}'s, which`;
  return {
    code: "another-token",
    detail: `MEMSYNC_TOKEN is another token here than ${whose} this home has for ${name}`,
    mend:
      user === null
        ? "unset it, if it is not a new one"
        : `what is here is ${user}'s, so unset it, or, for another user, set MEMSYNC_HOME to ` +
          `another folder; if it is a new one of ${user}'s, \`memsync restart\` tells this home so`,
    account,
    isOfOthers: user !== null,
  };
}
