import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { contentLines } from "../../daemon/files/lines/text-lines.ts";
import { exchange } from "../support/exchange-machines.ts";
import { FILE, FollowedClones, LONG_MS } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";
import { pick, seededRandom } from "../support/random.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(600_000);

const SECTIONS = ["Build", "Test", "Ship"];
const sectionOf = (name: string) =>
  `\n## ${name}\n\n${[1, 2, 3].map((nth) => `- the step ${name} ${nth}\n`).join("")}`;
const START = `# Guide\n${SECTIONS.map(sectionOf).join("")}`;
const STEPS = 20;
/** A change of others that is older than this when a save lacks it may be meant. */
const SEEN_MS = 45_000;
const WORDS = ["amber", "cedar", "ember", "fjord", "grove", "lotus", "mango", "quartz", "raven"];
/** `MEMSYNC_SEEDS=1,2` tries others. */
const SEEDS = (process.env.MEMSYNC_SEEDS ?? "1,2,3,4,5,6,7,8").split(",").map(Number);
/** A place in which git shows both versions. */
const PLACE = /^<{7} .*\n([\s\S]*?)^={7}\n([\s\S]*?)^>{7} .*\n/gm;

/** A clone, and who sits there, with an editor. */
interface Seat {
  readonly machine: FollowedMachine;
  /** What the editor has, and what it has shown. */
  buffer: string[];
  shown: ReadonlySet<string>;
  /** Since when its file has which lines. */
  readonly since: Map<string, number>;
  /** Lines that came into the file here: another program takes the file as it finds it. */
  readonly own: Set<string>;
  stashes: number;
}

