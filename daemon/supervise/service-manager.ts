import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { atPath } from "../../shared/file-failures.ts";
import type { Home } from "../home/home.ts";
import { launchdAgent } from "./launchd-agent.ts";
import { canNotify } from "./notify-systemd.ts";
import { scheduledTask } from "./scheduled-task.ts";
import { type ServiceDefinition, serviceName } from "./service-definition.ts";
import { systemdUnit } from "./systemd-unit.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** A program and its arguments. */
type CommandLine = readonly string[];

/** What a service manager did; or why not, and what a person can do by hand. */
export type ManagerOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly reason: string; readonly byHand: readonly CommandLine[] };

/** How a platform's service manager is used: a file of its own, and commands. */
interface Platform {
  readonly file: string;
  readonly text: (definition: ServiceDefinition) => Promise<string> | string;
  readonly encoding: "utf8" | "utf16le";
  /** Fails where there is no such manager. */
  readonly probe: CommandLine;
  /** Run in this order even if one fails. Only the last one's result counts. */
  readonly enable: readonly CommandLine[];
  readonly disable: readonly CommandLine[];
  readonly start: CommandLine;
  readonly restart: readonly CommandLine[];
  /** After the file is gone. */
  readonly forget: readonly CommandLine[];
  /** Other files that enabling creates. */
  readonly traces: readonly string[];
}

const COMMAND_DEADLINE_MS = 60_000;
const PRIVATE_FILE = 0o600;

/** The service of one home, under the platform's service manager. */
export class ServiceManager {
  readonly #platform: Platform;

  constructor(home: Home, variables: Variables) {
    this.#platform = platformOf(home, variables);
  }

  /** The unit, agent or task description. */
  get file(): string {
    return this.#platform.file;
  }

  /** The commands that `enable` runs, for people who want to run them. */
  get enabling(): readonly CommandLine[] {
    return this.#platform.enable;
  }

  isInstalled(): boolean {
    return existsSync(this.file);
  }

  /** Undefined if the manager answers; else why it does not. */
  async trouble(): Promise<string | undefined> {
    const outcome = await runAll([this.#platform.probe]);
    return outcome.kind === "failed" ? outcome.reason : undefined;
  }

  async write(definition: ServiceDefinition): Promise<void> {
    const { file, text, encoding } = this.#platform;
    mkdirSync(dirname(file), { recursive: true });
    const mark = encoding === "utf16le" ? "\uFEFF" : "";
    const whole = mark + (await text(definition));
    const partial = `${file}.partial`;
    try {
      rmSync(partial, { force: true });
      writeFileSync(partial, whole, { encoding, mode: PRIVATE_FILE });
      renameSync(partial, file);
    } catch (thrown) {
      rmSync(partial, { force: true });
      throw atPath(thrown, file);
    }
  }

  /** Starts it, now and at each login. */
  async enable(): Promise<ManagerOutcome> {
    return await runAll(this.#platform.enable);
  }

  async start(): Promise<ManagerOutcome> {
    return await runAll([this.#platform.start]);
  }

  async restart(): Promise<ManagerOutcome> {
    return await runAll(this.#platform.restart);
  }

  /**
   * Stops it and removes everything that `write` and `enable` created. False: there was nothing.
   */
  async remove(): Promise<boolean> {
    const { file, disable, forget, traces } = this.#platform;
    const there = [file, ...traces].filter((path) => existsSync(path));
    if (there.length === 0) return false;
    await runAll(disable);
    for (const path of [file, ...traces]) rmSync(path, { force: true });
    await runAll(forget);
    return true;
  }
}

function platformOf(home: Home, variables: Variables): Platform {
  const name = serviceName(home);
  if (process.platform === "darwin") return launchd(name);
  if (process.platform === "win32") return taskScheduler(name, home, variables);
  return systemd(name, variables);
}

function systemd(name: string, variables: Variables): Platform {
  const unit = `${name}.service`;
  const folder = join(variables.XDG_CONFIG_HOME || join(homedir(), ".config"), "systemd", "user");
  const systemctl = (...words: readonly string[]) => ["systemctl", "--user", ...words];
  return {
    file: join(folder, unit),
    text: async (definition) => systemdUnit(definition, { notifies: await canNotify() }),
    encoding: "utf8",
    probe: systemctl("show-environment"),
    enable: [systemctl("daemon-reload"), systemctl("enable", "--now", unit)],
    disable: [systemctl("disable", "--now", unit)],
    start: systemctl("start", unit),
    restart: [systemctl("reset-failed", unit), systemctl("restart", unit)],
    forget: [systemctl("daemon-reload"), systemctl("reset-failed", unit)],
    traces: [join(folder, "default.target.wants", unit)],
  };
}

function launchd(name: string): Platform {
  const domain = `gui/${userInfo().uid}`;
  const file = join(homedir(), "Library", "LaunchAgents", `${name}.plist`);
  const job = `${domain}/${name}`;
  return {
    file,
    text: launchdAgent,
    encoding: "utf8",
    probe: ["launchctl", "print", domain],
    enable: [
      ["launchctl", "bootout", job],
      ["launchctl", "enable", job],
      ["launchctl", "bootstrap", domain, file],
    ],
    disable: [["launchctl", "bootout", job]],
    start: ["launchctl", "kickstart", job],
    restart: [["launchctl", "kickstart", "-k", job]],
    forget: [],
    traces: [],
  };
}

function taskScheduler(name: string, home: Home, variables: Variables): Platform {
  const file = join(home.dir, "scheduled-task.xml");
  const user = `${variables.USERDOMAIN ?? "."}\\${userInfo().username}`;
  return {
    file,
    text: (definition) => scheduledTask(definition, user),
    encoding: "utf16le",
    probe: ["schtasks", "/Query"],
    enable: [
      ["schtasks", "/Create", "/TN", name, "/XML", file, "/F"],
      ["schtasks", "/Run", "/TN", name],
    ],
    disable: [
      ["schtasks", "/End", "/TN", name],
      ["schtasks", "/Delete", "/TN", name, "/F"],
    ],
    start: ["schtasks", "/Run", "/TN", name],
    restart: [
      ["schtasks", "/End", "/TN", name],
      ["schtasks", "/Run", "/TN", name],
    ],
    forget: [],
    traces: [],
  };
}

async function runAll(commands: readonly CommandLine[]): Promise<ManagerOutcome> {
  let reason: string | undefined;
  for (const command of commands) reason = await run(command);
  return reason === undefined ? { kind: "done" } : { kind: "failed", reason, byHand: commands };
}

/** Undefined if it ended with 0; else what it printed. */
function run([program = "", ...args]: CommandLine): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: COMMAND_DEADLINE_MS, windowsHide: true } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(undefined);
      else if (error.code === "ENOENT") resolve(`this system has no ${program}`);
      else resolve(firstLineOf(stderr) || firstLineOf(stdout) || error.message);
    });
  });
}

function firstLineOf(text: string): string {
  return text.trim().split("\n")[0]?.trim() ?? "";
}
