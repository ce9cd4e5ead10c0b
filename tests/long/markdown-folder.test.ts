import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";

const emulator = sharedEmulator();
const inOneLine = (text: string) => text.replace(/\s+/g, " ");

scenario("an export as a folder of Markdown comes back equal from an empty home", async (lab) => {
  const service = emulator.account("folder");
  const machine = await lab.stoppedMachine(service);
  await machine.memsync("set", "build", "bun run build");
  await machine.memsync("set", "Build/odd name", "  as it is \r\n\n");
  await machine.memsync("set", "mine", "of the user", "--layer", "user");
  const folder = lab.git.path("notes");
  expect(await machine.memsync("export", "--markdown", folder)).toContain("3 memories");
  expect(readFileSync(join(folder, "user", "mine.md"), "utf8")).toBe("of the user");
  expect((await machine.run(["export", "--markdown", folder])).stderr).toContain("is not empty");

  const other = lab.machine("b", lab.git.path("elsewhere"), emulator.account("folder-b"));
  mkdirSync(other.folder, { recursive: true });
  await other.memsync("import", folder);
  expect(await other.memsync("export")).toBe(await machine.memsync("export"));

  // The emulator takes the same folder as its seed.
  const seeded = await lab.emulator(undefined, ["--seed", folder]);
  const { url } = seeded;
  const headers = { Authorization: "Bearer mst_dev_pro" };
  const { memories } = (await (await fetch(`${url}/v1/memories`, { headers })).json()) as {
    memories: { key: string }[];
  };
  expect(memories.map(({ key }) => key)).toContain("mine");
});

scenario("another tool's notes go where the user says, and nowhere else", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("others"));
  const vault = lab.git.path("vault");
  mkdirSync(join(vault, "deep"), { recursive: true });
  writeFileSync(join(vault, "one.md"), "---\ntitle: One\n---\nbody\n");
  writeFileSync(join(vault, "deep", "two.md"), "two\n");
  writeFileSync(join(vault, "picture.png"), "no text");
  expect((await machine.run(["import", vault])).status).toBe(1);
  await machine.memsync("import", vault, "--layer", "user");
  expect(await machine.memsync("get", "one", "--layer", "user")).toContain("title: One");
  expect(await machine.memsync("get", "deep/two", "--layer", "user")).toContain("two");

  const graph = lab.git.path("memory.jsonl");
  const ann = { type: "entity", name: "Ann", entityType: "person", observations: ["likes Go"] };
  writeFileSync(graph, `${JSON.stringify(ann)}\n`);
  const untold = await machine.run(["import", graph]);
  expect(untold.status).toBe(2);
  expect(untold.stderr).toContain("say where it goes");
  await machine.memsync("import", graph, "--project", ".");
  expect(await machine.memsync("get", "Ann")).toContain("likes Go");

  const bob = Buffer.from(JSON.stringify({ ...ann, name: "Bob" }));
  writeFileSync(graph, Buffer.concat([bob, Buffer.from('\n{"type":\n"\xff"\n', "latin1")]));
  const mixed = await machine.run(["import", graph, "--project", "."]);
  expect(mixed.status).toBe(0);
  expect(mixed.stderr).toContain("not imported, line 2: is no JSON object");
  expect(mixed.stderr).toContain("not imported, line 3: is no JSON object");
  expect(mixed.stdout).toContain("1 created, 0 updated, 0 unchanged; 2 notes left out");
});

