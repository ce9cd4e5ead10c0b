import { beforeEach, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { listTold, settleLine } from "../../daemon/files/arrivals/told-lines.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";

const INDEX = "MEMORY.md";
const DAY_MS = 24 * 60 * 60_000;
const ONE = "- [One](one.md)";
const TWO = "- [Two](two.md)";
const FIRST = `# Memory\n\n${ONE}\n${TWO}\n`;

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
  a.save(INDEX, FIRST);
  await settleMemories(a, b);
  await passMinute();
});

async function passMinute(): Promise<void> {
  for (const machine of [a, b]) machine.world.advance(61_000);
  await settleMemories(a, b);
}

async function exchange(): Promise<void> {
  for (const machine of [a, b]) await machine.keeper.look();
  await exchangeKept(a, b);
  for (const machine of [a, b]) await machine.keeper.look();
}

function toldOf({ keeper }: MemoryMachine): unknown[] {
  return keeper.status.flatMap(({ notes }) =>
    notes.flatMap(({ why }) => ("line" in why ? [`${why.code} ${why.line}`] : [])),
  );
}

/** As `memsync lines` does. */
async function decide(machine: MemoryMachine, line: string, as: "drop" | "keep"): Promise<void> {
  const path = join(machine.memories, INDEX);
  await machine.store.write(({ db, now }) => settleLine(db, path, { line, as, at: now }));
  await machine.keeper.lookAnew();
}

/** b takes a line out, and a saves from an old buffer; no line of either is lost. */
async function undo(): Promise<void> {
  b.save(INDEX, FIRST.replace(`${TWO}\n`, ""));
  await b.look();
  await exchange();
  expect(a.read(INDEX)).not.toContain(TWO);
  a.save(INDEX, `${FIRST}- of anna\n`);
  await exchange();
  await exchange();
  for (const machine of [a, b]) expect(machine.read(INDEX)).toBe(`${FIRST}- of anna\n`);
}

test("a line that another's stale save brings back is told on both machines, and dropped by one", async () => {
  await undo();
  expect(toldOf(a)).toEqual([`line-returned ${TWO}`]);
  expect(toldOf(b)).toEqual([`line-undone ${TWO}`]);
  await decide(b, TWO, "drop");
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    expect(machine.read(INDEX)).toBe(`${FIRST.replace(`${TWO}\n`, "")}- of anna\n`);
    expect(toldOf(machine)).toEqual([]);
  }
});

test("who meant to bring it back keeps it, and is told no more", async () => {
  await undo();
  await decide(a, TWO, "keep");
  await decide(b, TWO, "keep");
  await settleMemories(a, b);
  await passMinute();
  for (const machine of [a, b]) {
    expect(machine.read(INDEX)).toContain(TWO);
    expect(toldOf(machine)).toEqual([]);
  }
});

test("two sessions of one machine: a line that the one took out and the other brings back is told", async () => {
  a.save(INDEX, FIRST.replace(`${TWO}\n`, ""));
  await a.look();
  a.save(INDEX, `${FIRST}- of session 2\n`);
  await a.look();
  expect(a.read(INDEX)).toContain(TWO);
  expect(toldOf(a)).toEqual([`line-returned ${TWO}`]);
  await decide(a, TWO, "drop");
  await settleMemories(a, b);
  expect(b.read(INDEX)).toBe(FIRST.replace(`${TWO}\n`, "- of session 2\n"));
});

test("a line that stays though a save lacks it is dropped, or kept and no longer told", async () => {
  for (const [line, as] of [
    ["- a typo", "drop"],
    ["- a thought", "keep"],
  ] as const) {
    const before = a.read(INDEX) ?? "";
    b.save(INDEX, `${b.read(INDEX)}${line}\n`);
    await exchange();
    a.save(INDEX, before);
    await exchange();
    expect(toldOf(a)).toEqual([`line-kept ${line}`]);
    expect(toldOf(b)).toEqual([]);
    await decide(a, line, as);
    await settleMemories(a, b);
    for (const machine of [a, b]) {
      expect(machine.read(INDEX)?.includes(line)).toBe(as === "keep");
      expect(toldOf(machine)).toEqual([]);
      expect(await machine.values(INDEX)).toHaveLength(1);
    }
    await passMinute();
  }
});

test("who keeps a line that others drop at once is told, and has it back everywhere by one command", async () => {
  b.save(INDEX, `${FIRST}- precious\n`);
  await exchange();
  a.save(INDEX, `${FIRST}- stale\n`);
  await exchange();
  await decide(b, "- precious", "keep");
  await decide(a, "- precious", "drop");
  await settleMemories(a, b);
  for (const machine of [a, b]) expect(machine.read(INDEX)).not.toContain("precious");
  expect(toldOf(a)).toEqual([]);
  expect(toldOf(b)).toEqual(["line-dropped - precious"]);
  await decide(b, "- precious", "keep");
  await settleMemories(a, b);
  for (const machine of [a, b]) expect(machine.read(INDEX)).toContain("- precious");
  expect(toldOf(a)).toEqual(["line-undone - precious"]);
  expect(toldOf(b)).toEqual([]);
});

