import type { Cast } from "../cast.ts";
import type { Stage } from "../stage.ts";

/** A small run that goes the same way each time. Where it ends, everything comes to rest. */
export interface Scenario {
  /** What it shows. */
  readonly name: string;
  readonly cast?: Partial<Cast>;
  /** Tells the stage of everything that is not as it should be. */
  play(stage: Stage): void;
}
