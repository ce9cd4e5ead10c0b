import { readFileSync } from "node:fs";
import { networkInterfaces, uptime } from "node:os";
import type { Timer, World } from "../../shared/world.ts";

/**
 * Time between two checks. A machine that wakes up should be in step within two seconds, and each
 * check costs half a millisecond of processor time.
 */
const LOOK_MS = 1500;
/** Smaller differences between the clocks, or delays of a check, mean nothing. */
const GAP_MS_MIN = 5000;
const MS_PER_S = 1000;

/** What the machine tells about itself. */
export interface MachineSigns {
  /** Milliseconds since its start, sleep included. */
  uptimeMs(): number;
  /** A text that identifies the current networks. */
  networks(): string;
  /** A text that identifies the system, which a copy of a virtual machine is given anew; or "". */
  system(): string;
}

/** The signs of this machine. */
export const realSigns: MachineSigns = {
  uptimeMs: () => uptime() * MS_PER_S,
  networks: () => {
    const known = Object.entries(networkInterfaces());
    const all = known.flatMap(([name, each = []]) => {
      return each.filter(({ internal }) => !internal).map(({ cidr }) => `${name} ${cidr}`);
    });
    return all.sort().join("\n");
  },
  system: () => {
    try {
      return readFileSync("/etc/machine-id", "utf8");
    } catch {
      return "";
    }
  },
};

/** What the watch works with. */
export interface WakeWatchOptions {
  readonly world: World;
  readonly signs: MachineSigns;
  /**
   * Called when the machine was asleep, this process was stopped, or the networks changed.
   * Meanwhile the steady clock stood still for this many milliseconds.
   */
  readonly onWake: (stoodStillMs: number) => void;
  /**
   * Called before `onWake` when the system was suspended from outside, or was given another id: it
   * may be a copy of one that goes on elsewhere.
   */
  readonly onCopied: () => void;
}

interface Look {
  readonly wall: number;
  readonly steady: number;
  readonly uptime: number;
  readonly networks: string;
  readonly system: string;
}

/** Notices within two seconds that connections may be dead. */
export class WakeWatch {
  readonly #options: WakeWatchOptions;
  #last: Look;
  #timer: Timer | undefined;

  constructor(options: WakeWatchOptions) {
    this.#options = options;
    this.#last = this.#look();
  }

  start(): void {
    this.#timer = this.#options.world.setTimer(LOOK_MS, () => {
      this.#compare();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #compare(): void {
    const before = this.#last;
    const after = this.#look();
    this.#last = after;
    const steadyMs = after.steady - before.steady;
    const sleptMs = after.uptime - before.uptime - steadyMs;
    const stoodStillMs = sleptMs > GAP_MS_MIN ? sleptMs : 0;
    // If a virtual machine was suspended from outside, only the wall clock shows it.
    const jumpedMs = after.wall - before.wall - steadyMs;
    const isBack = Math.max(sleptMs, jumpedMs, steadyMs - LOOK_MS) > GAP_MS_MIN;
    const isElsewhere = after.networks !== before.networks && after.networks !== "";
    const isAnother = after.system !== before.system && after.system !== "";
    // A machine that sleeps by itself knows how long: that is no copy.
    if (jumpedMs - stoodStillMs > GAP_MS_MIN || isAnother) this.#options.onCopied();
    if (isBack || isElsewhere || isAnother) this.#options.onWake(stoodStillMs);
  }

  #look(): Look {
    const { world, signs } = this.#options;
    return {
      wall: world.now(),
      steady: world.monotonic(),
      uptime: signs.uptimeMs(),
      networks: signs.networks(),
      system: signs.system(),
    };
  }
}
