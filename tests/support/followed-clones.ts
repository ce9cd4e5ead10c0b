import { join } from "node:path";
import { exchange, FollowedMachine } from "./followed-machines.ts";
import { createGitSandbox, type GitSandbox } from "./git-sandbox.ts";

export const FILE = "CLAUDE.md";
export const START = "# Guide\n\nBuild with make.\n\nTest with make test.\n";
export const MORE = `${START}\nOne more.\n`;

/** Longer than a change counts as unseen. */
const LONG_MS = 120_000;

/** Two followed clones of one repository. */
export interface Pair {
  readonly a: FollowedMachine;
  readonly b: FollowedMachine;
}

/** Followed clones of one repository, with real git; `end` stops and removes all of them. */
export class FollowedClones {
  readonly git: GitSandbox = createGitSandbox();
  readonly #opened: FollowedMachine[] = [];

  async machine(name: string, dir = this.git.path(name)): Promise<FollowedMachine> {
    const home = this.git.path(`home-${name}`);
    const made = await FollowedMachine.open(name, dir, home, this.git.git);
    this.#opened.push(made);
    await made.follow();
    return made;
  }

  /** `files` are the repository's first commit. */
  async pair(files: Readonly<Record<string, string>>): Promise<Pair> {
    await this.git.repository("first", files);
    await this.git.run(this.git.folder, "clone", "-q", "--bare", "first", "origin.git");
    const [a, b] = [await this.#cloned("a"), await this.#cloned("b")];
    await exchange([a, b]);
    return { a, b };
  }

  /** Two machines that save a text at once, long after they had `base`, and have not met yet. */
  async savedApart(base: string, texts: readonly [string, string]) {
    const { a, b } = await this.pair({ "README.md": "x\n" });
    for (const each of [a, b]) await each.save(base);
    await exchange([a, b]);
    for (const each of [a, b]) each.pass(LONG_MS);
    await a.save(texts[0]);
    await b.save(texts[1]);
    return [a, b] as const;
  }

  async #cloned(name: string): Promise<FollowedMachine> {
    await this.git.run(this.git.folder, "clone", "-q", "origin.git", name);
    return await this.machine(name);
  }

  run({ dir }: FollowedMachine, ...args: string[]): Promise<string> {
    return this.git.run(dir, ...args);
  }

  /** As git does in one step: no look is made in between. */
  async commit(at: FollowedMachine, text: string, ...options: string[]): Promise<void> {
    await this.git.write(join(at.dir, FILE), text);
    await this.run(at, "add", FILE);
    await this.run(at, "commit", "-qm", "x", ...options);
  }

  async end(): Promise<void> {
    for (const machine of this.#opened) await machine.stop();
    this.git.remove();
  }
}