test("a kept line with which others go on is no dropped one", async () => {
  b.save(INDEX, `${FIRST}- precious\n`);
  await exchange();
  a.save(INDEX, `${FIRST}- stale\n`);
  await exchange();
  await decide(b, "- precious", "keep");
  await settleMemories(a, b);
  await passMinute();
  await passMinute();
  a.save(INDEX, (a.read(INDEX) ?? "").replace("- precious", "- precious, and more"));
  await settleMemories(a, b);
  expect(b.read(INDEX)).toContain("- precious, and more");
  expect(toldOf(b)).toEqual([]);
});

test("a program that never reads the file again takes a kept line out only with a conflict", async () => {
  b.save(INDEX, `${FIRST}- precious\n`);
  await exchange();
  a.save(INDEX, `${FIRST}- stale 1\n`);
  await exchange();
  await decide(a, "- precious", "keep");
  await settleMemories(a, b);
  for (const { world } of [a, b]) world.advance(20 * DAY_MS);
  await settleMemories(a, b);
  await passMinute();
  a.save(INDEX, `${FIRST}- stale 1\n- stale 2\n`);
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    expect(machine.read(INDEX)).not.toContain("precious");
    const [, ...aside] = await machine.values(INDEX);
    expect(aside.map((text) => text.includes("- precious\n"))).toEqual([true]);
  }
});

test("who goes on with a line that was kept, or takes it out a month later, makes no conflict", async () => {
  for (const isMended of [true, false]) {
    const before = a.read(INDEX) ?? "";
    b.save(INDEX, `${before}- a thought${isMended}\n`);
    await exchange();
    a.save(INDEX, before);
    await exchange();
    await decide(a, `- a thought${isMended}`, "keep");
    await settleMemories(a, b);
    if (!isMended) for (const { world } of [a, b]) world.advance(31 * DAY_MS);
    await passMinute();
    const line = `- a thought${isMended}`;
    const text = a.read(INDEX) ?? "";
    expect(text).toContain(line);
    a.save(INDEX, isMended ? text.replace(line, `${line}, gone on with`) : before);
    await settleMemories(a, b);
    for (const machine of [a, b]) expect(await machine.values(INDEX)).toHaveLength(1);
    await passMinute();
  }
});

/** The personal text of two machines, where one's line has just come to the other. */
class Desks {
  private constructor(
    readonly c: PersonalMachine,
    readonly d: PersonalMachine,
  ) {}

  static async start(): Promise<Desks> {
    const [c, d] = [await PersonalMachine.start("cleo"), await PersonalMachine.start("dora")];
    await c.on("claude");
    await d.on("codex");
    c.edit("claude", () => "one\n");
    await settlePersonal(c, d);
    for (const machine of [c, d]) {
      machine.world.advance(61_000);
      await machine.look();
    }
    d.edit("codex", (text) => `${text}two\n`);
    const desks = new Desks(c, d);
    await desks.exchange();
    expect(c.block("claude")).toBe("one\ntwo\n");
    return desks;
  }

  async exchange(): Promise<void> {
    for (const machine of [this.c, this.d]) await machine.keeper.look();
    await exchangeKept(this.c, this.d);
    for (const machine of [this.c, this.d]) await machine.keeper.look();
  }

  /** c saves without the line. */
  async leaveOut(word: string): Promise<void> {
    const text = this.c.file("claude").replace("two\n", "");
    this.c.save("claude", text.replace("one\n", `one\n${word}\n`));
    await this.exchange();
    await this.exchange();
  }

  /** c reads the text once more, long after the line came. */
  async pass(milliseconds: number): Promise<void> {
    for (const { world } of [this.c, this.d]) world.advance(milliseconds);
    await this.exchange();
  }

  async end(): Promise<void> {
    for (const machine of [this.c, this.d]) await machine.remove();
  }
}

test("personal text: no write-back makes a line new again, and its minute ends", async () => {
  const desks = await Desks.start();
  const { c, d } = desks;
  for (const at of [20, 40]) {
    await desks.pass(20_000);
    await desks.leaveOut(`at ${at}`);
    for (const block of [c.block("claude"), d.block("codex")]) expect(block).toContain("two\n");
    expect(c.stateOf("claude")).toBe("current line-kept");
  }
  await desks.pass(21_000);
  await desks.leaveOut("at 61");
  for (const block of [c.block("claude"), d.block("codex")]) {
    expect(block?.split("\n").sort()).toEqual(["", "at 20", "at 40", "at 61", "one"]);
  }
  // Whoever never read the file saves just so.
  expect(c.stateOf("claude")).toBe("current line-gone");
  const path = c.pathOf("claude");
  expect(dirname(path)).toBe(c.folder);
  await c.store.write(({ db, now }) => settleLine(db, path, { line: "two", as: "keep", at: now }));
  await c.keeper.lookAnew();
  await settlePersonal(c, d);
  for (const block of [c.block("claude"), d.block("codex")]) expect(block).toContain("two\n");
  expect(c.stateOf("claude")).toBe("current");
  await desks.end();
});

