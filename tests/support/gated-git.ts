import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { GitSandbox } from "./git-sandbox.ts";

/** A git command that runs beside the test. */
export interface RunningGit {
  /** Its exit status, with what it said on standard error. */
  readonly ended: Promise<{ readonly status: number; readonly stderr: string }>;
}

/**
 * A way to a repository on which git waits for the test, as it waits for a slow network or a
 * person's password: whatever it asks `url` for is answered when the gate is opened.
 */
export class GitGate {
  readonly #git: GitSandbox;
  readonly #ssh: string;
  readonly #reached: string;
  readonly #opened: string;
  /** What a shell does that waits at the gate. */
  readonly wait: string;

  constructor(git: GitSandbox) {
    this.#git = git;
    this.#ssh = git.path("ssh-gate");
    this.#reached = git.path("gate-reached");
    this.#opened = git.path("gate-opened");
    execFileSync("mkfifo", [this.#reached, this.#opened]);
    this.wait = `echo > '${this.#reached}'; read -r _ < '${this.#opened}'`;
    writeFileSync(this.#ssh, `#!/bin/sh\n${this.wait}\neval "exec $2"\n`);
    chmodSync(this.#ssh, 0o755);
  }

  /** The address of a repository of the sandbox behind the gate. */
  url(name: string): string {
    return `ssh://behind-the-gate${this.#git.path(name)}`;
  }

  start(folder: string, ...args: readonly string[]): RunningGit {
    const { env } = this.#git;
    const child = Bun.spawn(["git", "-C", folder, ...args], {
      env: { ...env, GIT_SSH_COMMAND: this.#ssh, GIT_SSH_VARIANT: "simple" },
      stdout: "ignore",
      stderr: "pipe",
    });
    const said = new Response(child.stderr).text();
    const ended = child.exited.then(async (status) => ({ status, stderr: await said }));
    return { ended };
  }

  /** Resolves when git stands at the gate. */
  async reached(): Promise<void> {
    await readFile(this.#reached);
  }

  async open(): Promise<void> {
    await writeFile(this.#opened, "\n");
  }
}
