import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { within } from "../../../daemon/home/within.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { RunningProcess } from "../../support/running-process.ts";

const PACKAGES = join(import.meta.dir, "packages");
const PROGRAMS = join(PACKAGES, "node_modules", ".bin");
const MAIN = join(import.meta.dir, "..", "..", "..", "cli", "main.ts");
const INSTALL_MS_MAX = 600_000;
const COMMAND_MS_MAX = 300_000;

/**
 * Installs the assistants that the lock file names, unless they are there. No package's script runs
 * but Claude Code's, which puts the program that npm brought into its place.
 */
export async function installAssistants(): Promise<void> {
  if (existsSync(join(PROGRAMS, "claude")) && (await said(["claude", "--version"])) !== "") return;
  process.stderr.write("installing the assistants, which takes a minute or two …\n");
  const quiet = ["--no-audit", "--no-fund"];
  await must(["npm", "ci", "--ignore-scripts", ...quiet]);
  await must(["npm", "rebuild", "@anthropic-ai/claude-code", ...quiet]);
}

async function said(command: readonly string[]): Promise<string> {
  const env = { ...process.env, PATH: `${PROGRAMS}${delimiter}${process.env.PATH}` };
  const child = Bun.spawn([...command], { env, stdio: ["ignore", "pipe", "ignore"] });
  const printed = await child.stdout.text();
  return (await child.exited) === 0 ? printed : "";
}

async function must(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], {
    cwd: PACKAGES,
    stdio: ["ignore", "ignore", "inherit"],
    timeout: INSTALL_MS_MAX,
  });
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

  constructor(readonly folder: string) {
    const bin = join(folder, "bin");
    this.#heard = join(folder, "heard");
    for (const each of [bin, this.#heard]) mkdirSync(each, { recursive: true });
    writeFileSync(join(bin, "memsync"), this.#program(), { mode: 0o755 });
    this.env = {
      HOME: folder,
      PATH: [bin, PROGRAMS, dirname(process.execPath), process.env.PATH].join(delimiter),
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
    { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
  ): Promise<string> {
    const child = new RunningProcess(command, { cwd, env: { ...this.env, ...env } });
    const ended = child.ended();
    if (!(await within(realWorld, COMMAND_MS_MAX, { work: ended }))) await child.end("SIGKILL");
    const { status, stdout, stderr } = await ended;
    if (status === 0) return stdout + stderr;
    throw new Error(`\`${command.join(" ")}\` ended with ${status}: ${stderr}${stdout}`);
  }

  /** Makes a file of settings. */
  writeSettings(path: string, settings: object): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), JSON.stringify(settings));
  }

  /** All settings, by path, without the names of folders. */
  settings(): Readonly<Record<string, string>> {
    const paths = [".claude.json", ".claude", ".codex", ".gemini"].flatMap((path) =>
      settingsIn(join(this.folder, path)),
    );
    const textOf = (path: string) => readFileSync(path, "utf8").replaceAll(this.folder, "~");
    return Object.fromEntries(paths.map((path) => [path.slice(this.folder.length), textOf(path)]));
  }
}

function settingsIn(path: string): string[] {
  if (!existsSync(path)) return [];
  if (/\.(json|toml)$/.test(path)) return [path];
  const names = readdirSync(path, { withFileTypes: true });
  return names
    .filter((each) => each.isFile() && /^(settings|hooks|config)\.(json|toml)$/.test(each.name))
    .map(({ name }) => join(path, name));
}
