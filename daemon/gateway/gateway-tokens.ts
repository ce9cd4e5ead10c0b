import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { AccountId } from "../../shared/ids.ts";

const TOKEN_BYTES = 24;
/** In place of an account, for the token that reaches all remotes. No account has this name. */
const ALL = "all";
export const KEY_BYTES = 32;

/**
 * The tokens of one gateway: one for all remotes, and one for each remote, which is an HMAC of its
 * account. The key is known to nobody else, so no token can be computed from others. An account is
 * never used again, so a removed remote's token is valid for no later one. A new key makes all
 * tokens invalid.
 */
export class GatewayTokens {
  /** Valid for all remotes. */
  readonly forAll: string;
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
    this.forAll = this.#tokenOf(ALL);
  }

  /** The token that is valid only for the remote of this account. */
  of(account: AccountId): string {
    return this.#tokenOf(`remote ${account}`);
  }

  #tokenOf(whom: string): string {
    const digest = createHmac("sha256", this.#key).update(whom).digest();
    return `mst_local_${digest.subarray(0, TOKEN_BYTES).toString("base64url")}`;
  }

  isForAll(token: string): boolean {
    return isSame(token, this.forAll);
  }

  /** The remote that a token is valid for; undefined for any other token. */
  remoteOf<Of extends { readonly account: AccountId }>(
    token: string,
    remotes: readonly Of[],
  ): Of | undefined {
    // All are compared, so that the time does not tell which one it was.
    return remotes.filter(({ account }) => isSame(token, this.of(account)))[0];
  }
}

/** Takes equal time wherever the two differ. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(sha256(given), sha256(token));
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
