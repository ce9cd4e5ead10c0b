import { messageOf } from "../../shared/errors.ts";
import { type GitTroubleFacts, sayTrouble } from "../../shared/git-reasons.ts";
import type { Timer } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { type GitRefusal, gitRefusalIn } from "./git-refusal.ts";

/** How a run of git ended. Only after `failed` may a second try end differently. */
export type GitResult =
  | { readonly kind: "done"; readonly stdout: Buffer }
  /** git refused; `message` is its standard error, in English, for a person alone. */
  | {
      readonly kind: "refused";
      readonly exitCode: number;
      readonly code: GitRefusal;
      readonly message: string;
    }
  /** This machine has no git. */
  | { readonly kind: "no-program" }
  /** Past the deadline, killed, or with more output than `GIT_OUTPUT_BYTES_MAX`. */
  | { readonly kind: "failed"; readonly why: GitTroubleFacts };

/** Runs git with these arguments in `folder`. Never rejects. */
export type Git = (folder: string, args: readonly string[]) => Promise<GitResult>;

export interface GitOptions {
  /** Name or path of the program; `git`, from `PATH`. */
  readonly program?: string;
  /** The caller's environment, which is cleaned before git gets it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly deadlineMs?: number;
}

/** git is killed after this time, unless `GitOptions` say otherwise. */
const GIT_DEADLINE_MS = 20_000;
/** One run may print this much. */
const GIT_OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Runs git so that it changes nothing: it takes no optional locks (so it never refreshes the user's
 * index), asks nothing, starts no pager and no helper that the repository chose, and fetches
 * nothing from a network. Output is in English.
 *
 * ```
 * const git = createGit();
 * const result = await git(folder, ["rev-parse", "HEAD"]);
 * if (result.kind === "done") use(result.stdout);
 * ```
 */
export function createGit(options: GitOptions = {}): Git {
  const program = options.program ?? "git";
  const env = cleanEnvironment(options.env ?? process.env);
  const deadlineMs = options.deadlineMs ?? GIT_DEADLINE_MS;
  // The folder is passed by `-C`. As the child's working directory, a missing folder would give the
  // same ENOENT as a missing program.
  return (folder, args) =>
    run([program, "--no-pager", "-C", folder, "-c", "core.fsmonitor=", ...args], env, deadlineMs);
}

/** The runs under way, to be ended with this process. */
const running = new Set<GitProcess>();

/** Kills every git that still runs. For a process that is about to end. */
export function killRunningGit(): void {
  for (const child of running) child.kill("SIGKILL");
}

type GitProcess = Bun.Subprocess<"ignore", "pipe", "pipe">;

/**
 * With Bun's own call: `node:child_process` takes tens of kilobytes for each run and returns few.
 */
async function run(
  command: readonly string[],
  env: Record<string, string>,
  deadlineMs: number,
): Promise<GitResult> {
  let child: GitProcess;
  try {
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    child = Bun.spawn([...command], { env, stdio, windowsHide: true });
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "ENOENT") return { kind: "no-program" };
    // An argument that can't be passed to a process, such as one with a NUL.
    return { kind: "failed", why: { trouble: "refused", said: messageOf(thrown) } };
  }
  running.add(child);
  try {
    return await ending(child, deadlineMs);
  } catch (thrown) {
    child.kill("SIGKILL");
    if (thrown instanceof GitTrouble) return { kind: "failed", why: thrown.why };
    return { kind: "failed", why: { trouble: "refused", said: messageOf(thrown) } };
  } finally {
    running.delete(child);
  }
}

/** Rejects after the deadline, even if a process that git started still holds its output. */
async function ending(child: GitProcess, deadlineMs: number): Promise<GitResult> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    // A child process runs in real time, whatever clock the program uses.
    timer = realWorld.setTimer(deadlineMs, () => reject(new GitTrouble(TOO_SLOW)));
  });
  const ended = Promise.all([outputOf(child.stdout), outputOf(child.stderr), child.exited]);
  ended.catch(() => undefined);
  try {
    const [stdout, stderr] = await Promise.race([ended, late]);
    if (child.exitCode === null) return { kind: "failed", why: { trouble: "killed" } };
    return resultOf(child.exitCode, stdout, stderr.toString("utf8"));
  } finally {
    timer?.cancel();
  }
}

const TOO_SLOW = { trouble: "too-slow" } as const;

async function outputOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > GIT_OUTPUT_BYTES_MAX) throw new GitTrouble({ trouble: "too-much" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function resultOf(exitCode: number, stdout: Buffer, stderr: string): GitResult {
  if (exitCode === 0) return { kind: "done", stdout };
  // On macOS, a `git` may be installed that only offers to install the real one.
  if (/^(xcode-select|xcrun): /.test(stderr)) return { kind: "no-program" };
  return { kind: "refused", exitCode, code: gitRefusalIn(stderr), message: stderr.trim() };
}

/** `GIT_*` settings that say where configuration is, and not which repository is meant. */
const KEPT = /^GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|CEILING_DIRECTORIES)$/;

/**
 * The service's token, and a service manager's socket: a repository's filters must not see them.
 */
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
    // A partial clone would fetch missing objects. Newer gits obey the first setting, all obey the
    // second.
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
  };
}

/** There may be a repository, and git could or would not read it. */
export interface GitUnknown {
  readonly kind: "unknown";
  readonly why: GitTroubleFacts;
}

/** git gave no answer. The caller must treat the matter as unknown. */
export class GitTrouble extends Error {
  override readonly name = "GitTrouble";
  readonly why: GitTroubleFacts;

  constructor(why: GitTroubleFacts) {
    super(sayTrouble(why));
    this.why = why;
  }
}

/**
 * git's output, or undefined if it ended with one of the exit codes `absent`. Throws `GitTrouble`
 * at every other end.
 */
export async function gitOutput(
  git: Git,
  folder: string,
  {
    args,
    absent = [],
  }: { readonly args: readonly string[]; readonly absent?: readonly number[] | undefined },
): Promise<Buffer | undefined> {
  const result = await git(folder, args);
  if (result.kind === "done") return result.stdout;
  // An older git may say of an option that it does not know what others say of nothing there.
  const isKnown = result.kind === "refused" && result.code !== "unknown-option";
  if (isKnown && absent.includes(result.exitCode)) return undefined;
  throw new GitTrouble(troubleOf(result));
}

/** Why a run was not `done`, for `status`. */
export function troubleOf(result: Exclude<GitResult, { readonly kind: "done" }>): GitTroubleFacts {
  if (result.kind === "no-program") return { trouble: "no-program" };
  if (result.kind === "failed") return result.why;
  if (result.code === "unknown-option") return { trouble: "too-old" };
  const said = result.message.split("\n").find((each) => each !== "");
  return { trouble: "refused", ...(said !== undefined && { said }) };
}
