import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  closeSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { listPersonalFiles, putPersonalFile } from "../../daemon/home/personal-files.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { seededRandom } from "../support/random.ts";

let a: PersonalMachine;
let b: PersonalMachine;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
  b = await PersonalMachine.start("anna's desktop");
});
afterEach(async () => {
  for (const machine of [a, b]) await machine.remove();
});

const OWN = "# Mine\n\nOnly for this assistant.\n";

test("what is written in one assistant's block is in all others', here and elsewhere", async () => {
  a.save("claude", OWN);
  for (const name of ["claude", "codex"]) await a.on(name);
  for (const name of ["gemini", "zed"]) await b.on(name);
  a.edit("claude", () => "- Use tabs.\n");
  await settlePersonal(a, b);
  for (const name of ["claude", "codex"]) expect(a.block(name)).toBe("- Use tabs.\n");
  for (const name of ["gemini", "zed"]) expect(b.block(name)).toBe("- Use tabs.\n");
  b.edit("zed", (text) => `${text}- Say why.\n`);
  await settlePersonal(a, b);
  expect(a.block("codex")).toBe("- Use tabs.\n- Say why.\n");
  expect(a.file("claude").startsWith(OWN)).toBe(true);
  expect(a.stateOf("claude")).toBe("current");
});

test("looks at files in which nothing changes write nothing, so that the quiet time comes", async () => {
  await a.on("claude");
  a.edit("claude", () => "- Use tabs.\n");
  await a.look();
  a.world.advance(61_000);
  await a.look();
  let writes = 0;
  a.store.whenIdle(() => {
    writes += 1;
  });
  a.world.advance(5000);
  await a.look();
  expect(writes).toBe(0);
  a.edit("claude", () => "- Use spaces.\n");
  await a.look();
  expect(writes).toBeGreaterThan(0);
});

test("edits of two machines that were apart are merged by lines", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "one\ntwo\nthree\nfour\n");
  await settlePersonal(a, b);
  b.world.advance(61_000);
  await b.look();
  a.edit("claude", (text) => text.replace("one\n", "one, by a\n"));
  b.edit("codex", (text) => text.replace("four\n", ""));
  await a.look();
  await b.look();
  a.edit("claude", (text) => `${text}five\n`);
  await settlePersonal(a, b);
  expect(a.block("claude")).toBe("one, by a\ntwo\nthree\nfive\n");
  expect(b.block("codex")).toBe(a.block("claude") ?? "");
  expect(await a.standing()).toHaveLength(1);
});

test("random edits around blocks and in them lose no line that nobody took out", async () => {
  const random = seededRandom(7);
  const files = [
    [a, "claude"],
    [a, "codex"],
    [b, "gemini"],
  ] as const;
  for (const [machine, name] of files) {
    machine.save(name, `# ${name}\n`);
    await machine.on(name);
  }
  const written: string[] = [];
  const around = new Map<string, string>(files.map(([, name]) => [name, `# ${name}\n`]));
  for (let step = 0; step < 40; step++) {
    const [machine, name] = files[Math.floor(random() * files.length)] ?? files[0];
    const line = `line ${step} of ${name}\n`;
    if (random() < 0.3) {
      machine.save(name, machine.file(name).replace(/^/, line));
      around.set(name, line + around.get(name));
    } else {
      written.push(line);
      machine.edit(name, (text) => {
        const lines = text.split("\n").slice(0, -1);
        lines.splice(Math.floor(random() * (lines.length + 1)), 0, line.trimEnd());
        return lines.map((each) => `${each}\n`).join("");
      });
    }
    if (random() < 0.5) await machine.keeper.look();
    if (random() < 0.2) await exchangeKept(a, b);
  }
  await settlePersonal(a, b);
  const text = a.block("claude") ?? "";
  expect(text.split("\n").sort()).toEqual(["", ...written.map((each) => each.trimEnd())].sort());
  for (const [machine, name] of files) {
    expect(machine.block(name)).toBe(text);
    await machine.settle(name, "off");
    expect(machine.file(name)).toBe(around.get(name) ?? "");
  }
});

