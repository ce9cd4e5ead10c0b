import { readMachineStatus } from "../../daemon/status/machine-status.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { type Finding, noted } from "./finding.ts";

/** Whether another machine has this one's name. Finds nothing in an empty home. */
export async function checkMachineName(env: Environment): Promise<Finding[]> {
  const machine = await withLocal(env, async (db) => {
    return db && (await readMachineStatus(db, env.home, realWorld.now()));
    // What is wrong with the database is a finding of its own.
  }).catch(() => undefined);
  if (!machine) return [];
  const { name, note } = machine;
  if (note === null) return [noted("name-alone", name)];
  return [
    noted("name-trouble", `${name}: ${note}`, "give each machine of an account its own name"),
  ];
}
