import type { Dice } from "./dice.ts";

/** How badly things go: probabilities, and milliseconds. */
export interface Weather {
  readonly latencyMs: number;
  readonly lostRequest: number;
  readonly lostAnswer: number;
  readonly doubled: number;
  /** Answers that the service itself never gave. */
  readonly busy: number;
  readonly broken: number;
  readonly garbage: number;
  readonly refusedUnit: number;
  readonly lostFrame: number;
  readonly doubledFrame: number;
  readonly lateFrame: number;
  /** File-system events that never come. */
  readonly lostEvent: number;
}

export const CALM: Weather = {
  latencyMs: 20,
  lostRequest: 0,
  lostAnswer: 0,
  doubled: 0,
  busy: 0,
  broken: 0,
  garbage: 0,
  refusedUnit: 0,
  lostFrame: 0,
  doubledFrame: 0,
  lateFrame: 0,
  lostEvent: 0,
};

/** Some runs have little trouble and some have every kind, so that each kind is met by itself. */
export function drawWeather(dice: Dice): Weather {
  const sometimes = (probability: number) => (dice.chance(0.5) ? probability : 0);
  return {
    latencyMs: dice.pick([5, 50, 400]),
    lostRequest: sometimes(0.1),
    lostAnswer: sometimes(0.15),
    doubled: sometimes(0.1),
    busy: sometimes(0.05),
    broken: sometimes(0.05),
    garbage: sometimes(0.04),
    refusedUnit: sometimes(0.03),
    lostFrame: sometimes(0.15),
    doubledFrame: sometimes(0.1),
    lateFrame: sometimes(0.2),
    lostEvent: sometimes(0.2),
  };
}