test("a block that is deleted, a file that is removed and an emptied block delete nothing", async () => {
  for (const name of ["claude", "codex", "gemini", "zed"]) await a.on(name);
  a.edit("claude", () => "- Use tabs.\n");
  await settlePersonal(a);
  a.save("claude", OWN);
  rmSync(a.pathOf("codex"));
  a.edit("gemini", () => "\n");
  await a.keeper.look();
  // Somebody may be about to write them.
  for (const name of ["claude", "codex", "gemini"]) {
    expect(a.stateOf(name)).toBe("waiting personal-just-gone");
  }
  await settlePersonal(a, b);
  expect(a.stateOf("claude")).toBe("asked personal-missing");
  expect(a.stateOf("codex")).toBe("asked personal-missing");
  expect(a.stateOf("gemini")).toBe("asked personal-emptied");
  expect(a.block("zed")).toBe("- Use tabs.\n");
  expect(await b.standing()).toEqual(["- Use tabs.\n"]);
  for (const name of ["claude", "codex", "gemini"]) await a.on(name);
  for (const name of ["claude", "codex", "gemini"]) expect(a.block(name)).toBe("- Use tabs.\n");
  a.edit("gemini", () => "");
  await settlePersonal(a);
  await a.settle("gemini", "take");
  await settlePersonal(a);
  expect(a.block("zed")).toBe("");
});

test("a text that was deleted elsewhere stays in the files until somebody decides", async () => {
  await a.on("claude");
  a.edit("claude", () => "- Use tabs.\n");
  await settlePersonal(a, b);
  await b.writeMemory(undefined);
  await settlePersonal(a, b);
  expect(a.stateOf("claude")).toBe("asked personal-deleted");
  expect(a.block("claude")).toBe("- Use tabs.\n");
  await a.settle("claude", "take");
  await settlePersonal(a, b);
  expect(await b.standing()).toEqual(["- Use tabs.\n"]);
});

test("what another program puts back is no edit, and what its author takes back is one", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "one\n");
  await settlePersonal(a, b);
  const former = a.file("claude");
  b.edit("codex", (text) => `${text}two\n`);
  await settlePersonal(a, b);
  a.world.advance(61_000);
  await a.look();
  a.save("claude", former);
  await settlePersonal(a, b);
  expect(a.stateOf("claude")).toBe("asked personal-former");
  expect(b.block("codex")).toBe("one\ntwo\n");
  // An edit of the former text is merged with what came since.
  a.edit("claude", (text) => `zero\n${text}`);
  await settlePersonal(a, b);
  expect(b.block("codex")).toBe("zero\none\ntwo\n");
  expect(a.block("claude")).toBe("zero\none\ntwo\n");
  // One's own edit can be taken back.
  a.edit("claude", (text) => `${text}three\n`);
  await a.look();
  await a.look();
  a.edit("claude", (text) => text.replace("three\n", ""));
  await settlePersonal(a, b);
  expect(a.stateOf("claude")).toBe("current");
  expect(b.block("codex")).toBe("zero\none\ntwo\n");
});

test("an editor that had the file open before others' lines came takes none of them away", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "one\n");
  await settlePersonal(a, b);
  const open = a.file("claude");
  b.edit("codex", (text) => `${text}two\n`);
  await b.look();
  await exchangeKept(a, b);
  await a.keeper.look();
  expect(a.block("claude")).toBe("one\ntwo\n");
  a.save("claude", open.replace("one\n", "one\nthree\n"));
  await settlePersonal(a, b);
  expect(b.block("codex")?.split("\n").sort()).toEqual(["", "one", "three", "two"]);
  a.save("claude", a.file("claude"));
});

