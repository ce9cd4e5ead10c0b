import { resultOf, type SeedResult } from "./run-seed.ts";
import { SCENARIOS } from "./scenarios/scenarios.ts";
import { checkAll, settle } from "./settle.ts";
import { Stage } from "./stage.ts";

/** Plays the scenario of this number, from 1. To be called as `runSeed`. */
export function runScenario(number: number, folder: string): SeedResult {
  const scenario = SCENARIOS[number - 1];
  if (!scenario) throw new Error(`there is no scenario ${number}`);
  const stage = new Stage(scenario.cast ?? {}, folder);
  return resultOf(number, stage.cluster, (cluster) => {
    cluster.note(scenario.name);
    scenario.play(stage);
    if (cluster.problems.length > 0) return 0;
    settle(cluster);
    return checkAll(cluster);
  });
}
