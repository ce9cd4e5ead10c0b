import { COMMITS } from "./commits.ts";
import { DELETIONS } from "./deletions.ts";
import { EDITS } from "./edits.ts";
import { FILES } from "./files.ts";
import { GONE } from "./gone.ts";
import { HISTORY } from "./history.ts";
import { LOGS } from "./logs.ts";
import { PLACES } from "./places.ts";
import type { Scenario } from "./scenario.ts";
import { UNSEEN } from "./unseen.ts";

/** All of them. */
export const SCENARIOS: readonly Scenario[] = [
  ...EDITS,
  ...UNSEEN,
  ...HISTORY,
  ...GONE,
  ...COMMITS,
  ...FILES,
  ...LOGS,
  ...DELETIONS,
  ...PLACES,
];
