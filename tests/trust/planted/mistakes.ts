import { EMULATOR } from "./emulator.ts";
import { FOLLOWED } from "./followed.ts";
import { HOOKS } from "./hooks.ts";
import { MARKS } from "./marks.ts";
import { MCP } from "./mcp.ts";
import { MEMORIES } from "./memories.ts";
import { MERGING } from "./merging.ts";
import type { Mistake } from "./mistake.ts";
import { PERSONAL } from "./personal.ts";
import { POSTGRES } from "./postgres.ts";
import { SESSIONS } from "./sessions.ts";

export type { Mistake };

/** Mistakes in what the simulation does not run, or not in CI's time. */
export const MISTAKES: readonly Mistake[] = [
  ...SESSIONS,
  ...MARKS,
  ...MCP,
  ...MEMORIES,
  ...MERGING,
  ...HOOKS,
  ...FOLLOWED,
  ...EMULATOR,
  ...PERSONAL,
  ...POSTGRES,
];
