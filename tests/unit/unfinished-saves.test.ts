import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import {
  FOUND_MS,
  isUnfinished,
  UNFINISHED_MS,
  UNFINISHED_MS_MAX,
} from "../../daemon/files/state/unfinished.ts";
import { splitForm } from "../../shared/replica/text/text-form.ts";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

/** Between two pieces of a program that writes slowly. */
const PIECE_MS = 4500;
const NEXT = START.replace("with make.", "with make all.");
const OF_B = "Of b.\n\n";
/** More in front of the former text than that has lines. */
const ANEW = `${"A new line.\n".repeat(9)}\n${NEXT}`;

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.apart());
  for (const each of [a, b]) await each.save(START);
  await exchange([a, b]);
});

/** A look for which no time passes. */
async function look(): Promise<void> {
  await a.saveAndLook(a.file());
}

/** As a program writes that fills the emptied file piece by piece, while events tell of it. */
async function writeSlowly(text: string, pieces: readonly string[]): Promise<void> {
  let written = "";
  for (const piece of pieces) {
    written += piece;
    await a.saveAndLook(written);
    expect(await a.doc()).not.toContain("Of a.");
    await a.pass(PIECE_MS);
    await look();
  }
  expect(written).toBe(text);
  await a.settle();
}

function cutEvery(text: string, length: number): string[] {
  return text.match(new RegExp(`[^]{1,${length}}`, "g")) ?? [];
}

for (const [how, next, pieces] of [
  ["inside lines", NEXT, cutEvery(NEXT, 12)],
  ["between lines", NEXT, NEXT.split(/(?<=\n)/)],
  ["behind a new beginning", ANEW, cutEvery(ANEW, 24)],
] as const) {
  test(`a text that a program writes in pieces cut ${how} arrives whole, beside what another machine writes meanwhile`, async () => {
    await b.save(`${START}${OF_B}`);
    await writeSlowly(next, pieces);
    expect(await a.doc()).toBe(next);
    await exchange([a, b]);
    for (const each of [a, b]) {
      expect(each.file()).toBe(`${next}${OF_B}`);
      expect(await each.conflicts()).toEqual([]);
    }
  });
}

test("what others write comes into a file that is being written only once that is done", async () => {
  await a.saveAndLook(NEXT.slice(0, 20));
  await b.save(`${OF_B}${START}`);
  const update = await b.update();
  a.put(NEXT.slice(0, 25));
  await look();
  const half = a.file();
  expect(half).toBe(NEXT.slice(0, 25));
  a.put(NEXT);
  await a.load(update);
  expect(a.file().replace(OF_B, "")).toBe(NEXT);
});

for (const [what, next] of [
  ["a line", START.replace("make test", "make")],
  ["without a last line break", START.replace("# Guide\n", "# G\n").trimEnd()],
  ["so that a line stands twice", START.replace("# Guide\n\nBuild with make.\n\n", "")],
] as const) {
  test(`a shorter text that is written over the former one, ${what}, is taken without what was left of that`, async () => {
    const left = next + Buffer.from(START).subarray(Buffer.byteLength(next)).toString();
    await a.saveAndLook(left);
    expect(await a.doc()).toBe(START);
    await a.saveAndLook(next);
    await a.settle();
    expect(await a.doc()).toBe(next);
  });
}

for (const [what, next] of [
  ["whose lines changed places", START.replace(/(Build.*\n)\n(Test.*\n)/, "$2\n$1")],
  ["with another word of the same length", START.replace("make.", "cake.")],
] as const) {
  test(`a text as long as before ${what} arrives at once`, async () => {
    expect(next.length).toBe(START.length);
    expect(next).not.toBe(START);
    await a.saveAndLook(next);
    expect(await a.doc()).toBe(next);
  });
}

test("pieces that end inside a line are not in the history, whole lines are", async () => {
  const before = (await a.saves()).outcomes.length;
  for (const length of [5, 20, 24]) {
    await a.saveDuringLook(NEXT.slice(0, length));
    await look();
  }
  await a.saveAndLook(NEXT);
  await a.settle();
  expect((await a.saves()).outcomes.slice(before)).toEqual(["taken"]);
  await a.saveDuringLook("# Guide\n");
  await a.save(START);
  expect((await a.saves()).outcomes.slice(before)).toEqual(["taken", "overtaken", "taken"]);
});

