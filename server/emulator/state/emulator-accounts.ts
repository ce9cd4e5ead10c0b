import { AppError } from "../../../shared/errors.ts";
import { type AccountId, asUserId, base32, type ProjectId } from "../../../shared/ids.ts";
import type { World } from "../../../shared/world.ts";
import { mintToken } from "../../accounts/token.ts";
import { REFUSED_TOKEN } from "../../http/refused-token.ts";
import { PLAN_LIMITS, type PlanLimits } from "../../limits/plans.ts";
import type { Caller } from "../../services/services.ts";
import { type AccountPlan, accountOfName, callerOfDevToken, devTokenOf } from "./dev-tokens.ts";

/** What a made token is for. */
export interface WantedToken {
  /** The account's name, as in `mst_dev_NAME`. */
  readonly account: string;
  /** A user of that account; its first one when left out. */
  readonly user?: string | undefined;
  readonly canWrite: boolean;
  readonly boundTo: readonly ProjectId[] | null;
  /** Milliseconds since the Unix epoch; never when left out. */
  readonly expiresAt?: number | undefined;
}

/** What differs from the start for one account, or for all. */
interface Rules {
  readonly plan?: AccountPlan | undefined;
  readonly off?: boolean | undefined;
}

const NAME_BYTES = 5;

/** How many tokens that resets took back are remembered. Older ones are like any unknown token. */
const TAKEN_BACK_MAX = 10_000;

const TAKEN_BACK = "a reset of the emulator took this token back: make one after the reset";

/**
 * The emulator's accounts: who a token is of, and which limits hold for them.
 *
 * ```
 * accounts.find("mst_dev_w1"); // the account `acct_dev_w1`
 * ```
 */
export class EmulatorAccounts {
  readonly #made = new Map<string, { readonly caller: Caller; readonly expiresAt: number }>();
  /** Made here, and gone with a reset. */
  #takenBack = new Set<string>();
  readonly #rules = new Map<AccountId, Rules>();
  #common: Rules = {};

  constructor(
    readonly world: World,
    readonly start: { readonly plan: AccountPlan; readonly limits: "on" | "off" },
  ) {}

  /** Undefined for a token that is nobody's, or that has expired. */
  find(token: string): Caller | undefined {
    const made = this.#made.get(token);
    const isOver = made !== undefined && made.expiresAt <= this.world.now();
    const caller = made?.caller ?? callerOfDevToken(token, this.start.plan);
    if (!caller || isOver) return undefined;
    const plan = this.#rules.get(caller.account)?.plan ?? this.#common.plan;
    return plan === undefined || plan === caller.plan ? caller : { ...caller, plan };
  }

  /** Throws a 400 for a token that is nobody's. */
  get(token: string): Caller {
    const caller = this.find(token);
    if (caller) return caller;
    const why = this.#takenBack.has(token)
      ? TAKEN_BACK
      : "token is nobody's: mst_dev_NAME is, for any NAME";
    throw new AppError("invalid_request", why);
  }

  /** Why `find` does not find a token. Only said of tokens that were made here. */
  whyRefused(token: string): string {
    return this.#takenBack.has(token) ? TAKEN_BACK : REFUSED_TOKEN;
  }

  /** The name of an account that nobody has. */
  newName(): string {
    const made = new Set([...this.#made.values()].map(({ caller }) => caller.account));
    const draw = () => `made-${base32(this.world.randomBytes(NAME_BYTES))}`;
    let name = draw();
    while (made.has(accountOfName(name))) name = draw();
    return name;
  }

  /** The plan of the account of this name. */
  planOf(name: string): AccountPlan {
    return this.get(devTokenOf(name)).plan;
  }

  /** A token that nobody had before. */
  make({ account: name, user, canWrite, boundTo, expiresAt }: WantedToken): string {
    let token = mintToken(this.world);
    while (this.#made.has(token)) token = mintToken(this.world);
    const account = accountOfName(name);
    const expires = expiresAt ?? Number.POSITIVE_INFINITY;
    const caller: Caller = {
      account,
      user: asUserId(`user_dev_${name}${user === undefined ? "" : `_${user}`}`),
      tokenId: `tok_${token.slice(-10)}`,
      plan: callerOfDevToken(devTokenOf(name), this.start.plan)?.plan ?? this.start.plan,
      canWrite,
      boundTo,
      expiresAt,
      assertValid: () => {
        if (expires > this.world.now()) return;
        throw new AppError("unauthorized", REFUSED_TOKEN);
      },
    };
    this.#made.set(token, { caller, expiresAt: expires });
    // With a seed that began again, the same token may be drawn once more: it is valid now.
    this.#takenBack.delete(token);
    return token;
  }

  /** Of all accounts; the fixed ones stay. Returns how many there were. */
  forgetTokens(): number {
    const count = this.#made.size;
    const taken = [...this.#takenBack, ...this.#made.keys()];
    this.#takenBack = new Set(taken.slice(-TAKEN_BACK_MAX));
    this.#made.clear();
    return count;
  }

  /** Undefined where nothing is limited. */
  readonly limitsOf = ({ account, plan }: Caller): PlanLimits | undefined => {
    const off = this.#rules.get(account)?.off ?? this.#common.off ?? this.start.limits === "off";
    return off ? undefined : PLAN_LIMITS[plan];
  };

  /** Sets rules for one account, or for all without one. What is left out stays as it was. */
  rule(account: AccountId | undefined, { plan, off }: Rules): void {
    const before = account === undefined ? this.#common : this.#rules.get(account);
    const rules = { plan: plan ?? before?.plan, off: off ?? before?.off };
    if (account !== undefined) this.#rules.set(account, rules);
    else {
      this.#common = rules;
      this.#rules.clear();
    }
  }

  /** The rules of the start hold again. */
  forgetRules(account: AccountId | undefined): void {
    if (account !== undefined) this.#rules.delete(account);
    else {
      this.#common = {};
      this.#rules.clear();
    }
  }
}
