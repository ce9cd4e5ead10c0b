import { type ChildProcess, execFile } from "node:child_process";
import { messageOf } from "../../shared/errors.ts";

/** How one run of git ended. Only `failed` may end differently when simply tried again. */
export type GitResult =
  | { readonly kind: "done"; readonly stdout: Buffer }
  /** git said no; `message` is its standard error, in English. */
  | { readonly kind: "refused"; readonly exitCode: number; readonly message: string }
  /** This machine has no git. */
  | { readonly kind: "no-program" }
  /** Past the deadline, killed, or more output than `GIT_OUTPUT_BYTES_MAX`. */
  | { readonly kind: "failed"; readonly message: string };

/** Runs git with these arguments in `folder`. Resolves always: no outcome is a rejection. */
export type Git = (folder: string, args: readonly string[]) => Promise<GitResult>;

export interface GitOptions {
  /** Name or path of the program; `git`, from `PATH`. */
  readonly program?: string;
  /** What the caller's environment is; cleaned before git sees it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly deadlineMs?: number;
}

/** git is killed after this long, unless `GitOptions` say otherwise. */
export const GIT_DEADLINE_MS = 20_000;
/** One run may print this much. */
export const GIT_OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * A way to run git that changes nothing: it takes no optional locks (so it never refreshes the
 * user's index), asks nothing, pages nothing, starts no helper of the repository's choosing and
 * fetches nothing from a network. Output is in git's own English.
 */
export function createGit(options: GitOptions = {}): Git {
  const program = options.program ?? "git";
  const env = cleanEnvironment(options.env ?? process.env);
  const deadlineMs = options.deadlineMs ?? GIT_DEADLINE_MS;
  return (folder, args) =>
    new Promise<GitResult>((resolve) => {
      // The folder goes by `-C`: as the child's working directory, a missing folder would be the
      // same ENOENT as a missing program.
      const all = ["--no-pager", "-C", folder, "-c", "core.fsmonitor=", ...args];
      run(program, all, env, deadlineMs, resolve);
    });
}

/** What runs now, to be ended with this process. */
const running = new Set<ChildProcess>();

/** Kills every git that still runs: for a process that is about to end. */
export function killRunningGit(): void {
  for (const child of running) child.kill("SIGKILL");
}

function run(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  deadlineMs: number,
  resolve: (result: GitResult) => void,
): void {
  try {
    const child = execFile(
      program,
      args,
      {
        env,
        encoding: "buffer",
        // A child process lives in real time whatever clock the program is driven by.
        timeout: deadlineMs,
        killSignal: "SIGKILL",
        maxBuffer: GIT_OUTPUT_BYTES_MAX,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        running.delete(child);
        resolve(resultOf(error, stdout, stderr.toString("utf8")));
      },
    );
    running.add(child);
    child.stdin?.end();
  } catch (thrown) {
    // An argument that no process can be given, such as one with a NUL in it.
    resolve({ kind: "failed", message: messageOf(thrown) });
  }
}

type ExecError = Error & { readonly code?: number | string | null; readonly killed?: boolean };

function resultOf(error: ExecError | null, stdout: Buffer, stderr: string): GitResult {
  if (error === null) return { kind: "done", stdout };
  if (error.code === "ENOENT") return { kind: "no-program" };
  if (typeof error.code === "number") {
    // macOS ships a `git` that only offers to install the real one.
    if (/^(xcode-select|xcrun): /.test(stderr)) return { kind: "no-program" };
    return { kind: "refused", exitCode: error.code, message: stderr.trim() };
  }
  if (error.killed) return { kind: "failed", message: "git took too long and was stopped" };
  return { kind: "failed", message: error.message };
}

/** The `GIT_*` settings that say where configuration is, not which repository is meant. */
const KEPT = /^GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|CEILING_DIRECTORIES)$/;

/** The service's token, and a service manager's socket: what a repository's filters may not see. */
const OWN = /^(MEMSYNC_|NOTIFY_SOCKET$|WATCHDOG_)/;

function cleanEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const cleaned: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || OWN.test(name)) continue;
    if (!name.startsWith("GIT_") || KEPT.test(name)) cleaned[name] = value;
  }
  return {
    ...cleaned,
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    // A partial clone would fetch what it lacks: newer gits obey the first, all obey the second.
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
  };
}

/** git could not say what was asked: the caller must treat the answer as unknown. */
export class GitTrouble extends Error {
  override readonly name = "GitTrouble";
}

/**
 * What git printed, or undefined when it ended with one of the exit codes `absent`. Throws
 * `GitTrouble` at every other ending.
 */
export async function gitOutput(
  git: Git,
  folder: string,
  args: readonly string[],
  absent: readonly number[] = [],
): Promise<Buffer | undefined> {
  const result = await git(folder, args);
  if (result.kind === "done") return result.stdout;
  if (result.kind === "refused" && absent.includes(result.exitCode)) return undefined;
  throw new GitTrouble(troubleOf(result));
}

/** One sentence for `status` about a run that was not `done`. */
export function troubleOf(result: Exclude<GitResult, { readonly kind: "done" }>): string {
  if (result.kind === "no-program") return "git is not installed";
  if (result.kind === "failed") return result.message;
  const line = result.message.split("\n").find((each) => each !== "");
  return line ?? `git ended with exit code ${result.exitCode}`;
}
