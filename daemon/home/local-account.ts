import { type AccountId, asAccountId, asUserId, base32 } from "../../shared/ids.ts";
import type { World } from "../../shared/world.ts";

/** Owns everything in a home until remotes have names. */
export const LOCAL_ACCOUNT = asAccountId("local");
/** The one user of a home. */
export const LOCAL_USER = asUserId("local");

const RANDOM_BYTES = 10;

/**
 * The account of a new remote. Never one that was used before, even for the same name: its old
 * documents would come back.
 */
export function randomAccount(world: World, remote: string): AccountId {
  return asAccountId(`${LOCAL_ACCOUNT}/${remote}/${base32(world.randomBytes(RANDOM_BYTES))}`);
}
