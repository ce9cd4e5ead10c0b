// What a person types: every command of `memsync`, with the file of `cli/commands/` that has it.
// Nothing below may import from `cli/`; it is the roof.

import type { Command } from "commander";
import type { Environment } from "./place/environment.ts";

/**
 * The commands that one module adds to the command line.
 *
 * ```
 * const group: CommandGroup = {
 *   names: ["logs"],
 *   load: async () => (await import("./commands/logs.ts")).addLogsCommand,
 * };
 * ```
 */
export interface CommandGroup {
  /** The first words of command lines that concern them. */
  readonly names: readonly string[];
  /** These commands describe all others, which have to be loaded first. */
  readonly needsAll?: true;
  /** Loads their code. No other command waits for it. */
  load(): Promise<(program: Command, env: Environment) => void>;
}

/** All commands, in the order of the help. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { names: ["up"], load: async () => (await import("./commands/up.ts")).addUpCommand },
  {
    names: ["start", "stop", "restart", "daemon"],
    load: async () => (await import("./commands/lifecycle.ts")).addLifecycleCommands,
  },
  {
    names: ["install", "uninstall"],
    load: async () => (await import("./commands/install.ts")).addInstallCommands,
  },
  { names: ["logs"], load: async () => (await import("./commands/logs.ts")).addLogsCommand },
  {
    names: ["status", "link", "unlink", "sync", "env"],
    load: async () => (await import("./commands/daemon.ts")).addDaemonCommands,
  },
  {
    names: ["projects", "project"],
    load: async () => (await import("./commands/project.ts")).addProjectCommands,
  },
  {
    names: ["login", "logout"],
    load: async () => (await import("./commands/login.ts")).addLoginCommands,
  },
  {
    names: ["remote"],
    load: async () => (await import("./commands/remotes.ts")).addRemoteCommands,
  },
  { names: ["doctor"], load: async () => (await import("./commands/doctor.ts")).addDoctorCommand },
  {
    names: ["set", "add", "get", "list", "rm"],
    load: async () => (await import("./commands/memories.ts")).addMemoryCommands,
  },
  { names: ["move"], load: async () => (await import("./commands/move.ts")).addMoveCommand },
  { names: ["search"], load: async () => (await import("./commands/search.ts")).addSearchCommand },
  {
    names: ["history", "restore"],
    load: async () => (await import("./commands/history.ts")).addHistoryCommands,
  },
  { names: ["doc"], load: async () => (await import("./commands/doc.ts")).addDocCommand },
  {
    names: ["conflicts"],
    load: async () => (await import("./commands/conflicts.ts")).addConflictCommands,
  },
  { names: ["stats"], load: async () => (await import("./commands/stats.ts")).addStatsCommand },
  {
    names: ["sessions"],
    load: async () => (await import("./commands/sessions.ts")).addSessionsCommand,
  },
  {
    names: ["connect", "disconnect"],
    load: async () => (await import("./commands/connect.ts")).addConnectCommands,
  },
  { names: ["held"], load: async () => (await import("./commands/held.ts")).addHeldCommands },
  { names: ["lines"], load: async () => (await import("./commands/lines.ts")).addLinesCommand },
  { names: ["setup"], load: async () => (await import("./commands/setup.ts")).addSetupCommand },
  {
    names: ["auto-memory", "serena", "rules"],
    load: async () => (await import("./commands/memory-folders.ts")).addMemoryFolderCommands,
  },
  {
    names: ["personal"],
    load: async () => (await import("./commands/personal.ts")).addPersonalCommand,
  },
  { names: ["mcp"], load: async () => (await import("./commands/mcp.ts")).addMcpCommand },
  { names: ["hook"], load: async () => (await import("./commands/hook.ts")).addHookCommand },
  {
    names: ["export", "import"],
    load: async () => (await import("./commands/transfer.ts")).addTransferCommands,
  },
  {
    names: ["preview"],
    load: async () => (await import("./commands/preview.ts")).addPreviewCommand,
  },
  {
    names: ["emulator"],
    load: async () => (await import("./commands/emulator.ts")).addEmulatorCommand,
  },
  { names: ["exec"], load: async () => (await import("./commands/exec.ts")).addExecCommand },
  { names: ["server"], load: async () => (await import("./commands/server.ts")).addServerCommands },
  {
    names: ["conformance"],
    load: async () => (await import("./commands/conformance.ts")).addConformanceCommand,
  },
  { names: ["demo"], load: async () => (await import("./commands/demo.ts")).addDemoCommand },
  {
    names: ["completion", "complete"],
    needsAll: true,
    load: async () => (await import("./commands/completion.ts")).addCompletionCommands,
  },
];

/** Options that the program itself answers, without a command. */
const OF_THE_PROGRAM = ["-V", "--version"];

/**
 * Adds the commands for a command line that begins with `first`: those of its group; or all, if it
 * names none, as in a request for help or a mistyped command.
 */
export async function addCommands(
  program: Command,
  env: Environment,
  first: string | undefined,
): Promise<void> {
  if (first !== undefined && OF_THE_PROGRAM.includes(first)) return;
  const named = COMMAND_GROUPS.find(({ names }) => first !== undefined && names.includes(first));
  const groups = named && !named.needsAll ? [named] : COMMAND_GROUPS;
  const add = await Promise.all(groups.map((group) => group.load()));
  for (const each of add) each(program, env);
}