scenario("claude-mem's observations of one project come in, and of no other", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("claude-mem"));
  const file = lab.git.path("claude-mem.db");
  const database = new Database(file);
  database.exec(
    "create table observations (id integer primary key, project text not null, type text, " +
      "title text, subtitle text, narrative text, facts text, created_at_epoch integer not null)",
  );
  const put = database.prepare("insert into observations values (?, ?, ?, ?, ?, ?, ?, ?)");
  const at = Date.parse("2026-03-01T09:30:00Z");
  put.run(1, "shop", "decision", "Use bun", null, "It is fast.", '["one","two"]', at);
  put.run(2, "other", "bugfix", "Elsewhere", null, null, null, at);
  put.run(3, "shop", "empty", null, null, null, null, at);
  put.run(4, "shop", "odd", null, null, null, "no list", at);
  put.run(5, "shop", "mixed", null, null, null, '["one", 2]', at);
  put.run(6, "shop", "long", "x".repeat(32 * 1024 + 1), null, null, null, at);
  database.close();
  const before = readFileSync(file);
  const untold = await machine.run(["import", file, "--project", "."]);
  expect(untold.status).toBe(1);
  expect(untold.stderr).toContain("other   1");
  const unknown = await machine.run(["import", file, "--of", "shp", "--project", "."]);
  expect(inOneLine(unknown.stderr)).toContain("it has no project shp: say which of its projects");
  const came = await machine.run(["import", file, "--of", "shop", "--project", "."]);
  expect(came.status).toBe(0);
  expect(inOneLine(came.stderr)).toContain(
    "not imported, claude-mem/long-6: its value must be at most 32768 bytes",
  );
  expect(inOneLine(came.stderr)).toContain("not imported, claude-mem/empty-3: has no text");
  expect((await machine.list()).map(({ key }) => key)).toEqual([
    "claude-mem/decision-1",
    "claude-mem/odd-4",
    "claude-mem/mixed-5",
  ]);
  expect(await machine.memsync("get", "claude-mem/odd-4")).toBe("- no list\n");
  expect(await machine.memsync("get", "claude-mem/mixed-5")).toBe("- one\n- 2\n");
  const said = await machine.memsync("get", "claude-mem/decision-1");
  expect(said).toBe("Use bun\n\nIt is fast.\n\n- one\n- two\n");
  expect(readFileSync(file).equals(before)).toBe(true);
});

scenario("what is no other tool's memory is refused with what is wrong in it", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("no-notes"));
  const files: readonly (readonly [string, string, string])[] = [
    ["cut.jsonl", `\n{"type":"ent`, "line 2 is no JSON object"],
    ["other.jsonl", `\n{"type":"x"}`, "line 2 is neither an entity nor a relation"],
    ["empty.jsonl", "", "it has no entity"],
    ["notes.md", "# Notes\n", `\`memsync set KEY - < ${lab.git.path("notes.md")}\` saves one text`],
    ["cut.db", "SQLite format 3\0and no more", "is damaged, or another program's"],
    ["export.json", '{"format":1}', "--layer and --project are for the notes of another tool"],
  ];
  for (const [name, text, sentence] of files) {
    const file = lab.git.path(name);
    writeFileSync(file, text);
    const { status, stderr } = await machine.run(["import", file, "--project", "."]);
    expect(status).not.toBe(0);
    expect(inOneLine(stderr)).toContain(sentence);
    expect(stderr).not.toContain("saved");
  }
  const of = ["--of", "shop", "--project", "."];
  const { stderr: noDatabase } = await machine.run(["import", lab.git.path("empty.jsonl"), ...of]);
  expect(inOneLine(noDatabase)).toContain("is no SQLite database");
  const vault = lab.git.path("vault");
  mkdirSync(vault);
  writeFileSync(join(vault, "note.md"), "a note");
  writeFileSync(join(vault, "long.md"), "x".repeat(32 * 1024 + 1));
  const untold = await machine.run(["import", vault]);
  expect(inOneLine(untold.stderr)).toContain("--project DIR or --layer user");
  writeFileSync(join(vault, "latin.md"), Buffer.from("caf\xe9", "latin1"));
  const told = await machine.run(["import", vault, "--project", "."]);
  expect(told.status).toBe(0);
  expect(inOneLine(told.stderr)).toContain("not imported, long: its value must be at most");
  expect(inOneLine(told.stderr)).toContain("not imported, latin: ");
  expect(told.stdout).toContain("1 created, 0 updated, 0 unchanged; 2 notes left out");
  const json = JSON.parse(await machine.memsync("import", vault, "--project", ".", "--json"));
  const [latin, long] = ["latin", "long"].map((name) => ({ name, code: "unfit-text" }));
  expect(json).toMatchObject({ unchanged: 1, left_out: 0, notes_left_out: [latin, long] });
  expect(await machine.memsync("get", "note")).toBe("a note");
});
