// The life of a home's daemon, without any daemon: damage makes it end and start over.
//
//   starting ──started──▶ running ──damaged──▶ ending ──ended──▶ starting
//      │                     │                    │
//      │                     │                    └─failed────────────────┐
//      │                     └─failed or damaged (once too often)─────────┤
//      └─failed───────────────────────────────────────────────────────────┴─▶ failed
//
// `stopped` is for good, from any state. Each start repairs a damaged database first. The table of
// all states and events is in docs/design/supervision.md, and a test compares this file with it.

/** After this many rebuilds the disk is taken for broken, and no more copies are written to it. */
const REBUILDS_MAX = 3;

/**
 * - `starting`: the database is checked, repaired if necessary, and a daemon started over it.
 * - `running`: the daemon runs.
 * - `ending`: its database turned out to be damaged, so it is being stopped.
 * - `failed`: it can't go on, and its owner was told.
 * - `stopped`: its owner has ended it.
 */
export type LifePhase = (typeof LIFE_PHASES)[number];

export const LIFE_PHASES = ["starting", "running", "ending", "failed", "stopped"] as const;

/** Where the daemon is in its life. */
export interface LifeState {
  readonly phase: LifePhase;
  /** How often the database was rebuilt since this process began. */
  readonly rebuilds: number;
}

export const LIFE_BEGUN: LifeState = { phase: "starting", rebuilds: 0 };

/** `damaged`: the database turned out to be. `failed`: the daemon could not be started or ended. */
export type LifeEvent = "started" | "damaged" | "ended" | "failed" | "stop";

/**
 * `start`: check the database and start a daemon. `end`: stop the one that runs. `give-up`: tell
 * the owner that it can't go on.
 */
export type LifeEffect = "start" | "end" | "give-up";

/** The state after an event, and what to do; undefined: nothing. */
export interface LifeStep {
  readonly state: LifeState;
  readonly effect: LifeEffect | undefined;
}

/**
 * The state after an event, and what to do.
 *
 * ```
 * stepLife({ phase: "running", rebuilds: 0 }, "damaged").effect; // "end"
 * ```
 */
export function stepLife(state: LifeState, event: LifeEvent): LifeStep {
  const to = (phase: LifePhase, effect?: LifeEffect): LifeStep => {
    return { state: { ...state, phase }, effect };
  };
  const { phase, rebuilds } = state;
  if (event === "stop" || phase === "stopped") return to("stopped");
  if (event === "failed" && phase !== "failed") return to("failed", "give-up");
  if (event === "started" && phase === "starting") return to("running");
  if (event === "ended" && phase === "ending") return to("starting", "start");
  // A daemon that is just starting fails by itself, and its next start repairs the database.
  if (event !== "damaged" || phase !== "running") return to(phase);
  if (rebuilds >= REBUILDS_MAX) return to("failed", "give-up");
  return { state: { phase: "ending", rebuilds: rebuilds + 1 }, effect: "end" };
}
