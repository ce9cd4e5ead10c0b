import type { EmulatorFaults } from "./faults.ts";
import type { OfToken } from "./of-token.ts";
import type { EmulatorRequests, EmulatorViolations } from "./requests.ts";
import type { EmulatorSeed, EmulatorSnapshots } from "./state.ts";

/** A time: ISO 8601, milliseconds since the Unix epoch, or a `Date`. */
export type EmulatorTime = string | number | Date;

/** How long: milliseconds, or a number with `ms`, `s`, `m`, `h` or `d`, such as "2h". */
export type EmulatorDuration = number | string;

/** What a reset forgets. */
export type ResetScope = "all" | "data" | "limits" | "faults" | "requests";

/** How much a reset has forgotten. */
export interface Cleared {
  readonly memories: number;
  readonly projects: number;
  readonly requests: number;
  readonly faults: number;
  /**
   * How many tokens that tests made are no longer valid: a reset of the data of all accounts takes
   * them back.
   */
  readonly tokens: number;
}

/** What the clock shows. */
export interface ClockReading {
  readonly now: string;
  readonly frozen: boolean;
  /**
   * How far the clock is ahead of the real time. While it stands still: how far it was moved. A
   * clock that was stopped at a given time begins at 0, so that the value repeats.
   */
  readonly offsetMs: number;
}

/** What a move of the clock has done. */
export interface ClockMoved extends ClockReading {
  /** The times of what fell due on the way and has run, in order. */
  readonly ran: readonly string[];
}

/** The emulator's clock. All tokens share it: a test that drives it needs its own emulator. */
export interface EmulatorClock {
  read(): ClockReading;
  /** It stands still, now or at a time. */
  freeze(at?: EmulatorTime): Promise<ClockMoved>;
  /** Goes to a time. What falls due on the way forward has run when this resolves. */
  set(to: EmulatorTime): Promise<ClockMoved>;
  /** Goes forward. What falls due on the way has run when this resolves. */
  advance(by: EmulatorDuration): Promise<ClockMoved>;
  /** It runs again, from the time that it shows. */
  resume(): Promise<ClockMoved>;
}

/** A change of limits. What is left out stays. */
export interface LimitChange extends OfToken {
  readonly plan?: "pro" | "team" | undefined;
  /** Nothing is left of this window, until it moves on; needs `token`. */
  readonly exhaust?: "minute" | "day" | undefined;
  /** How many requests are left of what `exhaust` names; 0 when left out. */
  readonly left?: number | undefined;
  /** Whether requests go unlimited. */
  readonly off?: boolean | undefined;
}

/** What a token of one's own is for. */
export interface EmulatorTokenRequest {
  /** The account's name, the NAME of `mst_dev_NAME`; one that nobody has when left out. */
  readonly account?: string | undefined;
  readonly plan?: "pro" | "team" | undefined;
  /** A user of the account; its first one when left out. */
  readonly user?: string | undefined;
  /** `read` and `write` when left out. */
  readonly scopes?: readonly ("read" | "write")[] | undefined;
  /** The projects to which it is restricted; to none when left out. */
  readonly projects?: readonly string[] | undefined;
  /** Until when it is valid, by the emulator's clock; for ever when left out. */
  readonly expiresAt?: EmulatorTime | undefined;
}

/** A token that was made, and what it is for. */
export interface MadeToken {
  readonly token: string;
  readonly account: string;
  readonly plan: "pro" | "team";
  readonly scopes: readonly ("read" | "write")[];
  readonly projects: readonly string[] | null;
  readonly expiresAt: string | null;
}

/** A path that is served. */
export interface ServedRoute {
  readonly method: string;
  readonly path: string;
  /** Whether the specification has it. */
  readonly published: boolean;
}

/**
 * What tests may do to an emulator; `/_emulator/*` does the same over HTTP.
 *
 * ```
 * await emulator.limits.set({ token: emulator.token, exhaust: "minute" });
 * await emulator.clock.advance("1m");
 * ```
 */
export interface EmulatorControls {
  /** Forgets: everything, or what the scope names, of all accounts or of one. */
  reset(options?: OfToken & { readonly scope?: ResetScope | undefined }): Promise<Cleared>;
  /** Writes into the account of a token, `mst_dev_pro` when left out, beside what is there. */
  seed(
    seed: EmulatorSeed,
    of?: OfToken,
  ): Promise<{ readonly projects: number; readonly memories: number }>;
  /** The same in place of what is there. */
  import(
    seed: EmulatorSeed,
    of?: OfToken,
  ): Promise<{ readonly projects: number; readonly memories: number }>;
  /** What a token's account has, as a seed that gives the same, sessions of no project apart. */
  export(of?: OfToken): Promise<EmulatorSeed>;
  readonly snapshots: EmulatorSnapshots;
  readonly clock: EmulatorClock;
  /** Ids repeat from here on for this seed; null: they are random. */
  random(seed: string | number | null): void;
  readonly faults: EmulatorFaults;
  readonly requests: EmulatorRequests;
  readonly violations: EmulatorViolations;
  readonly limits: {
    set(change: LimitChange): Promise<void>;
  };
  readonly tokens: {
    create(request?: EmulatorTokenRequest): MadeToken;
  };
  routes(): readonly ServedRoute[];
}