test("a line that others took out just before a save brought it back is told until it goes", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "two\none\n");
  await settlePersonal(a, b);
  for (const machine of [a, b]) {
    machine.world.advance(61_000);
    await machine.look();
  }
  const open = a.file("claude");
  b.edit("codex", (text) => text.replace("two\n", ""));
  await b.look();
  await exchangeKept(a, b);
  await a.keeper.look();
  expect(a.block("claude")).toBe("one\n");
  a.save("claude", open.replace("one\n", "one\nthree\n"));
  await settlePersonal(a, b);
  expect(b.block("codex")?.split("\n").sort()).toEqual(["", "one", "three", "two"]);
  expect(b.stateOf("codex")).toBe("current line-undone");
  expect(a.stateOf("claude")).toBe("current line-returned");
  a.edit("claude", (text) => text.replace("two\n", ""));
  await settlePersonal(a, b);
  expect(b.block("codex")).not.toContain("two");
  expect(a.stateOf("claude")).toBe("current");
});

test("a line that is only like one that came stays beside it, and both are told until one goes", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "one\n");
  await settlePersonal(a, b);
  b.world.advance(61_000);
  for (const [word, isRestarted] of [
    ["running", false],
    ["writing", true],
  ] as const) {
    const before = b.file("codex");
    a.edit("claude", (text) => `${text}- use bun for ${word} the tests\n`);
    await a.look();
    await exchangeKept(a, b);
    await b.keeper.look();
    expect(b.block("codex")).toContain(word);
    if (isRestarted) await b.end();
    const end = "<!-- memsync:personal end";
    b.save("codex", before.replace(end, `- use bun for ${word} the scripts\n${end}`));
    if (isRestarted) await b.begin();
    await settlePersonal(a, b);
    for (const { keeper } of [a, b]) expect(keeper.status.merges).toHaveLength(1);
    for (const what of ["tests", "scripts"]) {
      expect(a.block("claude")).toContain(`- use bun for ${word} the ${what}\n`);
    }
    expect(b.block("codex")).toBe(a.block("claude") ?? "");
    for (const machine of [a, b]) {
      machine.world.advance(61_000);
      await machine.look();
    }
    b.edit("codex", (text) => text.replace(`- use bun for ${word} the tests\n`, ""));
    await settlePersonal(a, b);
    expect(a.block("claude")).not.toContain(`${word} the tests`);
    expect(a.keeper.status.merges).toEqual([]);
  }
});

test("a write that ended unseen is what an edit after it was made of", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "one\ntwo\n");
  await settlePersonal(a, b);
  b.world.advance(61_000);
  await b.look();
  b.edit("codex", (text) => `${text.replace("two", "two, by b")}three\n`);
  await b.look();
  await exchangeKept(a, b);
  const [before] = await listPersonalFiles(a.store.reader);
  await a.keeper.look();
  const [after] = await listPersonalFiles(a.store.reader);
  // As if the process had been killed before it noted the end of the write.
  if (before) await a.putFile({ ...before, next: after?.shown });
  await a.end();
  a.world.advance(130_000);
  a.edit("claude", (text) => text.replace("one\n", ""));
  await a.begin();
  await settlePersonal(a, b);
  expect(b.block("codex")).toBe("two, by b\nthree\n");
  expect(a.keeper.status.merges).toEqual([]);
});

test("what a program writes on into a replaced file is not lost", async () => {
  a.save("claude", "# Mine\n");
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "one\n");
  await settlePersonal(a, b);
  const former = a.file("claude");
  const open = openSync(a.pathOf("claude"), "r+");
  b.edit("codex", (text) => `${text}two\n`);
  await b.look();
  await exchangeKept(a, b);
  await a.keeper.look();
  expect(a.block("claude")).toBe("one\ntwo\n");
  const saved = former.replace("# Mine\n", "# Mine, changed\n").replace("one\n", "one\nthree\n");
  writeSync(open, saved, 0);
  closeSync(open);
  for (let look = 0; look < 3; look++) await a.look();
  await settlePersonal(a, b);
  expect(a.file("claude").startsWith("# Mine, changed\n")).toBe(true);
  expect(b.block("codex")?.split("\n").sort()).toEqual(["", "one", "three", "two"]);
});

