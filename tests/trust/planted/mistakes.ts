import { EMULATOR } from "./emulator.ts";
import { FOLLOWED } from "./followed.ts";
import { HOOKS } from "./hooks.ts";
import { MCP } from "./mcp.ts";
import { MEMORIES } from "./memories.ts";
import type { Mistake } from "./mistake.ts";
import { SESSIONS } from "./sessions.ts";

export type { Mistake };

/** Mistakes in what the simulation does not run. */
export const MISTAKES: readonly Mistake[] = [
  ...SESSIONS,
  ...MCP,
  ...MEMORIES,
  ...HOOKS,
  ...FOLLOWED,
  ...EMULATOR,
];