test("what was left of a longer text and was cut off at once is not in the history", async () => {
  const before = (await a.saves()).outcomes.length;
  const next = START.replace("make test", "make");
  await a.saveDuringLook(next + START.slice(next.length));
  await a.saveDuringLook(next);
  await a.settle();
  expect((await a.saves()).outcomes.slice(before)).toEqual(["taken"]);
});

test("a text without a last line break that stood for a second is in the history, though the next one only continues it", async () => {
  const [first, next] = [`${START}One`, `${START}One\n\nTwo`];
  await a.saveAndLook(first);
  await a.pass(FOUND_MS);
  await a.saveAndLook(next);
  expect(a.status).toMatchObject({ why: { code: "being-written" } });
  expect((await a.saves()).texts).toContain(first);
});

for (const [what, text] of [
  ["a text whose last line break somebody removed", START.slice(0, -1)],
  ["a text whose last section somebody removed", "# Guide\n\nBuild with make.\n"],
  ["a word without a line break behind the text", `${START}More`],
] as const) {
  test(`${what} arrives after five seconds`, async () => {
    await a.saveAndLook(text);
    expect(await a.doc()).toBe(START);
    expect(a.status).toMatchObject({ state: "waiting", why: { code: "being-written" } });
    await a.pass(UNFINISHED_MS - 1);
    await look();
    expect(await a.doc()).toBe(START);
    await a.pass(1);
    await look();
    expect(await a.doc()).toBe(text);
    expect(a.status.state).toBe("followed");
  });
}

test("each of many saves that look half written is in the history while the last one still waits", async () => {
  // More than are kept in memory between two looks.
  const lines = Array.from({ length: 30 }, (_, at) => `Line ${at}.\n`);
  await a.save(lines.join(""));
  const saved = lines.map((_, at) => lines.slice(0, -1 - at).join(""));
  for (const text of saved.slice(0, 25)) {
    await a.saveAndLook(text);
    await a.pass(UNFINISHED_MS_MAX / 30);
  }
  expect(a.status).toMatchObject({ why: { code: "being-written" } });
  const { texts } = await a.saves();
  for (const text of saved.slice(0, 24)) expect(texts).toContain(text);
});

test("a program that never stops writing is waited for a minute", async () => {
  let text = START;
  for (let ms = 0; ms < UNFINISHED_MS_MAX; ms += UNFINISHED_MS / 2) {
    text += "more ";
    await a.saveAndLook(text);
    expect(await a.doc()).toBe(START);
    await a.pass(UNFINISHED_MS / 2);
  }
  await look();
  expect(await a.doc()).toBe(text);
});

test("what the first of many saves had not seen is in doubt when the last one is taken", async () => {
  await b.save(`${START}${OF_B}`);
  await exchange([a, b]);
  expect(a.file()).toBe(`${START}${OF_B}`);
  // From a buffer of before, and from then on what the program has saved itself.
  let text = START;
  for (let ms = 0; ms < UNFINISHED_MS_MAX; ms += UNFINISHED_MS / 2) {
    text = `Line ${ms}.\n${text}`;
    await a.saveAndLook(text);
    await a.pass(UNFINISHED_MS / 2);
  }
  await a.settle();
  expect(await a.doc()).toContain("Line 0.");
  expect(await a.doc()).toContain(OF_B.trim());
  expect(await a.conflicts()).toHaveLength(1);
});

test("what the first of many saves had not seen is in doubt, though the daemon ends meanwhile", async () => {
  await b.save(`${START}${OF_B}`);
  await exchange([a, b]);
  await a.pass(10_000);
  let text = START;
  for (let ms = 0; ms <= 50_000; ms += UNFINISHED_MS / 2) {
    text = `Line ${ms}.\n${text}`;
    await a.saveAndLook(text);
    await a.pass(UNFINISHED_MS / 2);
  }
  expect(await a.doc()).not.toContain("Line 0.");
  await a.stop();
  a = await lab.open("a");
  await a.pass(120_000);
  a.put(`Later.\n${text}`);
  await a.follow();
  for (const line of ["Line 0.", "Later.", OF_B.trim()]) expect(await a.doc()).toContain(line);
  expect(await a.conflicts()).toHaveLength(1);
});

