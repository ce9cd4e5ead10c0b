import { afterEach, expect } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createDrivenWorld } from "./driven-world.ts";
import { exchange } from "./exchange-machines.ts";
import { FollowedMachine } from "./followed-machines.ts";
import { createGitSandbox, type GitSandbox } from "./git-sandbox.ts";

export const FILE = "CLAUDE.md";
export const START = "# Guide\n\nBuild with make.\n\nTest with make test.\n";
export const MORE = `${START}\nOne more.\n`;

/** Longer than a change counts as unseen. */
export const LONG_MS = 120_000;

/** Two followed clones of one repository. */
export interface Pair {
  readonly a: FollowedMachine;
  readonly b: FollowedMachine;
}

/** Both have all, and have had it for long: the text, and how many conflicts either lists. */
export async function bothHaveAll({ a, b }: Pair): Promise<{ text: string; listed: number }> {
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(LONG_MS);
  await exchange([a, b]);
  expect(await b.doc()).toBe(await a.doc());
  const [here, there] = [await a.listed(), await b.listed()];
  expect(there).toEqual(here);
  return { text: await a.doc(), listed: here.length };
}

/**
 * Followed clones of one repository, with real git, or folders without; `end` stops and removes all
 * of them, and others may come after.
 */
export class FollowedClones {
  readonly #opened: FollowedMachine[] = [];
  #sandbox: GitSandbox | undefined;

  get git(): GitSandbox {
    this.#sandbox ??= createGitSandbox();
    return this.#sandbox;
  }

  async machine(name: string, dir = this.git.path(name)): Promise<FollowedMachine> {
    const made = await this.open(name, dir);
    await made.follow();
    return made;
  }

  /** A machine with a folder of its own, without git and empty, that follows nothing yet. */
  async folder(name: string, dir = this.git.path(name)): Promise<FollowedMachine> {
    await mkdir(dir, { recursive: true });
    return await this.open(name, dir);
  }

  /** A machine that follows nothing yet. `called`: its name, as others see it. */
  async open(name: string, dir = this.git.path(name), called = name): Promise<FollowedMachine> {
    const home = this.git.path(`home-${name}`);
    const world = createDrivenWorld(name);
    const made = await FollowedMachine.open(called, dir, home, this.git.git, world);
    this.#opened.push(made);
    return made;
  }

  /** The machine after its process has ended; it has looked at its file once. */
  async restarted(machine: FollowedMachine): Promise<FollowedMachine> {
    const made = await machine.reopened();
    this.#opened.push(made);
    await made.beginToFollow();
    return made;
  }

  /** `files` are the repository's first commit. `called`: both machines' name. */
  async pair(files: Readonly<Record<string, string>>, called?: string): Promise<Pair> {
    await this.git.repository("first", files);
    await this.git.run(this.git.folder, "clone", "-q", "--bare", "first", "origin.git");
    const [a, b] = [await this.#cloned("a", called), await this.#cloned("b", called)];
    await exchange([a, b]);
    return { a, b };
  }

  /** Two folders in no repository, for what git has no part in. */
  async apart(): Promise<Pair> {
    const [a, b] = ["a", "b"].map((name) => this.git.path(name)) as [string, string];
    for (const dir of [a, b]) await mkdir(dir);
    return { a: await this.machine("a", a), b: await this.machine("b", b) };
  }

  async #cloned(name: string, called: string | undefined): Promise<FollowedMachine> {
    await this.git.run(this.git.folder, "clone", "-q", "origin.git", name);
    const made = await this.open(name, this.git.path(name), called);
    await made.follow();
    return made;
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
    for (const machine of this.#opened.splice(0)) await machine.stop();
    this.#sandbox?.remove();
    this.#sandbox = undefined;
  }
}

/** For the tests of a file: each has clones of its own, which end with it. */
export function clonesOfEach(): FollowedClones {
  const clones = new FollowedClones();
  afterEach(() => clones.end());
  return clones;
}

/** Both follow a text, which is in a file of this name on a, and nothing in it is in doubt. */
export async function followText(
  { a, b }: Pair,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<void> {
  a.put(text, name);
  await a.follow();
  await b.follow();
  await exchange([a, b]);
  await b.save(text);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
}