test("a block with a secret stays on this machine", async () => {
  for (const name of ["claude", "codex"]) await a.on(name);
  a.edit("claude", () => "- Use tabs.\n");
  await settlePersonal(a, b);
  const secret = Object.values(PLANTED)[0] ?? "";
  a.edit("claude", (text) => `${text}${secret}\n`);
  await settlePersonal(a, b);
  expect(a.stateOf("claude")).toBe("left-alone personal-held");
  expect(a.block("claude")).toContain(secret);
  expect(a.block("codex")).toBe("- Use tabs.\n");
  expect(await b.standing()).toEqual(["- Use tabs.\n"]);
});

test("a file with damaged marks is left alone until they are mended", async () => {
  for (const name of ["claude", "codex"]) await a.on(name);
  a.edit("claude", () => "one\n");
  await settlePersonal(a);
  const whole = a.file("claude");
  for (const damaged of [
    whole.replace("<!-- memsync:personal end -->\n", ""),
    whole + whole,
    whole.replace(/^<!-- memsync:personal begin.*\n/m, ""),
    whole.replace("begin: the", "begin:\nthe"),
  ]) {
    a.save("claude", damaged);
    await settlePersonal(a);
    expect(a.stateOf("claude")).toBe("left-alone personal-marks");
    expect(a.file("claude")).toBe(damaged);
    expect(a.block("codex")).toBe("one\n");
  }
  a.save("claude", whole.replace("one", "one more"));
  await settlePersonal(a);
  expect(a.block("codex")).toBe("one more\n");
});

test("a link is followed and stays one, and a file of two assistants has one block", async () => {
  writeFileSync(join(a.folder, "dotfile"), OWN);
  symlinkSync("dotfile", a.pathOf("claude"));
  symlinkSync("claude.md", a.pathOf("codex"));
  await a.on("claude");
  await a.on("codex");
  await a.on("gemini");
  a.edit("gemini", () => "one\n");
  await settlePersonal(a);
  expect(a.block("claude")).toBe("one\n");
  expect(a.file("claude")).toBe(a.file("codex"));
  expect(a.stateOf("codex")).toBe("left-alone personal-same");
  expect(a.file("claude").split("memsync:personal begin")).toHaveLength(2);
  await a.settle("codex", "off");
  expect(a.block("claude")).toBe("one\n");
  await a.settle("claude", "off");
  expect(a.file("claude")).toBe(OWN);
  symlinkSync("nothing", a.pathOf("zed"));
  await a.on("zed");
  expect(a.stateOf("zed")).toBe("left-alone personal-dangling");
});

test("a block has its file's line endings, and its text is the same in all", async () => {
  a.save("claude", "\uFEFF# Mine\r\n\r\nWindows.\r\n");
  a.save("codex", "no end");
  for (const name of ["claude", "codex"]) await a.on(name);
  a.edit("codex", () => "one\ntwo\n");
  await settlePersonal(a);
  expect(a.block("claude")).toBe("one\r\ntwo\r\n");
  a.edit("claude", () => "one\r\ntwo\r\nthree\r\n");
  await settlePersonal(a);
  expect(a.block("codex")).toBe("one\ntwo\nthree\n");
  for (const name of ["claude", "codex"]) await a.settle(name, "off");
  expect(a.file("claude")).toBe("\uFEFF# Mine\r\n\r\nWindows.\r\n");
  expect(a.file("codex")).toBe("no end");
});

