import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { keepHeard } from "../home/audience-store.ts";
import { findOwner } from "../home/former-service.ts";
import { forgetOtherServices } from "../home/positions.ts";
import { isSameAddress, type Remote, serviceNameOf } from "../home/remote.ts";
import { setAddress, setTokenPlace } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { areOthers, ownerShown, type ToldOwner } from "./others-token.ts";

type Db = Kysely<DaemonTables>;

/** A remote that has an address, and the other one that somebody logs in to by its name. */
interface NewAddress {
  readonly remote: Remote & { readonly url: string };
  readonly url: string;
  /** Whose the token is there; undefined where the service has not told. */
  readonly told?: ToldOwner | undefined;
}

/** What somebody is told before a remote gets another address. */
export interface MovedService {
  readonly name: string;
  /** The address until now. */
  readonly from: string;
  /** Both addresses and whose both are, in a sentence without its end. */
  readonly both: string;
  /** Why it can't be the same service; undefined: nothing speaks against it. */
  readonly refusal: string | undefined;
}

/** The remote of that name, if it is at another address than this one. */
export function findAtOther(
  remotes: readonly Remote[],
  { name, url }: { readonly name?: string | undefined; readonly url?: string | undefined },
): NewAddress["remote"] | undefined {
  const known = remotes.find((each) => each.name === name);
  if (known?.url === undefined || url === undefined) return undefined;
  return isSameAddress(url, known.url) ? undefined : { ...known, url: known.url };
}

/** Describes the change before it is made. */
export async function describeMoved(
  db: Db,
  { remote, url, told }: NewAddress,
): Promise<MovedService> {
  const { name, url: from } = remote;
  const owner = await findOwner(db, remote);
  const isOthers = owner !== undefined && told !== undefined && areOthers(owner, told);
  const both = `${name} is at ${from}${whose(owner)}, and this token is for ${url}${whose(told)}`;
  const mend =
    `give a token of ${owner?.user ?? owner?.name}, or log in under another name than ${name}, ` +
    `by \`memsync login --url ${url} --remote NAME\``;
  return { name, from, both, refusal: isOthers ? `${both}: ${mend}` : undefined };
}

function whose(owner: ToldOwner | undefined): string {
  const shown = owner === undefined ? "" : ownerShown(owner);
  return shown === "" ? "" : ` (${shown})`;
}

/**
 * Gives a remote another address. `movedFrom`: the address until now, which somebody has agreed to
 * leave who was told both. The next contact is a first one, and whose the memories are stays known.
 * The token of the former address is not used at the new one.
 */
export async function giveAddress(
  { db, now }: WriteContext<DaemonTables>,
  given: NewAddress,
  movedFrom: string | undefined,
): Promise<Remote> {
  const { remote, url } = given;
  const { both, refusal } = await describeMoved(db, given);
  if (refusal !== undefined) throw new AppError("invalid_request", refusal);
  if (movedFrom === undefined || !isSameAddress(movedFrom, remote.url)) {
    throw new AppError("invalid_request", `${both}: nobody has agreed to that`);
  }
  const owner = await findOwner(db, remote);
  const moved = { ...remote, url };
  await setAddress(db, remote.name, url);
  await setTokenPlace(db, remote.name, undefined);
  await forgetOtherServices(db, remote.account, serviceNameOf(moved));
  if (owner) {
    const heard = { name: owner.name, user: owner.user, plan: null, users: null };
    await keepHeard(db, moved, { heard, now });
  }
  // Where the former token is, so that the new one takes its place.
  return moved;
}
