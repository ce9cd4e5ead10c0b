import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { UNSEEN_MS } from "../../daemon/files/arrivals/arrivals.ts";
import { UNFINISHED_MS, UNFINISHED_MS_MAX } from "../../daemon/files/state/unfinished.ts";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";
import { seededRandom } from "../support/random.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const OF_B = "Of b.\n";
const [FIRST, SECOND] = [`Of a.\n${START}`, `Of a.\nAnd more of a.\n${START}`];
/** Whoever has read a file reads it again after this time, before the next save. */
const READ_MS_MAX = 40_000;
const LATER_MS = 2 * UNSEEN_MS;

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.apart());
  for (const each of [a, b]) await each.save(START);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(LATER_MS);
  await b.save(START.replace("make.\n", `make.\n${OF_B}`));
  await exchange([a, b]);
  expect(a.file()).toContain(OF_B);
});

/** By this machine's clock, which a file's time is compared with after a restart. */
async function save(text: string): Promise<void> {
  a.put(text);
  await a.settle();
}

async function restart(): Promise<void> {
  a = await lab.restarted(a);
  await a.settle();
}

/** Both texts are on both machines, and one command settles it. */
async function expectBoth(...lines: readonly string[]): Promise<void> {
  await exchange([a, b]);
  for (const each of [a, b]) {
    for (const line of [...lines, OF_B]) expect(each.file()).toContain(line);
    expect(await each.listed()).toHaveLength(1);
  }
  const [conflict] = await a.conflicts();
  expect(conflict?.versions.map(({ machine }) => machine).sort()).toEqual(["a", "b"]);
  expect(conflict?.versions.every(({ at }) => at !== undefined)).toBe(true);
}

async function expectGone(): Promise<void> {
  await exchange([a, b]);
  for (const each of [a, b]) {
    expect(each.file()).not.toContain(OF_B);
    expect(await each.listed()).toEqual([]);
  }
}

for (const [how, end] of [
  ["ends", () => a.stop()],
  ["is killed", () => a.killIn(0)],
] as const) {
  test(`what a save left out while no daemon ran stays, whatever was saved after it, where the daemon ${how}`, async () => {
    await end();
    await a.pass(10_000);
    a.put(FIRST);
    await a.pass(90_000);
    // By a program that has read what it saved itself.
    a.put(SECOND);
    await restart();
    await expectBoth("Of a.\n", "And more of a.\n");
    // Whoever meant it says so once.
    await a.drain(await a.choiceOf(""));
    await expectGone();
    expect(b.file()).toBe(SECOND);
  });
}

test("what a save leaves out that waits for its end stays, though the daemon ends meanwhile", async () => {
  const half = FIRST.slice(0, -3);
  await a.saveAndLook(half);
  expect(a.status).toMatchObject({ why: { code: "being-written" } });
  for (let ms = 0; ms < LATER_MS; ms += UNFINISHED_MS) {
    await a.killIn(1);
    await a.pass(UNFINISHED_MS);
    a.put(`${half}${ms}`);
    a = await lab.restarted(a);
  }
  await a.settle();
  await expectBoth("Of a.\n");
});

test("a line that nobody looked at a minute after it came is seen once a look has found it", async () => {
  await a.stop();
  await a.pass(LATER_MS);
  await restart();
  await save(FIRST);
  await expectGone();
});

test("a line is no older for a start in its first minute", async () => {
  await a.pass(20_000);
  await a.stop();
  await restart();
  await a.pass(UNSEEN_MS - 45_000);
  await save(FIRST);
  await expectBoth("Of a.\n");
});

test("a line counts as seen a minute after it came, also where the daemon was started anew meanwhile", async () => {
  await a.pass(20_000);
  await a.stop();
  await restart();
  await a.pass(UNSEEN_MS - 20_000);
  await save(FIRST);
  await expectGone();
});

for (const [what, isUp] of [
  ["runs", true],
  ["is down", false],
] as const) {
  test(`a line that had stood for a minute is deleted everywhere while the daemon ${what}`, async () => {
    await a.pass(UNSEEN_MS);
    if (!isUp) await a.stop();
    await a.pass(10_000);
    a.put(FIRST);
    if (isUp) await a.settle();
    else await restart();
    await expectGone();
  });
}

test("what others take away stays where a save while no daemon ran has it, and that is told", async () => {
  for (const each of [a, b]) await each.pass(LATER_MS);
  await b.save(START);
  await exchange([a, b]);
  await a.stop();
  await a.pass(10_000);
  const had = START.replace("make.\n", `make.\n${OF_B}`);
  a.put(`Of a.\n${had}`);
  await a.pass(90_000);
  a.put(`Of a.\nAnd more of a.\n${had}`);
  await restart();
  await expectBoth("Of a.\n", "And more of a.\n");
});

