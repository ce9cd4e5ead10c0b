import { expect } from "bun:test";
import { readFile, rename, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "../../cli/place/environment.ts";
import { saveText } from "../../cli/writes/save.ts";
import { LIMITS } from "../../shared/limits.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";

interface Version {
  readonly rev: string;
  readonly state: string;
  readonly machine: string | null;
  readonly written_at: string;
  readonly replaced_at: string | null;
}

async function historyOf(machine: Machine, ...args: string[]) {
  const printed = await machine.memsync("history", ...args, "--json");
  return JSON.parse(printed) as (Version & { readonly value: string; readonly layer: string })[];
}

async function textsOf(machine: Machine) {
  const printed = await machine.memsync("doc", "history", "--json");
  return JSON.parse(printed) as (Version & { readonly claude_md_content: string })[];
}

async function valuesOf(machine: Machine, key: string): Promise<string[]> {
  return (await historyOf(machine, key)).map(({ value }) => value);
}

async function makeMachine(lab: Lab, account: string): Promise<Machine> {
  const folder = await lab.git.repository("a", { ".gitignore": FILE });
  return lab.machine("a", folder, emulator.account(account));
}

/** Values that a restore must give back byte for byte. */
const VALUES = ["one", "two\r\nlines\n\n", "", " üç€ 🎉 \uFEFF\u200B\t", "last"];

for (const withDaemon of [true, false]) {
  const how = withDaemon ? "with a daemon" : "without a daemon";

  scenario(`every version of a memory is listed and restored ${how}`, async (lab) => {
    const machine = await makeMachine(lab, `versions-${withDaemon}`);
    await machine.up();
    if (!withDaemon) await machine.down();
    for (const value of VALUES) await machine.memsyncWith({ stdin: value }, "set", "k", "-");
    const versions = await historyOf(machine, "k");
    expect(versions.map(({ value }) => value)).toEqual(VALUES.toReversed());
    expect(versions.map(({ state }) => state)).toEqual([
      "current",
      ...VALUES.slice(1).map(() => "replaced"),
    ]);
    const name = `${hostname().split(".", 1)[0]}:home-a`.slice(0, 64);
    for (const { machine: by } of versions) expect(by).toBe(name);
    for (const { rev, value } of versions) {
      expect(await machine.memsync("history", "k", rev)).toBe(value);
      await machine.memsync("restore", "k", rev);
      expect(await machine.memsync("get", "k")).toBe(value);
    }
    const [latest] = await historyOf(machine, "k");
    expect(latest?.value).toBe("one");
    await machine.memsync("rm", "k");
    expect(await machine.memsync("history", "k")).toContain('"k" was deleted');
    await machine.memsync("restore", "k", latest?.rev ?? "");
    expect(await machine.memsync("get", "k")).toBe("one");
    if (withDaemon) return;
    const before = await valuesOf(machine, "k");
    await machine.up();
    expect(await valuesOf(machine, "k")).toEqual(before);
  });

  scenario(`every version of the document is listed and restored ${how}`, async (lab) => {
    const machine = await makeMachine(lab, `texts-${withDaemon}`);
    const file = join(machine.folder, FILE);
    const texts = ["one\n", "# A\r\n\r\none\r\ntwo", "\uFEFF# B\n"];
    await machine.up();
    for (const text of texts) {
      // In one step: Bun writes first and cuts off what is left of the former text then.
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
      await waitFor("the text", async () => (await machine.memsync("doc")) === text);
    }
    await machine.untilSynced();
    if (!withDaemon) await machine.down();
    const versions = await textsOf(machine);
    expect(versions.map((version) => version.claude_md_content)).toEqual(texts.toReversed());
    expect(await machine.memsync("doc", "history")).toMatch(/ replaced +1 line {3}saved here\n$/);
    for (const { rev, claude_md_content: text } of versions) {
      expect(await machine.memsync("doc", "history", rev)).toBe(text);
      await machine.memsync("doc", "restore", rev);
      expect(await machine.memsync("doc")).toBe(text);
      if (withDaemon) {
        await waitFor("the file", async () => (await readFile(file, "utf8")) === text);
      }
    }
    if (withDaemon) return;
    expect(await readFile(file, "utf8")).toBe(texts[2] ?? "");
    await machine.up();
    expect(await machine.memsync("doc")).toBe(texts[0] ?? "");
    await waitFor("the file", async () => (await readFile(file, "utf8")) === texts[0]);
    expect((await textsOf(machine)).map((version) => version.claude_md_content)).toEqual([
      texts[0] ?? "",
      texts[1] ?? "",
      texts[2] ?? "",
      texts[1] ?? "",
      texts[0] ?? "",
    ]);
  });
}

scenario("what is restored on one machine is restored on all", async (lab) => {
  const pair = await lab.twoMachines(emulator.account("all"), { ".gitignore": FILE });
  const [a, b] = pair;
  await Promise.all([a.up(), b.up()]);
  for (const value of ["1", "2", "3"]) {
    await a.memsync("set", "k", value);
    await waitFor("it on b", async () => (await b.run(["get", "k"])).stdout === value);
  }
  expect(await valuesOf(b, "k")).toEqual(["3", "2", "1"]);
  expect((await historyOf(b, "k")).map(({ rev }) => rev)).toEqual(
    (await historyOf(a, "k")).map(({ rev }) => rev),
  );
  const [, , first] = await historyOf(a, "k");
  await b.untilSynced();
  await b.down();
  await b.memsync("restore", "k", first?.rev ?? "");
  await b.up();
  await waitFor("it on a", async () => (await a.memsync("get", "k")) === "1");
  for (const machine of pair) expect(await valuesOf(machine, "k")).toEqual(["1", "3", "2", "1"]);
  expect((await historyOf(a, "k"))[0]?.machine).toContain("home-b");
});

scenario("a restored text keeps what came from elsewhere meanwhile", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("meanwhile"), { ".gitignore": FILE });
  await Promise.all([a.up(), b.up()]);
  const save = async (text: string, readers: readonly Machine[]) => {
    await writeFile(join(a.folder, FILE), text);
    for (const each of readers) {
      await waitFor("the text", async () => (await each.memsync("doc")) === text);
    }
  };
  await save("# T\n\none\n\nend\n", [a, b]);
  await save("# T\n\nother\n\nend\n", [a, b]);
  await b.untilSynced();
  await b.down();
  await save("# T\n\nother\n\nend\nof a\n", [a]);
  await a.untilSynced();
  const [, first] = await textsOf(b);
  await b.memsync("doc", "restore", first?.rev ?? "");
  expect(await b.memsync("doc")).toBe("# T\n\none\n\nend\n");
  await b.up();
  for (const machine of [a, b]) {
    await waitFor("both changes", async () => {
      return (await machine.memsync("doc")) === "# T\n\none\n\nend\nof a\n";
    });
  }
});

