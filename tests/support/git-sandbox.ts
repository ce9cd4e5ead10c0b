import { execFile, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createGit, type Git } from "../../daemon/git/run-git.ts";
import { remembering } from "./remembered-git.ts";

/** A temporary folder and a real git that knows nothing of the machine's own configuration. */
export interface GitSandbox {
  /** Real path; gone after `remove`. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The product's own way to run git, with this sandbox's configuration; see `remembering`. */
  readonly git: Git;
  /** Path of a name inside the sandbox. */
  path(...names: readonly string[]): string;
  /** Runs git in `folder` and returns what it printed; rejects unless it exits with 0. */
  run(folder: string, ...args: readonly string[]): Promise<string>;
  /** Runs git where a failure is expected, such as a merge that conflicts. */
  runToFailure(folder: string, ...args: readonly string[]): Promise<void>;
  /** Writes a file and the folders above it. */
  write(path: string, text: string): Promise<void>;
  /** A new repository in `name` with one commit that holds `files`; its top level. */
  repository(name: string, files: Readonly<Record<string, string>>): Promise<string>;
  /** Writes the files, adds and commits them, at `date` if given; the new commit. */
  commit(folder: string, files: Readonly<Record<string, string>>, date?: string): Promise<string>;
  /** A shell script with this sandbox's environment, running beside the test. */
  start(folder: string, script: string): { readonly done: Promise<void>; stop(): void };
  remove(): void;
}

/** Identity and dates are fixed, so that the same commands make the same commits. */
const IDENTITY = {
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.com",
  GIT_AUTHOR_DATE: "2024-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.com",
  GIT_COMMITTER_DATE: "2024-01-01T00:00:00Z",
};

/** git begins no work of its own behind a command: a folder that it works in is left alone. */
const NOTHING_BESIDE = {
  GIT_CONFIG_COUNT: "2",
  GIT_CONFIG_KEY_0: "gc.auto",
  GIT_CONFIG_VALUE_0: "0",
  GIT_CONFIG_KEY_1: "maintenance.auto",
  GIT_CONFIG_VALUE_1: "false",
};

/**
 * What the machine may choose: which git, by `MEMSYNC_TEST_PATH`, and the format of the refs of new
 * repositories, so that every test can be run on `reftable` too.
 */
function choices(): Readonly<Record<string, string>> {
  const { MEMSYNC_TEST_PATH, PATH = "", GIT_DEFAULT_REF_FORMAT } = process.env;
  const format = GIT_DEFAULT_REF_FORMAT === undefined ? {} : { GIT_DEFAULT_REF_FORMAT };
  return { ...format, PATH: MEMSYNC_TEST_PATH ?? PATH };
}

/** A new sandbox, in a folder of `place`. The caller removes it when its tests are done. */
export function createGitSandbox(place = tmpdir()): GitSandbox {
  const folder = realpathSync(mkdtempSync(join(place, "memsync-git-")));
  const env = {
    ...IDENTITY,
    ...NOTHING_BESIDE,
    ...choices(),
    HOME: folder,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_EDITOR: "true",
    LC_ALL: "C",
  };
  const run = (at: string, ...args: readonly string[]) => execute(env, at, args);
  const commit = async (
    at: string,
    files: Readonly<Record<string, string>>,
    date = env.GIT_COMMITTER_DATE,
  ) => {
    await writeAll(at, files);
    await run(at, "add", "-A");
    const message = Object.keys(files).join(" ") || "empty";
    const dated = { ...env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    await execute(dated, at, ["commit", "-q", "--allow-empty", "-m", message]);
    return (await run(at, "rev-parse", "HEAD")).trim();
  };
  return {
    folder,
    env,
    git: remembering(createGit({ env })),
    path: (...names) => join(folder, ...names),
    run,
    runToFailure: async (at, ...args) => {
      const failed = await run(at, ...args).then(
        () => false,
        () => true,
      );
      if (!failed) throw new Error(`git ${args.join(" ")} was to fail`);
    },
    write: (path, text) =>
      writeAll(dirname(path), { [path.slice(dirname(path).length + 1)]: text }),
    repository: async (name, files) => {
      const top = join(folder, name);
      await run(folder, "init", "-q", "-b", "main", top);
      await commit(top, files);
      return top;
    },
    commit,
    start: (at, script) => startScript(env, at, script),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

function execute(
  env: Readonly<Record<string, string>>,
  folder: string,
  args: readonly string[],
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile("git", ["-C", folder, ...args], { env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`git ${args.join(" ")}: ${stderr || error.message}`));
    });
    child.stdin?.end();
  });
}

function startScript(
  env: Readonly<Record<string, string>>,
  folder: string,
  script: string,
): { readonly done: Promise<void>; stop(): void } {
  const child = spawn("sh", ["-c", script], { cwd: folder, env, stdio: "ignore" });
  const done = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", () => resolve());
  });
  return { done, stop: () => child.kill("SIGKILL") };
}
