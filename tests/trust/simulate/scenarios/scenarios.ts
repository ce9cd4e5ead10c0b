import { EDITS } from "./edits.ts";
import { FILES } from "./files.ts";
import { LOGS } from "./logs.ts";
import { PLACES } from "./places.ts";
import type { Scenario } from "./scenario.ts";

/** All of them. */
export const SCENARIOS: readonly Scenario[] = [...EDITS, ...FILES, ...LOGS, ...PLACES];
