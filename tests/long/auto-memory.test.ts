import { expect } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { slugOf } from "../../daemon/assistants/claude-code/memory-folders.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const TOPIC =
  '---\nname: run-tests\ndescription: "how the tests run"\nmetadata: \n  node_type: memory\n' +
  "  type: feedback\n  originSessionId: ddacea9b\n---\n\nRun `bun test`.\n\n**Why:** it is fast.\n";
const INDEX = "# Memory\n\n- [Run tests](feedback_tests.md) — how\n";

/** Two machines of one repository, each with Claude Code's files in a place of its own. */
class Assistants {
  readonly config: string;

  constructor(
    readonly machine: Machine,
    lab: Lab,
  ) {
    this.config = configOf(lab, machine.name);
  }

  get folder(): string {
    const slug = slugOf(realpathSync(this.machine.folder)) ?? "";
    return join(this.config, "projects", slug, "memory");
  }

  save(name: string, text: string): void {
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(join(this.folder, name), text);
  }

  read(name: string): string | undefined {
    const path = join(this.folder, name);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  async until(name: string, isThere: (text: string | undefined) => boolean): Promise<void> {
    await waitFor(`${name} of ${this.machine.name}`, () => isThere(this.read(name)));
  }

  async listed(): Promise<string[]> {
    return (await this.machine.list()).map(({ key }) => key).sort();
  }
}

function configOf(lab: Lab, name: string): string {
  return join(lab.git.folder, `claude-${name}`);
}

async function twoAssistants(lab: Lab, service: ServiceConfig) {
  const clones = await lab.clones({ "README.md": "" });
  return (["a", "b"] as const).map((name, at) => {
    const machine = lab.machine(name, clones[at] ?? "", service);
    machine.variables = { CLAUDE_CONFIG_DIR: configOf(lab, name) };
    mkdirSync(configOf(lab, name));
    return new Assistants(machine, lab);
  }) as [Assistants, Assistants];
}

scenario("what Claude Code remembers on one machine it finds on the other", async (lab) => {
  const [a, b] = await twoAssistants(lab, emulator.account("auto-memory"));
  a.save("feedback_tests.md", TOPIC);
  a.save("MEMORY.md", INDEX);
  await a.machine.up();
  await b.machine.up();
  // Nothing is done with it before somebody says so.
  expect(await a.machine.memsync("auto-memory")).toContain("auto memory is off");
  await a.machine.syncOnce();
  expect(await a.listed()).toEqual([]);
  expect(await a.machine.memsync("auto-memory", "on")).toContain("2 files here");
  await b.machine.memsync("auto-memory", "on", "--write");
  await b.until("feedback_tests.md", (text) => text === TOPIC);
  await b.until("MEMORY.md", (text) => text === INDEX);
  expect(await b.listed()).toEqual(["auto-memory/MEMORY.md", "auto-memory/feedback_tests.md"]);
  expect(await b.machine.memsync("status")).toContain("2 files, read and written");
  // What was only to be read is not written.
  b.save("MEMORY.md", `${INDEX}- [More](more.md)\n`);
  await waitFor("the index", async () =>
    (await a.machine.memsync("get", "auto-memory/MEMORY.md")).includes("More"),
  );
  expect(a.read("MEMORY.md")).toBe(INDEX);
});

scenario("two indexes that were written apart lose no line, also after a kill", async (lab) => {
  const [a, b] = await twoAssistants(lab, emulator.account("auto-memory-apart"));
  for (const { machine } of [a, b]) {
    await machine.up();
    await machine.memsync("auto-memory", "on", "--write");
  }
  a.save("MEMORY.md", INDEX);
  await b.until("MEMORY.md", (text) => text === INDEX);
  await b.machine.down("SIGKILL");
  b.save("MEMORY.md", `${INDEX}- [Of b](of_b.md)\n`);
  b.save("of_b.md", "of b\n");
  a.save("MEMORY.md", `${INDEX}- [Of a](of_a.md)\n`);
  await a.machine.syncOnce();
  await a.machine.down("SIGKILL");
  await a.machine.up();
  await b.machine.up();
  const isWhole = (text: string | undefined) =>
    text?.includes("of_a.md") === true && text.includes("of_b.md");
  await a.until("MEMORY.md", isWhole);
  await b.until("MEMORY.md", isWhole);
  await a.until("of_b.md", (text) => text === "of b\n");
  for (const each of [a, b]) expect(each.read("MEMORY.md")?.startsWith(INDEX)).toBe(true);
});

scenario("a purged folder deletes nothing, and one command brings it back", async (lab) => {
  const [a, b] = await twoAssistants(lab, emulator.account("auto-memory-purged"));
  const names = ["MEMORY.md", "four.md", "one.md", "three.md", "two.md"];
  for (const name of names) a.save(name, `${name}: one.md two.md three.md four.md\n`);
  for (const { machine } of [a, b]) {
    await machine.up();
    await machine.memsync("auto-memory", "on", "--write");
  }
  for (const name of names) await b.until(name, (text) => text !== undefined);
  rmSync(a.folder, { recursive: true });
  await waitFor("the question", async () =>
    (await a.machine.memsync("status")).includes("5 files"),
  );
  await waitFor("the question", async () =>
    (await a.machine.memsync("status")).includes("missing"),
  );
  expect(readdirSync(b.folder).sort()).toEqual(names);
  expect(await a.machine.memsync("auto-memory")).toContain("missing here");
  await a.machine.memsync("auto-memory", "restore");
  for (const name of names) await a.until(name, (text) => text === b.read(name));
  rmSync(join(a.folder, "one.md"));
  await waitFor("the question", async () =>
    (await a.machine.memsync("status")).includes("missing"),
  );
  const refused = await a.machine.run(["auto-memory", "delete"]);
  expect(refused).toMatchObject({ status: 1 });
  expect(refused.stderr).toContain("nothing was deleted");
  await a.machine.memsync("auto-memory", "delete", "--yes");
  await waitFor("the deletion", async () => (await b.listed()).length === 4);
  expect(b.read("one.md")).toBeDefined();
  expect(await a.machine.memsync("history", "auto-memory/one.md")).toContain("deleted");
});

scenario("the list has what status tells of a file that is not written", async (lab) => {
  const [a, b] = await twoAssistants(lab, emulator.account("auto-memory-notes"));
  for (const { machine } of [a, b]) {
    await machine.up();
    await machine.memsync("auto-memory", "on", "--write");
  }
  b.save("Topic.md", "of b\n");
  await a.until("Topic.md", (text) => text === "of b\n");
  await a.machine.memsync("set", "auto-memory/topic.md", "another\n");
  const note = "has the name of Topic.md on some systems";
  await waitFor("the note", async () => (await a.machine.memsync("status")).includes(note));
  const listed = await a.machine.memsync("auto-memory");
  expect(listed.replaceAll(/\s+/g, " ")).toContain(`topic.md ${note}`);
  const { folders } = JSON.parse(await a.machine.memsync("auto-memory", "--json"));
  expect(folders[0].notes).toMatchObject([{ name: "topic.md", code: "memory-clash" }]);
});

scenario("a topic with an open conflict is deleted with all its versions", async (lab) => {
  const [a, b] = await twoAssistants(lab, emulator.account("auto-memory-conflict"));
  for (const { machine } of [a, b]) {
    await machine.up();
    await machine.memsync("auto-memory", "on", "--write");
  }
  a.save("topic.md", "one\n");
  await b.until("topic.md", (text) => text === "one\n");
  await b.machine.down();
  b.save("topic.md", "of b\n");
  a.save("topic.md", "of a\n");
  await waitFor("the edit", async () =>
    (await a.machine.memsync("get", "auto-memory/topic.md")).includes("of a"),
  );
  await a.machine.syncOnce();
  await b.machine.up();
  await waitFor("the conflict", async () =>
    (await a.machine.memsync("conflicts")).includes("auto-memory/topic.md"),
  );
  rmSync(join(a.folder, "topic.md"));
  await waitFor("the question", async () =>
    (await a.machine.memsync("status")).includes("missing here"),
  );
  await a.machine.memsync("auto-memory", "delete", "--yes");
  for (const each of [a, b]) {
    await waitFor("the deletion", async () => (await each.listed()).length === 0);
  }
  expect(await a.machine.memsync("conflicts")).not.toContain("topic.md");
  await waitFor("the question of b", async () =>
    (await b.machine.memsync("status")).includes("whose memory was deleted"),
  );
  expect(a.read("topic.md")).toBeUndefined();
});

scenario(
  "a missing file that somebody has written since is not deleted, and that is said",
  async (lab) => {
    const [a, b] = await twoAssistants(lab, emulator.account("auto-memory-kept"));
    for (const { machine } of [a, b]) {
      await machine.up();
      await machine.memsync("auto-memory", "on", "--write");
    }
    a.save("kept.md", "one\n");
    a.save("gone.md", "one\n");
    for (const name of ["kept.md", "gone.md"]) await b.until(name, (text) => text === "one\n");
    for (const name of ["kept.md", "gone.md"]) rmSync(join(a.folder, name));
    await waitFor("the question", async () =>
      (await a.machine.memsync("status")).includes("2 files missing here"),
    );
    b.save("kept.md", "by b\n");
    await waitFor("what b wrote", async () =>
      (await a.machine.memsync("get", "auto-memory/kept.md")).includes("by b"),
    );
    const { stdout, stderr, status } = await a.machine.run(["auto-memory", "delete", "--yes"]);
    expect(stdout + stderr).toContain("the daemon deletes 1 file");
    expect(stderr).toContain("not deleted, since somebody has written it meanwhile: kept.md");
    expect(status).toBe(1);
    await a.until("kept.md", (text) => text === "by b\n");
    await waitFor("the deletion", async () => !(await b.listed()).includes("auto-memory/gone.md"));
  },
);

scenario(
  "a line that stays though a save lacks it is listed, and one command drops it everywhere",
  async (lab) => {
    const [a, b] = await twoAssistants(lab, emulator.account("told-lines"));
    a.save("MEMORY.md", INDEX);
    for (const { machine } of [a, b]) {
      await machine.up();
      await machine.memsync("auto-memory", "on", "--write");
      await machine.memsync("sync");
    }
    await b.until("MEMORY.md", (text) => text === INDEX);
    a.save("MEMORY.md", `${INDEX}- a typo\n`);
    await b.until("MEMORY.md", (text) => text?.includes("- a typo\n") === true);
    expect(await b.machine.memsync("lines")).toContain("no line is in question");
    b.save("MEMORY.md", `# Memory\n\n- of b\n- [Run tests](feedback_tests.md) — how\n`);
    const both = (text = "") => text.includes("- of b\n") && text.includes("- a typo\n");
    await a.until("MEMORY.md", both);
    await b.until("MEMORY.md", both);
    const [told] = JSON.parse(await b.machine.memsync("lines", "--json"));
    expect(told).toMatchObject({ code: "line-kept", line: "- a typo" });
    expect(await b.machine.memsync("lines")).toContain(`${told.id}  stays, though left out`);
    expect(await b.machine.memsync("lines", "drop", told.id)).toContain("drops 1 line");
    for (const each of [a, b]) {
      await each.until("MEMORY.md", (text = "") => text.includes("- of b\n") && !both(text));
    }
    // A look takes it out of the list once the files are without it.
    await waitFor("no line in question", async () => {
      const listed = await b.machine.memsync("lines");
      if (!listed.includes("no line is in question")) throw new Error(listed);
      return true;
    });
  },
);

scenario("what is held of a file is dropped only once the file has it no more", async (lab) => {
  const [a] = await twoAssistants(lab, emulator.account("auto-memory-drop"));
  await a.machine.up();
  await a.machine.memsync("auto-memory", "on");
  a.save("deploy.md", `The token is ${PLANTED.github}\n`);
  await waitFor("the held text", async () => (await a.machine.status()).held.length > 0);
  const [{ id } = { id: "" }] = (await a.machine.status()).held;
  const refused = await a.machine.run(["held", "drop", id]);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain("deploy.md: change it there, then drop what is still held");
  await a.machine.down();
  a.save("deploy.md", "Ask Bob.\n");
  await a.machine.memsync("held", "drop", id);
  expect(await a.machine.memsync("held")).toContain("nothing is held");
});