scenario("a restored text says what it is without, and how that comes back", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("without"), { ".gitignore": FILE });
  await Promise.all([a.up(), b.up()]);
  for (const text of ["one\ntwo\n", "one\nthree\n"]) {
    await writeFile(join(a.folder, FILE), text);
    await waitFor("the text", async () => (await b.memsync("doc")) === text);
  }
  const [latest, first] = await textsOf(b);
  const said = await b.memsync("doc", "restore", first?.rev ?? "");
  expect(said).toMatch(/^gone: 1 line of the text that was written .* on \S+;$/m);
  const [, back] = /`memsync (doc restore \S+)` undoes/.exec(said) ?? [];
  expect(back).toBe(`doc restore ${latest?.rev}`);
  await b.memsync(...(back ?? "").split(" "));
  await waitFor("it is back", async () => (await a.memsync("doc")) === "one\nthree\n");
});

scenario("a text saved by a command keeps what came after the command had read it", async (lab) => {
  const machine = await makeMachine(lab, "raced");
  await machine.up();
  const { id } = await machine.projectOf();
  const read = "# T\n\none\n";
  const path = `/api/projects/${id}/sync`;
  await machine.ask("POST", path, { claude_md_content: `${read}\ncame since\n` });
  const env = readEnvironment({ ...process.env, MEMSYNC_HOME: machine.home });
  await saveText(env, id, { base: read, values: [`put back\n${read}`] });
  expect(await machine.doc(id)).toBe(`put back\n${read}\ncame since\n`);
  const tooLong = saveText(env, id, { base: read, values: ["x".repeat(LIMITS.claudeMdBytes + 1)] });
  await expect(tooLong).rejects.toThrow("shorten it");
});

