import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import { keepHeard } from "../home/audience-store.ts";
import { findOwner } from "../home/former-service.ts";
import { listRemotes } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { areOthers, ownerShown } from "./others-token.ts";

type Db = Kysely<DaemonTables>;

/** From which account to which something is moved. */
interface OwnersMove {
  readonly from: AccountId;
  readonly to: AccountId;
}

/** What is to be moved is another account's or user's than what is at the new place. */
export interface OfAnother {
  /** Whose both are, in a sentence without its end. */
  readonly whose: string;
  /** The command that moves what the embedded service has of its owner to that one's service. */
  readonly way: string;
}

/**
 * Tells whether what one remote has is known to be of another account or user than what the other
 * has. The embedded service has an owner if it has what was at a service before. Undefined: nothing
 * speaks against a move.
 */
export async function findOfAnother(
  db: Db,
  { from, to }: OwnersMove,
): Promise<OfAnother | undefined> {
  const owner = await findOwner(db, { account: from });
  const other = await findOwner(db, { account: to });
  if (!owner || !other || !areOthers(owner, other)) return undefined;
  const remotes = await listRemotes(db);
  const named = (account: AccountId) => remotes.find((each) => each.account === account)?.name;
  let theirs = `--url ${owner.service} --remote NAME`;
  for (const { name, url, account } of remotes) {
    const its = url === undefined ? undefined : await findOwner(db, { account });
    if (its && account !== from && !areOthers(owner, its)) theirs = `--remote ${name}`;
  }
  return {
    whose:
      `what is at ${named(from) ?? "its remote"} is ${ownerShown(owner)}, and ` +
      `${named(to) ?? "the other remote"} is ${ownerShown(other)}`,
    way: `\`memsync login ${theirs} --move\` with a token of ${owner.user ?? owner.name}`,
  };
}

/** The same of what the embedded service has; null: none of it is known to be of another. */
export async function findEmbeddedOfAnother(db: Db, to: AccountId): Promise<OfAnother | null> {
  const embedded = (await listRemotes(db)).find(({ url }) => url === undefined);
  return (embedded && (await findOfAnother(db, { from: embedded.account, to }))) ?? null;
}

/**
 * Refuses to give what is one owner's to another. `ofAnother`: a person has agreed to it who was
 * told whose both are.
 */
export async function refuseOwners(
  db: Db,
  { ofAnother, ...move }: OwnersMove & { readonly ofAnother?: boolean | undefined },
): Promise<void> {
  const found = ofAnother ? undefined : await findOfAnother(db, move);
  if (!found) return;
  throw new AppError(
    "invalid_request",
    `nothing was moved: ${found.whose}; --of-another moves it nevertheless`,
  );
}

/** What comes to the embedded service, where that is nobody's yet, makes it that of its owner. */
export async function keepOwner(db: Db, { from, to }: OwnersMove, now: number): Promise<void> {
  const owner = await findOwner(db, { account: from });
  if (!owner || (await findOwner(db, { account: to }))) return;
  const heard = { name: owner.name, user: owner.user, plan: null, users: null };
  await keepHeard(db, { url: owner.service, account: to }, { heard, now });
}
