import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SettingsEntry, Syntax } from "./settings-text.ts";

/** A file of an assistant's settings, and what memsync needs in it. */
export interface SettingsFile {
  readonly path: string;
  readonly syntax: Syntax;
  readonly entries: readonly SettingsEntry[];
  /** The assistant's own command for that, where it has one. */
  readonly command?: OwnCommand;
}

/** What to run: a program and what it is given. */
export interface OwnCommand {
  readonly add: readonly [program: string, ...rest: string[]];
  readonly remove: readonly [program: string, ...rest: string[]];
}

/**
 * An assistant that memsync can be set up in, and where it keeps the settings of this user. Sources
 * of the formats: the assistants' own documentation of November 2026.
 *
 * ```
 * const [claude] = assistantsFor({ userFolder: homedir(), platform, variables: env });
 * claude?.files[1]?.path; // ".claude.json" in that folder
 * ```
 */
export interface Assistant {
  /** What it is called on a command line. */
  readonly id: string;
  readonly name: string;
  /** If one of these exists, the assistant is in use. */
  readonly traces: readonly string[];
  readonly program: string;
  readonly files: readonly SettingsFile[];
  /** What is left to do for the user. */
  readonly next?: string;
}

export interface Surroundings {
  readonly userFolder: string;
  readonly platform: NodeJS.Platform;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** By its id, or by its whole name: `claude` or `claude-code`. */
export function isCalled({ id, name }: Assistant, word: string): boolean {
  return word === id || word === name.toLowerCase().replaceAll(" ", "-");
}

/** The program is named as it is installed, without a path or a version: Codex trusts the text. */
const SERVER = { command: "memsync", args: ["mcp"] };

/** All that can be set up, in the order in which they are shown. */
export function assistantsFor(around: Surroundings): readonly Assistant[] {
  return [claude, codex, gemini, cursor, vscode, opencode, zed].map((each) => each(around));
}

function claude({ userFolder, variables }: Surroundings): Assistant {
  const folder = variables.CLAUDE_CONFIG_DIR || join(userFolder, ".claude");
  return {
    id: "claude",
    name: "Claude Code",
    traces: [folder],
    program: "claude",
    files: [
      hooksIn(join(folder, "settings.json"), ["SessionStart", "PostCompact", "SessionEnd"]),
      {
        path: join(variables.CLAUDE_CONFIG_DIR || userFolder, ".claude.json"),
        syntax: "json",
        entries: [server("mcpServers", { type: "stdio", ...SERVER, env: {} })],
        command: {
          add: ["claude", "mcp", "add", "--scope", "user", "memsync", "--", "memsync", "mcp"],
          remove: ["claude", "mcp", "remove", "--scope", "user", "memsync"],
        },
      },
    ],
  };
}

function codex({ userFolder, variables }: Surroundings): Assistant {
  const folder = variables.CODEX_HOME || join(userFolder, ".codex");
  return {
    id: "codex",
    name: "Codex",
    traces: [folder],
    program: "codex",
    files: [
      hooksIn(join(folder, "hooks.json"), ["SessionStart", "PostCompact", "SessionEnd"]),
      {
        path: join(folder, "config.toml"),
        syntax: "toml",
        entries: [server("mcp_servers", SERVER)],
        command: {
          add: ["codex", "mcp", "add", "memsync", "--", "memsync", "mcp"],
          remove: ["codex", "mcp", "remove", "memsync"],
        },
      },
    ],
    next: "Codex runs hooks once you trust them: `/hooks` in its next session",
  };
}

function gemini({ userFolder }: Surroundings): Assistant {
  const folder = join(userFolder, ".gemini");
  const path = join(folder, "settings.json");
  return {
    id: "gemini",
    name: "Gemini CLI",
    traces: [folder],
    program: "gemini",
    files: [
      hooksIn(path, ["SessionStart", "SessionEnd"]),
      {
        path,
        syntax: "json",
        entries: [server("mcpServers", SERVER)],
        command: {
          add: ["gemini", "mcp", "add", "--scope", "user", "memsync", "memsync", "mcp"],
          remove: ["gemini", "mcp", "remove", "--scope", "user", "memsync"],
        },
      },
    ],
  };
}

/** Cursor starts servers elsewhere than in the project, and so is told which one that is. */
function cursor({ userFolder }: Surroundings): Assistant {
  const folder = join(userFolder, ".cursor");
  const entries = ["session-start", "session-end"].map((event): SettingsEntry => {
    const command = `memsync hook ${event}`;
    const key = event === "session-start" ? "sessionStart" : "sessionEnd";
    return { kind: "item", keys: ["hooks", key], value: { command }, mark: command };
  });
  const version: SettingsEntry = { kind: "value", keys: ["version"], value: 1, isShared: true };
  const inProject = { ...SERVER, args: ["mcp", "--project", "$" + "{workspaceFolder}"] };
  return {
    id: "cursor",
    name: "Cursor",
    traces: [folder],
    program: "cursor",
    files: [
      { path: join(folder, "hooks.json"), syntax: "json", entries: [version, ...entries] },
      {
        path: join(folder, "mcp.json"),
        syntax: "json",
        entries: [server("mcpServers", inProject)],
      },
    ],
  };
}

/**
 * VS Code runs the hooks that are set up for Claude Code. Its own command can't remove a server.
 */
function vscode({ userFolder, platform, variables }: Surroundings): Assistant {
  const folders: Partial<Record<NodeJS.Platform, string>> = {
    darwin: join(userFolder, "Library", "Application Support"),
    win32: variables.APPDATA || join(userFolder, "AppData", "Roaming"),
  };
  const folder = join(folders[platform] ?? configFolder({ userFolder, variables }), "Code", "User");
  return {
    id: "vscode",
    name: "VS Code",
    traces: [folder],
    program: "code",
    files: [
      {
        path: join(folder, "mcp.json"),
        syntax: "json",
        entries: [server("servers", { type: "stdio", ...SERVER })],
      },
    ],
  };
}

function opencode(around: Surroundings): Assistant {
  const folder = join(configFolder(around), "opencode");
  const commented = join(folder, "opencode.jsonc");
  const value = { type: "local", command: ["memsync", "mcp"], enabled: true };
  return {
    id: "opencode",
    name: "OpenCode",
    traces: [folder],
    program: "opencode",
    files: [
      {
        path: existsSync(commented) ? commented : join(folder, "opencode.json"),
        syntax: "json",
        entries: [server("mcp", value)],
      },
    ],
  };
}

function zed(around: Surroundings): Assistant {
  const { platform, variables, userFolder } = around;
  const folder =
    platform === "win32"
      ? join(variables.APPDATA || join(userFolder, "AppData", "Roaming"), "Zed")
      : join(configFolder(around), "zed");
  return {
    id: "zed",
    name: "Zed",
    traces: [folder],
    program: "zed",
    files: [
      {
        path: join(folder, "settings.json"),
        syntax: "json",
        entries: [server("context_servers", { ...SERVER, env: {} })],
      },
    ],
  };
}

function configFolder({ userFolder, variables }: Omit<Surroundings, "platform">): string {
  return variables.XDG_CONFIG_HOME || join(userFolder, ".config");
}

function server(key: string, value: unknown): SettingsEntry {
  return { kind: "value", keys: [key, "memsync"], value };
}

/** The shape that Claude Code, Codex and Gemini CLI have in common. */
function hooksIn(path: string, events: readonly string[]): SettingsFile {
  const entries = events.map((event): SettingsEntry => {
    const command = `memsync hook ${dashed(event)}`;
    const value = { hooks: [{ type: "command", command }] };
    return { kind: "item", keys: ["hooks", event], value, mark: command };
  });
  return { path, syntax: "json", entries };
}

/** `SessionStart` is `session-start` on a command line. */
function dashed(event: string): string {
  return event.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
}