test("all of a file becomes the text where somebody asks for that, and can stay", async () => {
  a.save("claude", OWN);
  await a.on("codex");
  await a.on("claude", { settled: "adopt" });
  await settlePersonal(a);
  expect(a.block("codex")).toBe(OWN);
  await a.settle("claude", "keep");
  expect(a.file("claude")).toBe(OWN);
  expect(a.block("codex")).toBe(OWN);
  await a.settle("codex", "off");
  expect(a.file("codex")).toBe("");
});

test("two texts of machines that knew nothing of each other are both there, and that is told", async () => {
  a.save("claude", "# A\n\nshared\nonly a\n");
  b.save("codex", "# A\n\nshared\nonly b\n");
  await a.on("claude", { settled: "adopt" });
  await b.on("codex", { settled: "adopt" });
  await settlePersonal(a, b);
  for (const line of ["shared", "only a", "only b"]) {
    expect(a.block("claude")?.split(`${line}\n`)).toHaveLength(2);
  }
  expect(b.block("codex")).toBe(a.block("claude") ?? "");
  expect(a.keeper.status.merges).toEqual([{ mine: undefined, theirs: undefined }]);
});

test("a text that somebody sets as a memory comes into all files", async () => {
  await a.on("claude");
  a.edit("claude", () => "one\n");
  await settlePersonal(a);
  await a.writeMemory("set\r\nby hand");
  await settlePersonal(a);
  expect(a.block("claude")).toBe("set\nby hand\n");
  await a.writeMemory("<!-- memsync:personal end -->\nx\n");
  await settlePersonal(a);
  expect(a.stateOf("claude")).toBe("left-alone personal-mark-in-text");
  expect(a.block("claude")).toBe("set\nby hand\n");
});

test("a write in place that a kill interrupted is finished, and its mix is nobody's edit", async () => {
  a.save("claude", OWN);
  await a.on("claude");
  a.edit("claude", () => "- a line of the former text\n".repeat(100));
  await a.look();
  await a.end();
  const former = a.file("claude");
  const text = "- one of those that come now\n".repeat(100);
  const intended = former.replace(a.block("claude") ?? "", text);
  const path = a.pathOf("claude");
  writeFileSync(join(a.folder, ".claude.md.abcdefg2.whole.memsync"), intended);
  writeFileSync(path, intended.slice(0, 1024) + former.slice(1024));
  const store = await openReplica(join(a.folder, "memsync.db"), a.world, { machine: "anna" });
  const [known] = await listPersonalFiles(store.reader);
  const begun = { path, former, intended };
  await store.write(async ({ db, now }) => {
    if (known) await putPersonalFile(db, { ...known, begun }, now);
  });
  await store.close();
  await a.begin();
  await settlePersonal(a);
  expect(a.file("claude")).toBe(intended);
  expect(await a.standing()).toEqual([text]);
  const [after] = await listPersonalFiles(a.store.reader);
  expect(after?.begun).toBeUndefined();
});

test("a save that a kill put aside comes into the file that was written", async () => {
  a.save("claude", OWN);
  await a.on("claude");
  a.edit("claude", () => "- one\n");
  await a.look();
  const former = a.file("claude");
  const intended = former.replace("- one\n", "- one\n- two\n");
  const path = a.pathOf("claude");
  const [known] = await listPersonalFiles(a.store.reader);
  if (known) await a.putFile({ ...known, begun: { path, former, intended } });
  a.save("claude", intended);
  const saved = `Also mine.\n${former.replace("- one\n", "- zero\n- one\n")}`;
  writeFileSync(join(a.folder, ".claude.md.abcdefg2.memsync"), saved);
  await a.end();
  await a.begin();
  await settlePersonal(a);
  expect(a.file("claude").startsWith("Also mine.\n")).toBe(true);
  expect(a.block("claude")).toContain("- zero\n");
  expect(readdirSync(a.folder).filter((name) => name.includes("claude"))).toEqual(["claude.md"]);
});