for (const isEnded of [false, true]) {
  test(`what a held save had not seen is in doubt when it is mended${isEnded ? " while no daemon runs" : ""}, and can be deleted then`, async () => {
    await b.save(`${START}${OF_B}`);
    await exchange([a, b]);
    a.put(`${START}The key is ${PLANTED.github}.\n`);
    await a.settle();
    expect(a.status.state).toBe("held");
    if (isEnded) {
      await a.stop();
      a = await lab.open("a");
      // Its clock has begun anew.
      await a.pass(60_000);
    }
    await a.pass(2 * UNFINISHED_MS_MAX);
    a.put(`${START}Mended.\n`);
    if (isEnded) await a.follow();
    await a.settle();
    for (const line of ["Mended.", OF_B.trim()]) expect(await a.doc()).toContain(line);
    expect(await a.conflicts()).toHaveLength(1);
    await a.pass(2 * UNFINISHED_MS_MAX);
    a.put(a.file().replace(OF_B, ""));
    await a.settle();
    expect(await a.doc()).not.toContain(OF_B.trim());
  });
}

test("a half text that is gone with its file leaves a minute to the next one", async () => {
  await a.saveAndLook(START.slice(0, 5));
  a.remove();
  await a.settleAfterGrace();
  await a.pass(UNFINISHED_MS_MAX);
  await a.settle();
  for (const length of [12, 20]) {
    await a.saveAndLook(NEXT.slice(0, length));
    expect(await a.doc()).toBe(START);
    await a.pass(PIECE_MS);
  }
  // Whoever had it anew need not know of what stood there before.
  await a.save(NEXT);
  expect(await a.doc()).toBe(NEXT.replace("all.\n", "all.\nBuild with make.\n"));
});

test("a text that waited is in the history once, however many looks come while its file is gone", async () => {
  const before = (await a.saves()).outcomes.length;
  await a.saveAndLook(`# Guide\n\nMended.\n`);
  a.remove();
  for (let at = 0; at < 5; at++) {
    await a.pass(100);
    await a.settle();
  }
  expect((await a.saves()).outcomes.slice(before)).toHaveLength(1);
});

test("whole lines of a text that waited arrive, and delete nothing, where its file is removed meanwhile", async () => {
  const before = (await a.saves()).outcomes.length;
  await a.saveAndLook(`# Guide\n\nMended.\n`);
  a.remove();
  await a.settleAfterGrace();
  const mended = START.replace("# Guide\n\n", "# Guide\n\nMended.\n");
  expect(await a.doc()).toBe(mended);
  expect((await a.saves()).outcomes.slice(before)).toEqual(["taken"]);
  await b.save(`${START}${OF_B}`);
  await exchange([a, b]);
  expect(await b.conflicts()).toEqual([]);
  expect(b.file()).toBe(`${mended}${OF_B}`);
  await a.save(`${mended}Again.\n`);
  expect(await a.doc()).toContain("Again.");
  expect((await a.doc()).split("Mended.")).toHaveLength(2);
});

test("a text of which a program has written a part is waited for while that has the file open", async () => {
  a.isOpenToWrite = true;
  await a.saveAndLook("# Guide\n");
  for (let ms = 0; ms < UNFINISHED_MS_MAX; ms += UNFINISHED_MS) {
    expect(await a.doc()).toBe(START);
    await a.pass(UNFINISHED_MS);
    await look();
  }
  expect(await a.doc()).toBe("# Guide\n");
  await a.save(START);
  await a.saveAndLook("# Guide\n");
  a.isOpenToWrite = false;
  await a.pass(UNFINISHED_MS);
  await look();
  expect(await a.doc()).toBe("# Guide\n");
});

