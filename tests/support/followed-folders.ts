import { afterEach } from "bun:test";
import { mkdirSync } from "node:fs";
import { exchange } from "./exchange-machines.ts";
import { LONG_MS } from "./followed-clones.ts";
import { FollowedMachine } from "./followed-machines.ts";
import { createGitSandbox, type GitSandbox } from "./git-sandbox.ts";

/**
 * Machines that follow a file each, in folders without git; `end` stops and removes them, and
 * others may come after.
 */
export class FollowedFolders {
  readonly #opened: FollowedMachine[] = [];
  #sandbox: GitSandbox | undefined;

  /** Machines that have had `base` for long. */
  async machines(names: readonly string[], base: string): Promise<FollowedMachine[]> {
    this.#sandbox ??= createGitSandbox();
    const { path, git } = this.#sandbox;
    const made: FollowedMachine[] = [];
    for (const name of names) {
      const nth = `${this.#opened.length}`;
      const dir = path(nth, name);
      mkdirSync(dir, { recursive: true });
      const home = path(nth, `home-${nth}`);
      const machine = await FollowedMachine.open(name, dir, home, git);
      this.#opened.push(machine);
      made.push(machine);
      await machine.follow();
      await machine.save(base);
    }
    await exchange(made);
    for (const machine of made) await machine.pass(LONG_MS);
    return made;
  }

  async pair(base: string): Promise<readonly [FollowedMachine, FollowedMachine]> {
    const [a, b] = await this.machines(["a", "b"], base);
    if (!a || !b) throw new Error("there are two machines");
    return [a, b];
  }

  /** Two that have saved a text each before they met. */
  async savedApart(base: string, [one, other]: readonly [string, string]) {
    const [a, b] = await this.pair(base);
    await a.save(one);
    await b.save(other);
    return [a, b] as const;
  }

  /** Two of which the second saved from a buffer of before what the first had just saved. */
  async savedStale(base: string, [one, other]: readonly [string, string]) {
    const [a, b] = await this.pair(base);
    await a.save(one);
    await exchange([a, b]);
    await b.save(other);
    return [a, b] as const;
  }

  async end(): Promise<void> {
    for (const machine of this.#opened.splice(0)) await machine.stop();
    this.#sandbox?.remove();
    this.#sandbox = undefined;
  }
}

/** For the tests of a file: each has folders of its own, which end with it. */
export function foldersOfEach(): FollowedFolders {
  const folders = new FollowedFolders();
  afterEach(() => folders.end());
  return folders;
}