test("what a file is written back once more is no newer for it", async () => {
  await a.pass(40_000);
  await a.save(FIRST);
  expect(a.file()).toContain(OF_B);
  await a.pass(UNSEEN_MS - 40_000);
  await a.save(FIRST);
  expect(await a.doc()).not.toContain(OF_B);
});

test("a file in which every change is seen is looked at no more", async () => {
  for (let ms = 0; ms <= UNSEEN_MS; ms += 1000) await a.pass(1000);
  expect(a.nextLookInMs).toBeGreaterThan(10 * UNSEEN_MS);
});

test("what a save lacks stays that waits for its end past the minute, in a file that has lost its name", async () => {
  const handle = openSync(join(a.dir, FILE), "r+");
  await b.save(`${b.file()}Last.\n`);
  await exchange([a, b]);
  await a.pass(10_000);
  const half = FIRST.slice(0, -3);
  for (let ms = 0; ms < UNFINISHED_MS_MAX; ms += UNFINISHED_MS / 2) {
    ftruncateSync(handle);
    writeSync(handle, `${half}${ms}`, 0);
    await a.saveAndLook(a.file());
    await a.pass(UNFINISHED_MS / 2);
  }
  closeSync(handle);
  await a.settle();
  await exchange([a, b]);
  for (const line of ["Of a.\n", OF_B, "Last."]) expect(b.file()).toContain(line);
  const told = (await b.conflicts()).flatMap(({ versions }) => versions.map(({ text }) => text));
  expect(told).toContain(OF_B);
});

for (const seed of [1, 27, 33, 48]) {
  test(`whatever is killed and when, no line leaves a file that nobody deletes, seed ${seed}`, async () => {
    const random = seededRandom(seed);
    const lines: string[] = [];
    let down = false;
    let read = { text: a.file(), at: a.now };
    for (let step = 0; step < 40; step++) {
      const is = random();
      if (is < 0.4) {
        if (a.now - read.at > READ_MS_MAX || random() < 0.3) read = { text: a.file(), at: a.now };
        lines.push(`Line ${step} of a.\n`);
        read.text = `${lines.at(-1)}${read.text}`;
        a.put(read.text);
      } else if (is < 0.6) {
        if (!down) await a.killIn(Math.floor(random() * 6));
        down = true;
      } else if (is < 0.8) {
        if (down) a = await lab.restarted(a);
        down = false;
        await a.settle();
      } else {
        lines.push(`Line ${step} of b.\n`);
        await b.save(`${b.file()}${lines.at(-1)}`);
      }
      if (!down && random() < 0.5) await exchange([a, b]);
      await a.pass(Math.floor(random() * 20_000));
    }
    if (down) a = await lab.restarted(a);
    await a.settle();
    await exchange([a, b]);
    const missing = lines.filter((line) => !b.file().includes(line));
    expect([seed, missing]).toEqual([seed, []]);
    expect(a.file()).toBe(b.file());
  });
}

test.each([
  ["while the daemon runs", false],
  ["after it was killed", true],
])(
  "lines that a stale buffer leaves out once more are told as deleted: %s",
  async (_, isKilled) => {
    if (isKilled) await a.killIn(0);
    await a.pass(UNSEEN_MS - 10_000);
    a.put(FIRST);
    if (isKilled) {
      await a.pass(20_000);
      await restart();
    } else await a.settle();
    await expectBoth(FIRST.split("\n")[0] ?? "");
    // A second later, after the minute of these lines.
    await a.pass(20_000);
    await save(SECOND);
    await exchange([a, b]);
    for (const each of [a, b]) {
      expect(each.file()).not.toContain(OF_B);
      const told = (await each.conflicts()).find(({ kind }) => kind === "deletion");
      expect(told?.versions.map(({ text }) => text).sort()).toEqual(["", OF_B]);
      expect(await each.listed()).toHaveLength(1);
    }
  },
);

test("lines that a stale buffer has left out again and again are told as deleted", async () => {
  const ages = [5000, 15_000, 30_000, 70_000];
  for (const [nth, age] of ages.entries()) {
    await a.pass(age - (ages[nth - 1] ?? 0));
    await save(`${FIRST}${"Noted.\n".repeat(nth)}`);
    await exchange([a, b]);
    expect(a.file().includes(OF_B)).toBe(age < UNSEEN_MS);
    expect(await b.listed()).toHaveLength(1);
  }
  const told = (await b.conflicts()).find(({ kind }) => kind === "deletion");
  expect(told?.versions.map(({ text }) => text).sort()).toEqual(["", OF_B]);
});

test("whoever deletes what a conflict shows more than a minute after it has settled it", async () => {
  await a.pass(10_000);
  await save(FIRST);
  await expectBoth("Of a.");
  await a.pass(LATER_MS);
  await save(FIRST);
  await expectGone();
});
