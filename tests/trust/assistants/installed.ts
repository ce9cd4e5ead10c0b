import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { within } from "../../../daemon/home/within.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { RunningProcess } from "../../support/running-process.ts";

const PACKAGES = join(import.meta.dir, "packages");
const MAIN = join(import.meta.dir, "..", "..", "..", "cli", "main.ts");
/** Somebody at a terminal waits this long for an installation or a session. */
const PATIENCE_MS = 600_000;

/** What runs hooks, and is so told at the start of a session what is known. */
export const HOOKED = ["claude", "codex", "gemini"] as const;
export type HookedName = (typeof HOOKED)[number];
export type AssistantName = HookedName | "opencode";

/**
 * Of OpenCode the package of its program for Linux on x64 is installed. The one that chooses among
 * those of all systems needs a script of its own, and newer versions of npm refuse a lock file that
 * lacks one of them.
 */
const HAS_OPENCODE = process.platform === "linux" && process.arch === "x64";

/** The assistants that can be had here, as `memsync setup` calls them. */
export const NAMES: readonly AssistantName[] = HAS_OPENCODE ? [...HOOKED, "opencode"] : HOOKED;

/** Whose package puts the program that npm brought into its place itself. */
const PLACED: Partial<Record<AssistantName, string>> = { claude: "@anthropic-ai/claude-code" };

/** Where a package has its program, which npm puts into no other place. */
const BESIDE: Partial<Record<AssistantName, string>> = {
  opencode: join("opencode-linux-x64-baseline", "bin"),
};

/** An assistant did not run, or not to its end in time, which says nothing of memsync. */
export class NotTried extends Error {}

/** Until when something may go on, by the steady clock. */
export const soon = () => performance.now() + PATIENCE_MS;

const programsOf = (name: AssistantName) =>
  join(PACKAGES, name, "node_modules", BESIDE[name] ?? ".bin");

/**
 * Installs an assistant as its lock file says, unless it is there. No package's script runs but
 * Claude Code's, which puts the program that npm brought into its place. Rejects where npm can't.
 */
export async function installAssistant(name: AssistantName, until = soon()): Promise<void> {
  if (await isInstalled(name)) return;
  process.stderr.write(`installing ${name}, which may take a minute …\n`);
  const cwd = join(PACKAGES, name);
  const quiet = ["--no-audit", "--no-fund"];
  await must(["npm", "ci", "--ignore-scripts", ...quiet], cwd, until);
  const placed = PLACED[name];
  if (placed) await must(["npm", "rebuild", placed, ...quiet], cwd, until);
  if (!(await isInstalled(name))) throw new Error(`${name} does not start here`);
}

async function isInstalled(name: AssistantName): Promise<boolean> {
  const program = join(programsOf(name), name);
  if (!existsSync(program)) return false;
  return (await Bun.spawn([program, "--version"], { stdio: NO_OUTPUT }).exited) === 0;
}

const NO_OUTPUT: ["ignore", "ignore", "ignore"] = ["ignore", "ignore", "ignore"];

async function must(command: readonly string[], cwd: string, until: number): Promise<void> {
  const timeout = Math.max(1, Math.round(until - performance.now()));
  const child = Bun.spawn([...command], { cwd, stdio: NO_OUTPUT, timeout });
  if ((await child.exited) !== 0) throw new Error(`\`${command.join(" ")}\` failed`);
}

/**
 * A user's folder in which assistants keep their settings, with them and memsync on the PATH.
 *
 * ```
 * const ann = new User(lab.git.path("ann"));
 * await ann.run(["claude", "mcp", "list"], { cwd: ann.folder });
 * ```
 */
export class User {
  readonly env: Readonly<Record<string, string>>;
  readonly #heard: string;

  /** What it runs is over by `until`, or is ended and rejects with `NotTried`. */
  constructor(
    readonly folder: string,
    readonly until = soon(),
  ) {
    const bin = join(folder, "bin");
    this.#heard = join(folder, "heard");
    for (const each of [bin, this.#heard]) mkdirSync(each, { recursive: true });
    writeFileSync(join(bin, "memsync"), this.#program(), { mode: 0o755 });
    this.env = {
      HOME: folder,
      PATH: [bin, ...NAMES.map(programsOf), dirname(process.execPath), process.env.PATH].join(
        delimiter,
      ),
      MEMSYNC_HOME: join(folder, ".memsync"),
      MEMSYNC_KEYRING: "off",
      // A machine that tests beside others may take longer than a session would wait.
      MEMSYNC_HOOK_MS: "100000",
    };
  }

  /** Starts memsync, and keeps what a hook was told. */
  #program(): string {
    const start = `"${process.execPath}" "${MAIN}" "$@"`;
    return [
      "#!/bin/sh",
      'if [ "$1" = hook ]; then',
      `  tee "${this.#heard}/$2.json" | ${start}`,
      "else",
      `  exec ${start}`,
      "fi",
      "",
    ].join("\n");
  }

  /** What an assistant told its hook of this event last. */
  heard(event: string): string | undefined {
    const path = join(this.#heard, `${event}.json`);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  /** What it prints. Rejects unless it ends with 0. */
  async run(
    command: readonly string[],
    {
      cwd,
      env = {},
      until = this.until,
    }: {
      readonly cwd: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly until?: number;
    },
  ): Promise<string> {
    const child = new RunningProcess(command, {
      cwd,
      worksLong: true,
      env: { ...this.env, ...env },
    });
    const ended = child.ended();
    const isOver = await within(realWorld, until - performance.now(), { work: ended });
    if (!isOver) await child.end("SIGKILL");
    const { status, stdout, stderr } = await ended;
    if (status === 0) return stdout + stderr;
    if (!isOver) throw new NotTried(`\`${command.join(" ")}\` took too long`);
    throw new Error(`\`${command.join(" ")}\` ended with ${status}: ${stderr}${stdout}`);
  }

  /** Makes a file of settings. */
  writeSettings(path: string, settings: object): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), JSON.stringify(settings));
  }

  /** All settings, by path, without the names of folders. */
  settings(): Readonly<Record<string, string>> {
    const folders = [".claude.json", ".claude", ".codex", ".gemini", ".config/opencode"];
    const paths = folders.flatMap((path) => settingsIn(join(this.folder, path)));
    const textOf = (path: string) => readFileSync(path, "utf8").replaceAll(this.folder, "~");
    return Object.fromEntries(paths.map((path) => [path.slice(this.folder.length), textOf(path)]));
  }
}

const SETTINGS = /(^|\/)(settings|hooks|config|opencode|\.claude)\.(json|jsonc|toml)$/;

function settingsIn(path: string): string[] {
  if (!existsSync(path)) return [];
  if (SETTINGS.test(path)) return [path];
  const names = readdirSync(path, { withFileTypes: true });
  return names
    .filter((each) => each.isFile() && SETTINGS.test(each.name))
    .map(({ name }) => join(path, name));
}