for (const [what, begun, rest, waitMs] of [
  ["the rest of it", NEXT.slice(0, 20), NEXT.slice(20), UNFINISHED_MS],
  ["more of it", `More.\n\n${START}`, "Still more.\n", FOUND_MS],
] as const) {
  test(`a text that a program began before the daemon did waits for ${what}, and nothing is written beneath it`, async () => {
    await b.save(`${OF_B}${START}`);
    const update = await b.update();
    await a.stop();
    a.put(begun);
    const next = await lab.open("a");
    await next.load(update);
    await next.beginToFollow();
    expect([next.file(), await next.doc()]).toEqual([begun, `${OF_B}${START}`]);
    await next.pass(waitMs - 1);
    await next.saveAndLook(begun + rest);
    expect([next.file(), await next.doc()]).toEqual([begun + rest, `${OF_B}${START}`]);
    await next.settle();
    await exchange([next, b]);
    expect(next.file().replace(OF_B, "")).toBe(begun + rest);
    expect(b.file()).toBe(next.file());
    expect(await b.conflicts()).toEqual([]);
  });
}

test("a half-written text that stands when the daemon ends is taken by the next one", async () => {
  await a.saveAndLook(START.slice(0, -5));
  await a.stop();
  const next = await lab.machine("a");
  await next.settle();
  expect(await next.doc()).toBe(START.slice(0, -5));
  expect(next.file()).toBe(START.slice(0, -5));
});

test("pieces in a file that has lost its name are waited for, too, unless the daemon ends", async () => {
  const handle = openSync(join(a.dir, FILE), "r+");
  await b.save(`${OF_B}${START}`);
  await exchange([a, b]);
  const write = async (text: string) => {
    ftruncateSync(handle);
    writeSync(handle, text, 0);
    await look();
  };
  await write(NEXT.slice(0, 20));
  await a.pass(PIECE_MS);
  await write(NEXT);
  expect(await a.conflicts()).toEqual([]);
  expect(await a.doc()).toBe(`${OF_B}${NEXT}`);
  await write(NEXT.slice(0, -5));
  expect(await a.doc()).toBe(`${OF_B}${NEXT}`);
  closeSync(handle);
  await a.stop();
  const next = await lab.machine("a");
  expect(await next.doc()).toBe(`${OF_B}${NEXT.slice(0, -5)}`);
});

test("what is not written yet as the daemon ends, into a file that has lost its name, deletes nothing", async () => {
  const handle = openSync(join(a.dir, FILE), "r+");
  await b.save(`${OF_B}${START}`);
  await exchange([a, b]);
  ftruncateSync(handle);
  writeSync(handle, "# Guide\n\nMended.\n", 0);
  closeSync(handle);
  await a.stop();
  const next = await lab.machine("a");
  expect(await next.doc()).toBe(`${OF_B}${START.replace("# Guide\n\n", "# Guide\n\nMended.\n")}`);
});

test("a text is unfinished where its last line has lost its end, or its end is missing", () => {
  const rows = [
    ["", "one", true],
    ["", "one\n", false],
    ["one\n", "one\ntwo", true],
    ["one", "one\ntwo", false],
    ["one\r\ntwo\r\n", "one\r", true],
    ["one\ntwo\nthree\n", "one\n", true],
    ["one\ntwo\nthree\n", "other\n", true],
    ["one\ntwo\nthree\n", "other\nthree\n", false],
    ["one\ntwo\nthree\n", "one\ntwo\nother\n", false],
    ["one\ntwo\nthree\nfour\nfive\n", "one\ntwo\n3\n4\n5\n", true],
    ["one\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\n4\n5\n6\n", false],
    ["one\ntwo\n", "1\n2\n3\n", false],
    ["one\ntwo\n", "one\ntwo\nthree\n", false],
    ["one\ntwo", "one\nt", true],
    ["one\ntwo", "one\nother", false],
    ["one\ntwo\n", "\n", false],
  ] as const;
  for (const [former, content, expected] of rows) {
    const { form, lines } = splitForm(former);
    const state = { hash: "", form, base: { text: lines, spans: [] } };
    const is = isUnfinished(state, { content, hash: "", savedAt: 0 });
    expect([former, content, is]).toEqual([former, content, expected]);
  }
});
