import { existsSync, mkdtempSync, realpathSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "../..");

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder of someone who uses the package, and nothing else of this checkout. */
export interface Consumer extends AsyncDisposable {
  readonly folder: string;
  /** Writes files of the consumer's own. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Runs a command there to its end. */
  run(...command: readonly string[]): Promise<Outcome>;
  /** Starts a command there, in a group of its own that ends with this. */
  start(...command: readonly string[]): Program;
}

export interface Program {
  readonly pid: number;
  /** Resolves to the match of what it prints; rejects when it ends before. */
  prints(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** How it ended. */
  readonly ended: Promise<{
    readonly status: number;
    readonly signal: NodeJS.Signals | number | null;
  }>;
}

/** Where the Node that `PATH` names keeps its headers, for packages that have to be compiled. */
async function nodePrefix(): Promise<string | undefined> {
  const script = 'console.log(require("node:path").resolve(process.execPath, "../.."))';
  const { stdout } = await run(["node", "-e", script], tmpdir(), process.env);
  const prefix = stdout.trim();
  return existsSync(join(prefix, "include/node/node.h")) ? prefix : undefined;
}

/** What npm adds for the scripts of this checkout would make it install here, not there. */
async function cleanEnvironment(): Promise<Record<string, string | undefined>> {
  const ofThisScript = /^(INIT_CWD|NODE|NODE_ENV|MEMSYNC_.*)$/;
  const ofNpm = /^npm_(package_|lifecycle_|command$|execpath$|node_execpath$|config_local_prefix$)/;
  const kept = Object.entries(process.env).filter(
    ([name]) => !ofThisScript.test(name) && !ofNpm.test(name),
  );
  const prefix = process.env.npm_config_nodedir ?? (await nodePrefix());
  return { ...Object.fromEntries(kept), JOBS: "max", npm_config_nodedir: prefix };
}

/** Makes an empty consumer. `variables` are in the environment of its commands. */
export async function createConsumer(
  variables: Readonly<Record<string, string>> = {},
): Promise<Consumer> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "memsync-package-")));
  const env = { ...(await cleanEnvironment()), ...variables };
  const groups: number[] = [];
  return {
    folder,
    async write(files) {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), text);
      }
    },
    run: (...command) => run(command, folder, env),
    start(...command) {
      const program = start(command, folder, env);
      groups.push(program.pid);
      return program;
    },
    async [Symbol.asyncDispose]() {
      for (const group of groups) endGroup(group);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function run(
  command: readonly string[],
  cwd: string,
  env: Record<string, string | undefined>,
): Promise<Outcome> {
  const child = Bun.spawn([...command], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, stdout, stderr };
}

function start(
  command: readonly string[],
  cwd: string,
  env: Record<string, string | undefined>,
): Program {
  const child = Bun.spawn([...command], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return {
    pid: child.pid,
    async prints(pattern) {
      const decoder = new TextDecoder();
      let text = "";
      for await (const chunk of child.stdout) {
        text += decoder.decode(chunk, { stream: true });
        const match = pattern.exec(text);
        if (match) return match;
      }
      throw new Error(`${command.join(" ")} ended without ${pattern}; it printed: ${text}`);
    },
    kill: (signal) => child.kill(signal),
    ended: child.exited.then((status) => ({ status, signal: child.signalCode })),
  };
}

/** npm puts a shell between itself and a command, which does not pass signals on. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (thrown) {
    const isGone = thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH";
    if (!isGone) throw thrown;
  }
}
