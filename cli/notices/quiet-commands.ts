/** At the end of these nothing more is said: they run on, or run a program, or for a shell. */
export const QUIET_COMMANDS: readonly string[] = [
  "up",
  "daemon",
  "server",
  "emulator",
  "exec",
  "complete",
  "completion",
  "conformance",
  "demo",
  "mcp",
  "hook",
];