scenario("the layers are looked through in order, and what is unknown is said", async (lab) => {
  const machine = await makeMachine(lab, "unknown");
  await machine.up();
  await machine.memsync("set", "k", "of the user", "--layer", "user");
  await machine.memsync("set", "k", "of the user, too", "--layer", "user");
  expect((await historyOf(machine, "k")).map(({ layer }) => layer)).toEqual(["user", "user"]);
  await machine.memsync("set", "k", "of the project");
  expect((await historyOf(machine, "k")).map(({ layer }) => layer)).toEqual(["project"]);
  const [, old] = await historyOf(machine, "k", "--layer", "user");
  await machine.memsync("restore", "k", old?.rev ?? "");
  expect(await machine.memsync("get", "k", "--layer", "user")).toBe("of the user");
  expect(await machine.memsync("get", "k")).toBe("of the project");
  const refusals: [string[], RegExp][] = [
    [["history", "nothing"], /no memory "nothing" and no history of one: `memsync list`/],
    [["history", "k", "zzzzzzzz"], /"k" has no version zzzzzzzz: `memsync history k`/],
    [["restore", "k", "zzzzzzzz"], /"k" has no version zzzzzzzz/],
    [["restore", "nothing", "zzzzzzzz"], /no memory "nothing"/],
    [["restore", "k", old?.rev ?? "", "--layer", "global"], /no memory "k"/],
    [["doc", "history", "zzzzzzzz"], /the document has no version zzzzzzzz: `memsync doc history`/],
    [["doc", "restore", "zzzzzzzz"], /the document has no version zzzzzzzz/],
    [["conflicts", "show", "zzzzzzzz"], /no conflict zzzzzzzz: `memsync conflicts`/],
    [["conflicts", "restore", "zzzzzzzz"], /no conflict zzzzzzzz/],
    [["conflicts", "dismiss", "zzzzzzzz"], /no conflict zzzzzzzz/],
  ];
  for (const [args, sentence] of refusals) {
    const { status, stdout, stderr } = await machine.run(args);
    expect([args, status, stdout]).toEqual([args, 1, ""]);
    expect(stderr).toMatch(/^memsync: [^\n]+\n$/);
    expect(stderr).toMatch(sentence);
  }
});

scenario("a machine that is given another name goes by it from its next write on", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("renamed"), { "README.md": "" });
  await lab.git.write(join(a.home, "machine"), "laptop\n");
  await Promise.all([a.up(), b.up()]);
  const machineOnB = async (key: string) => {
    const { status, stdout } = await b.run(["history", key, "--json"]);
    return status === 0 ? (JSON.parse(stdout) as { machine: string }[])[0]?.machine : undefined;
  };
  await a.memsync("set", "one", "1");
  await waitFor("the first name on b", async () => (await machineOnB("one")) === "laptop");
  await lab.git.write(join(a.home, "machine"), "desk by the window\n");
  await a.memsync("set", "two", "2");
  await waitFor("the other name on b", async () => {
    return (await machineOnB("two")) === "desk by the window";
  });
  // What the daemon wrote before was written by the same machine.
  expect(await machineOnB("one")).toBe("desk by the window");
});

scenario("a value that a memory has had twice is listed each time, by one REV", async (lab) => {
  const machine = await makeMachine(lab, "twice");
  await machine.up();
  await machine.down();
  for (const up of [false, true]) {
    const key = up ? "with" : "without";
    if (up) await machine.up();
    for (const value of ["one", "one", "two", "one", "one", "three", "two"]) {
      await machine.memsync("set", key, value);
    }
    const expected = [
      ["two", "current"],
      ["three", "replaced"],
      ["one", "replaced"],
      ["two", "replaced"],
      ["one", "replaced"],
    ];
    const seen = async () =>
      (await historyOf(machine, key)).map(({ value, state }) => [value, state]);
    expect(await seen()).toEqual(expected);
    if (!up) await machine.up();
    expect(await seen()).toEqual(expected);
    if (!up) await machine.down();
  }
  await machine.memsync("move", "with", "--layer", "user");
  expect((await historyOf(machine, "with"))[0]).toMatchObject({ value: "two", layer: "user" });
});

scenario("of an empty value its history is named where it has one", async (lab) => {
  const machine = await makeMachine(lab, "empty-value");
  await machine.up();
  for (const up of [true, false]) {
    if (!up) await machine.down();
    const key = `up-${up}`;
    const told = async () => (await machine.run(["set", key, ""])).stderr.replace(/\s+/g, " ");
    expect(await told()).toContain(`of ${key} is empty: \`memsync rm ${key}\` deletes it`);
    await machine.memsync("set", key, "make");
    expect(await told()).toContain(`is empty: \`memsync history ${key}\` has what it was, `);
  }
});
