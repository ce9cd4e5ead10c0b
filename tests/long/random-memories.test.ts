import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { createGitSandbox } from "../support/git-sandbox.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { MemoryMachine } from "../support/memory-machines.ts";
import { pick, seededRandom } from "../support/random.ts";
import { SERENA } from "../support/serena-machines.ts";

const sandbox = createGitSandbox();
afterAll(() => sandbox.remove());

const NAMES = ["a.md", "b.md", "lsp/c.md", "lsp/d.md"];
const STEPS = 40;
const TIMEOUT_MS = 120_000;

/** The texts of a machine's files, by their names; without those that a look just writes. */
function texts(machine: MemoryMachine): Map<string, string> {
  const names = machine.files().filter((name) => NAMES.includes(name));
  return new Map(names.map((name) => [name, machine.read(name) ?? ""]));
}

/** A person and git at two clones of one repository, step by step as a seed says. */
class Walk {
  readonly #random: () => number;
  #saves = 0;
  readonly steps: string[] = [];

  constructor(
    readonly machines: readonly [MemoryMachine, MemoryMachine],
    seed: number,
  ) {
    this.#random = seededRandom(seed);
  }

  async #git(machine: MemoryMachine, ...args: readonly string[]): Promise<void> {
    this.steps.push(`${machine.name}: git ${args.join(" ")}`);
    // Some have nothing to do, or are refused.
    await sandbox.run(machine.project, ...args).catch(() => undefined);
  }

  async step(): Promise<void> {
    const machine = pick(this.#random, this.machines);
    const other = this.machines[0] === machine ? this.machines[1] : this.machines[0];
    const name = pick(this.#random, NAMES);
    const is = Math.floor(this.#random() * 14);
    if (is < 5) this.#save(machine, name);
    else if (is === 5) await this.#git(machine, "stash", "-q", "-u");
    else if (is === 6) await this.#git(machine, "stash", "pop", "-q");
    else if (is === 7) await this.#commit(machine);
    else if (is === 8) await this.#git(machine, "pull", "-q", "--no-rebase", other.project, "main");
    else if (is === 9)
      await this.#git(machine, "checkout", "-q", pick(this.#random, ["main", "topic"]));
    else if (is === 10) await this.#git(machine, "checkout", "-q", "--", name);
    else if (is === 11) await this.#git(machine, "reset", "-q", "--hard", "HEAD~1");
    else if (is === 12) await this.#git(machine, "merge", "--abort");
    else await this.#drop(machine, name);
  }

  #save(machine: MemoryMachine, name: string): void {
    this.steps.push(`${machine.name}: save ${name}`);
    const before = machine.read(name) ?? "one\ntwo\nthree\n";
    this.#saves += 1;
    const lines = before.split("\n");
    lines.splice(Math.floor(this.#random() * lines.length), 1, `save ${this.#saves}`);
    machine.save(name, `${lines.join("\n").trimEnd()}\n`);
  }

  async #commit(machine: MemoryMachine): Promise<void> {
    await this.#git(machine, "add", "-A");
    await this.#git(machine, "commit", "-q", "-m", "memories");
  }

  async #drop(machine: MemoryMachine, name: string): Promise<void> {
    this.steps.push(`${machine.name}: drop ${name}`);
    if (machine.read(name) !== undefined) machine.drop(name);
  }
}

/** Whether a text that is in its file no more is kept somewhere. */
async function isKept(machine: MemoryMachine, name: string, text: string): Promise<boolean> {
  const [values, past] = [await machine.values(name), await machine.history(name)];
  if (values.includes(text) || past.includes(text)) return true;
  const written = await sandbox.run(machine.project, "log", "--all", "--reflog", "--format=%H");
  for (const commit of written.split("\n").filter(Boolean)) {
    const found = await sandbox
      .run(machine.project, "show", `${commit}:.serena/memories/${name}`)
      .catch(() => undefined);
    if (found === text) return true;
  }
  return false;
}

for (const seed of [1, 2, 3, 4]) {
  test(
    `whatever git and people do, no look takes a text away that is kept nowhere, seed ${seed}`,
    async () => {
      const a = await MemoryMachine.start("anna", SERENA);
      const b = await MemoryMachine.start("ben", SERENA);
      try {
        await sandbox.run(a.project, "init", "-q", "-b", "main");
        for (const name of NAMES.slice(0, 3)) a.save(name, "one\ntwo\nthree\n");
        await sandbox.run(a.project, "add", "-A");
        await sandbox.run(a.project, "commit", "-q", "-m", "first");
        await sandbox.run(a.project, "branch", "topic");
        rmSync(b.project, { recursive: true });
        await sandbox.run(b.folder, "clone", "-q", a.project, b.project);
        for (const machine of [a, b]) {
          machine.links = machine.links.map((link) => ({ ...link, write: true }));
        }
        const walk = new Walk([a, b], seed);
        for (let step = 0; step < STEPS; step++) {
          await walk.step();
          for (const machine of [a, b]) {
            const before = texts(machine);
            await machine.look();
            machine.world.advance(11_000);
            // That began another look.
            await machine.keeper.look();
            const after = texts(machine);
            for (const [name, text] of before) {
              if (after.get(name) === text) continue;
              expect([walk.steps, name, await isKept(machine, name, text)]).toEqual([
                walk.steps,
                name,
                true,
              ]);
            }
            const failed = machine.keeper.status.flatMap(({ notes }) =>
              notes.filter(({ why }) => why.code === "look-failed"),
            );
            expect(failed).toEqual([]);
          }
          await exchangeKept(a, b);
        }
      } finally {
        for (const machine of [a, b]) await machine.remove();
      }
    },
    TIMEOUT_MS,
  );
}
