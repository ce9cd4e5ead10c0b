import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { AccountId } from "../../shared/ids.ts";

const TOKEN_BYTES = 24;
/** Whom no remote's account is. */
const ALL = "all";
export const KEY_BYTES = 32;

/**
 * The tokens of one gateway: one that reaches all remotes, and another one for each remote, which
 * is an HMAC of its account. All are made with a key that nobody is told, so that none can be made
 * from others, however many somebody has. A remote that is removed takes its token along, since its
 * account never comes again. Another key has none of these tokens.
 */
export class GatewayTokens {
  /** Reaches all remotes. */
  readonly forAll: string;
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
    this.forAll = this.#tokenOf(ALL);
  }

  /** The token that reaches the remote of this account alone. */
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

  /** The remote that a token reaches; undefined when it is the token of none of these. */
  remoteOf<Of extends { readonly account: AccountId }>(
    token: string,
    remotes: readonly Of[],
  ): Of | undefined {
    // Each is compared, so that the time does not tell which of them it was.
    return remotes.filter(({ account }) => isSame(token, this.of(account)))[0];
  }
}

/** Takes the same time wherever the two differ. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(sha256(given), sha256(token));
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
