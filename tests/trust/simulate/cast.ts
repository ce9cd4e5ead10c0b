import type { Dice } from "./dice.ts";
import type { GitMode } from "./git/clone.ts";
import { drawWeather, type Weather } from "./weather.ts";

const MACHINES_MAX = 3;

/** What there is in a run. */
export interface Cast {
  readonly machines: number;
  readonly projects: number;
  readonly services: 1 | 2;
  readonly clocksAreWrong: boolean;
  readonly limits: "on" | "off";
  /** Whether the services know exchanges about several projects; older ones don't. */
  readonly batches: boolean;
  readonly weather: Weather;
  /** How git stands to the followed files, where the folders are clones. */
  readonly git: GitMode | undefined;
  /** Whether files that git tracks are written, too. */
  readonly write: boolean;
  /** Whether people keep files open, and move, copy and empty things, besides adding lines. */
  readonly rough: boolean;
  /** Whether homes and folders are moved, and homes put back to copies. */
  readonly moves: boolean;
}

/** Some runs have much in them and some little, so that each thing is met by itself, too. */
export function drawCast(dice: Dice): Cast {
  const weather = drawWeather(dice);
  const git = dice.chance(0.3)
    ? dice.pick(["tracked", "untracked", "ignored"] as const)
    : undefined;
  return {
    machines: 2 + dice.below(MACHINES_MAX - 1),
    projects: dice.chance(0.4) ? 2 + dice.below(2) : 1,
    services: dice.chance(0.15) ? 2 : 1,
    clocksAreWrong: dice.chance(0.3),
    limits: dice.chance(0.5) ? "on" : "off",
    batches: dice.chance(0.75),
    weather,
    git,
    write: dice.chance(0.7),
    rough: dice.chance(0.5),
    moves: dice.chance(0.25),
  };
}