function knownLines(text: string): string[] {
  return contentLines(text).filter((line) => /^[-#]/.test(line));
}

const LOOKS_MAX = 5;

function isMoving({ machine: { status } }: Seat): boolean {
  return status.state === "waiting" && status.why?.code === "not-now";
}

/** People at two clones, who edit, commit, pull, merge, stash and settle, as a seed says. */
class PulledHistory {
  readonly #lab = new FollowedClones();
  readonly #random: () => number;
  #seats: Seat[] = [];
  #count = 0;
  /** What stood in a file that was followed. */
  readonly #owed = new Set<string>();
  /** What somebody took out who had seen it, or whose own it was. */
  readonly #gone = new Set<string>();
  readonly steps: string[] = [];

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  async run(): Promise<void> {
    try {
      const { a, b } = await this.#lab.pair({ [FILE]: START });
      const write = this.#chance(0.8);
      for (const machine of [a, b]) {
        await machine.follow({ write });
        await machine.pass(LONG_MS);
        const since = new Map(knownLines(START).map((line) => [line, 0] as const));
        const seat = {
          machine,
          buffer: [],
          shown: new Set<string>(),
          since,
          own: new Set<string>(),
        };
        this.#seats.push({ ...seat, stashes: 0 });
      }
      for (const seat of this.#seats) this.#load(seat);
      for (const line of knownLines(START)) this.#owed.add(line);
      for (let step = 0; step < STEPS; step++) await this.#step(pick(this.#random, this.#seats));
      await this.#end();
    } finally {
      await this.#lab.end();
    }
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  async #step(seat: Seat): Promise<void> {
    if (this.#isOpen(seat)) {
      if (this.#chance(0.7)) await this.#settleMarks(seat);
      return;
    }
    const is = this.#random();
    if (is < 0.35) await this.#sit(seat);
    else if (is < 0.45) await this.#git(seat, "commit", "-qam", "x");
    else if (is < 0.52) await this.#git(seat, "push", "-q", "origin", "main");
    else if (is < 0.68) await this.#pull(seat);
    else if (is < 0.74) await this.#stash(seat);
    else if (is < 0.82) await this.#pop(seat);
    else if (is < 0.86) await this.#branch(seat);
    else if (is < 0.94) await this.#pass(pick(this.#random, [2_000, 20_000, 70_000]));
    else await this.#meet();
  }

  /** git shows its marks, or waits for a merge to be committed. */
  #isOpen({ machine: { dir } }: Seat): boolean {
    const folder = join(dir, ".git");
    const isBusy = ["MERGE_HEAD", "rebase-merge", "rebase-apply"].some((name) =>
      existsSync(join(folder, name)),
    );
    return isBusy || this.#hasMarks({ dir });
  }

  /** Elsewhere nobody reads what is saved. */
  #isOnMain({ machine: { dir } }: Seat): boolean {
    return readFileSync(join(dir, ".git", "HEAD"), "utf8")
      .trim()
      .endsWith("/main");
  }

  #hasMarks({ dir }: Pick<FollowedMachine, "dir">): boolean {
    const seat = this.#seats.find(({ machine }) => machine.dir === dir);
    return seat !== undefined && /^<{7} /m.test(seat.machine.file());
  }

  async #git(seat: Seat, ...args: string[]): Promise<boolean> {
    const isDone = await this.#lab.run(seat.machine, ...args).then(
      () => true,
      () => false,
    );
    this.steps.push(`${seat.machine.name}: git ${args.join(" ")}${isDone ? "" : " fails"}`);
    this.#see(seat);
    if (this.#chance(0.7)) await this.#look(seat);
    return isDone;
  }

  async #look(seat: Seat): Promise<void> {
    const isRead = this.#isOnMain(seat) && !this.#isOpen(seat);
    if (isRead) for (const line of knownLines(seat.machine.file())) this.#owed.add(line);
    await seat.machine.settle();
    // What is written all the time waits for its quiet, and git may take it before that comes.
    for (let more = 0; more < LOOKS_MAX && isMoving(seat); more++) await seat.machine.settle();
    this.#see(seat);
  }

  #see({ machine, since }: Seat): void {
    const lines = new Set(knownLines(machine.file()));
    for (const line of lines) if (!since.has(line)) since.set(line, machine.now);
    for (const line of [...since.keys()]) if (!lines.has(line)) since.delete(line);
  }

  #load(seat: Seat): void {
    const text = seat.machine.file();
    seat.buffer = contentLines(text);
    seat.shown = new Set(knownLines(text));
  }

  async #sit(seat: Seat): Promise<void> {
    const isLoaded = this.#chance(0.6);
    if (isLoaded) this.#load(seat);
    this.steps.push(`${seat.machine.name}: ${isLoaded ? "reloads" : "goes on"}`);
    for (let edits = this.#chance(0.6) ? 1 : 2; edits > 0; edits--) this.#edit(seat);
    await this.#save(seat, seat.buffer.join(""));
  }

  #edit({ machine, buffer }: Seat): void {
    const at = Math.floor(this.#random() * buffer.length);
    const line = buffer[at] ?? "";
    const added = `- ${pick(this.#random, WORDS)} ${pick(this.#random, WORDS)} ${++this.#count}\n`;
    const how = line.startsWith("- ") ? pick(this.#random, ["type", "mend", "delete"]) : "type";
    const mended = `${line.trimEnd()} ${pick(this.#random, WORDS)} ${this.#count}\n`;
    if (how === "type") buffer.splice(at + 1, 0, added);
    else buffer.splice(at, 1, ...(how === "mend" ? [mended] : []));
    const what = how === "type" ? added : how === "mend" ? mended : "";
    this.steps.push(`${machine.name}: ${how}s ${what.trim()} at ${line.trim()}`);
  }

  async #save(seat: Seat, text: string): Promise<void> {
    const { machine, since, own, shown } = seat;
    const file = new Set(knownLines(machine.file()));
    const has = new Set(knownLines(text));
    for (const line of [...shown, ...file]) {
      const isLong = machine.now - (since.get(line) ?? machine.now) >= SEEN_MS;
      if (!has.has(line) && (shown.has(line) || own.has(line) || isLong)) this.#gone.add(line);
    }
    for (const line of has) {
      if (file.has(line)) continue;
      own.add(line);
      this.#gone.delete(line);
    }
    seat.shown = has;
    this.steps.push(`${machine.name}: saves`);
    machine.put(text);
    await this.#look(seat);
  }

  async #pull(seat: Seat): Promise<void> {
    if (this.#chance(0.6)) await this.#git(seat, "commit", "-qam", "x");
    const ways = [["--no-rebase"], ["--rebase"], ["--no-rebase", "--autostash"]];
    await this.#git(seat, "pull", "-q", "--no-edit", ...pick(this.#random, ways), "origin", "main");
  }

  async #stash(seat: Seat): Promise<void> {
    const isChanged = (await this.#lab.run(seat.machine, "status", "-s", "-uno")) !== "";
    if (isChanged && (await this.#git(seat, "stash", "-q"))) seat.stashes++;
  }

  async #pop(seat: Seat): Promise<void> {
    if (seat.stashes === 0) return;
    if (await this.#git(seat, "stash", "pop", "-q")) seat.stashes--;
  }

  /** A branch with a commit, which is merged or left. */
  async #branch(seat: Seat): Promise<void> {
    const name = `branch-${++this.#count}`;
    if (!(await this.#git(seat, "checkout", "-q", "-b", name))) return;
    await this.#sit(seat);
    await this.#git(seat, "commit", "-qam", name);
    const isBack = await this.#git(seat, "checkout", "-q", "main");
    if (!isBack || !this.#chance(0.7)) return;
    await this.#git(seat, "merge", "-q", "--no-edit", name);
  }

  /** Somebody who reads git's marks puts one version in each place, or both. */
  async #settleMarks(seat: Seat): Promise<void> {
    const { machine } = seat;
    if (this.#hasMarks(machine)) {
      this.#load(seat);
      const text = machine.file().replace(PLACE, (_, mine: string, theirs: string) => {
        return pick(this.#random, [mine, theirs, mine + theirs]);
      });
      seat.buffer = contentLines(text);
      await this.#save(seat, text);
    }
    await this.#git(seat, "add", FILE);
    const isIn = (name: string) => existsSync(join(machine.dir, ".git", name));
    if (isIn("MERGE_HEAD")) await this.#git(seat, "commit", "-q", "--no-edit");
    else if (isIn("rebase-merge") || isIn("rebase-apply"))
      await this.#git(seat, "-c", "core.editor=true", "rebase", "--continue");
    else if (seat.stashes > 0 && (await this.#git(seat, "stash", "drop", "-q"))) seat.stashes--;
  }

  async #pass(milliseconds: number): Promise<void> {
    this.steps.push(`${milliseconds} ms pass`);
    for (const seat of this.#seats) {
      await seat.machine.pass(milliseconds);
      this.#see(seat);
    }
  }

  async #meet(): Promise<void> {
    this.steps.push("they meet");
    await exchange(this.#seats.map(({ machine }) => machine));
    for (const seat of this.#seats) this.#see(seat);
  }

  async #end(): Promise<void> {
    for (const seat of this.#seats) {
      for (let nth = 0; nth < 6 && this.#isOpen(seat); nth++) await this.#settleMarks(seat);
      await this.#look(seat);
    }
    for (let round = 0; round < 2; round++) {
      for (const { machine } of this.#seats) {
        await machine.settle();
        await machine.pass(LONG_MS);
      }
      await this.#meet();
    }
    const machines = this.#seats.map(({ machine }) => machine);
    const [first, other] = machines as [FollowedMachine, FollowedMachine];
    const text = await first.doc();
    const listed = await first.listed();
    expect(await other.doc()).toBe(text);
    expect(await other.listed()).toEqual(listed);
    const open = (await first.conflicts()).filter(({ id }) => listed.includes(id));
    const told = open.flatMap(({ versions }) =>
      versions.flatMap((each) => contentLines(each.text)),
    );
    const there = new Set([...contentLines(text), ...told]);
    const lost = [...this.#owed].filter((line) => !there.has(line) && !this.#gone.has(line));
    const alone = (await Promise.all(machines.map((each) => each.alone()))).flat();
    const untold = alone.filter((line) => /^[-#]/.test(line) && !there.has(line));
    expect({ lost, untold }).toEqual({ lost: [], untold: [] });
  }
}

for (const seed of SEEDS) {
  test(`no line that a person wrote is gone untold, whatever git does to it (seed ${seed})`, async () => {
    const history = new PulledHistory(seed);
    try {
      await history.run();
    } catch (thrown) {
      throw new Error(`seed ${seed}:\n${history.steps.join("\n")}`, { cause: thrown });
    }
  });
}