test("personal text: a line that stays is dropped by one decision, and by a second save alone", async () => {
  for (const isDecided of [true, false]) {
    const desks = await Desks.start();
    const { c, d } = desks;
    await desks.leaveOut("three");
    expect(c.stateOf("claude")).toBe("current line-kept");
    if (isDecided) {
      const path = c.pathOf("claude");
      await c.store.write(({ db, now }) =>
        settleLine(db, path, { line: "two", as: "drop", at: now }),
      );
      await c.keeper.lookAnew();
    } else {
      await desks.pass(61_000);
      // That is what c had saved before.
      c.edit("claude", (text) => text.replace("two\n", ""));
    }
    await settlePersonal(c, d);
    expect([c.block("claude"), d.block("codex")]).toEqual(["one\nthree\n", "one\nthree\n"]);
    await desks.end();
  }
});

test("personal text: a save that lacks a line that was kept is told", async () => {
  for (const as of ["stale", "mended"] as const) {
    const desks = await Desks.start();
    const { c, d } = desks;
    await desks.leaveOut("three");
    const path = c.pathOf("claude");
    await c.store.write(({ db, now }) =>
      settleLine(db, path, { line: "two", as: "keep", at: now }),
    );
    await c.keeper.lookAnew();
    await settlePersonal(c, d);
    expect(c.stateOf("claude")).toBe("current");
    await desks.pass(61_000);
    await desks.pass(DAY_MS);
    if (as === "stale") await desks.leaveOut("four");
    else c.edit("claude", (text) => text.replace("two", "two, gone on with"));
    await settlePersonal(c, d);
    expect(d.block("codex")?.includes("two")).toBe(as !== "stale");
    expect(c.stateOf("claude")).toBe(as === "stale" ? "current line-gone" : "current");
    await desks.end();
  }
});

test("personal text: an earlier version without a kept line is asked about, as any", async () => {
  const desks = await Desks.start();
  const { c, d } = desks;
  await desks.leaveOut("three");
  const path = c.pathOf("claude");
  await c.store.write(({ db, now }) => settleLine(db, path, { line: "two", as: "keep", at: now }));
  await c.keeper.lookAnew();
  await settlePersonal(c, d);
  await desks.pass(61_000);
  c.edit("claude", (text) => text.replace("two\n", ""));
  await settlePersonal(c, d);
  expect(c.stateOf("claude")).toBe("asked personal-former");
  expect(d.block("codex")).toContain("two\n");
  await desks.end();
});

test("personal text: who took a line out is told that a stale save has brought it back", async () => {
  const desks = await Desks.start();
  const { c, d } = desks;
  await desks.pass(61_000);
  const stale = c.file("claude");
  d.edit("codex", (text) => text.replace("two\n", ""));
  await desks.exchange();
  expect(c.block("claude")).toBe("one\n");
  c.save("claude", stale.replace("one\n", "one\nthree\n"));
  await settlePersonal(c, d);
  expect(c.stateOf("claude")).toBe("current line-returned");
  expect(d.stateOf("codex")).toBe("current line-undone");
  const asked = { path: d.pathOf("codex"), text: "two\n", now: d.world.now() };
  const [told] = await listTold(d.store.reader, asked);
  expect(told).toMatchObject({ code: "line-undone", line: "two" });
  await d.store.write(({ db, now }) =>
    settleLine(db, d.pathOf("codex"), { line: "two", as: "drop", at: now }),
  );
  await d.keeper.lookAnew();
  await settlePersonal(c, d);
  expect(c.block("claude")).toBe("one\nthree\n");
  await desks.end();
});

test("personal text: who keeps a line that others take out at once is told", async () => {
  const desks = await Desks.start();
  const { c, d } = desks;
  await desks.leaveOut("three");
  const decideAt = async (
    { store, keeper }: PersonalMachine,
    path: string,
    as: "drop" | "keep",
  ) => {
    await store.write(({ db, now }) => settleLine(db, path, { line: "two", as, at: now }));
    await keeper.lookAnew();
  };
  await decideAt(c, c.pathOf("claude"), "keep");
  await decideAt(d, d.pathOf("codex"), "drop");
  await settlePersonal(c, d);
  expect(d.block("codex")).not.toContain("two\n");
  expect(c.stateOf("claude")).toBe("current line-dropped");
  await decideAt(c, c.pathOf("claude"), "keep");
  await settlePersonal(c, d);
  for (const block of [c.block("claude"), d.block("codex")]) expect(block).toContain("two\n");
  expect(c.stateOf("claude")).toBe("current");
  await desks.end();
});
