import { expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const CURSOR = ".cursor/rules/tests.mdc";
const CLAUDE = ".claude/rules/api/style.md";
const RULE = "---\ndescription: tests\nglobs: **/*.test.ts\nalwaysApply: false\n---\n- no sleeps\n";

function save({ folder }: Machine, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function read({ folder }: Machine, path: string): string | undefined {
  return existsSync(join(folder, path)) ? readFileSync(join(folder, path), "utf8") : undefined;
}

async function until(machine: Machine, path: string, text: string): Promise<void> {
  await waitFor(`${path} of ${machine.name}`, () => read(machine, path) === text);
}

async function untilKept(machine: Machine, key: string, text: string): Promise<void> {
  await waitFor(`${key} of ${machine.name}`, async () =>
    (await machine.list()).some((each) => each.key === key && each.value === text),
  );
}

async function twoMachines(lab: Lab, service: ServiceConfig, gitignore: string) {
  const [a, b] = await lab.twoMachines(service, { ".gitignore": gitignore });
  return [a, b] as const;
}

scenario("rules that git ignores are on the other machine, once both follow them", async (lab) => {
  const [a, b] = await twoMachines(lab, emulator.account("rules"), ".cursor/\n.claude/\n");
  save(a, CURSOR, RULE);
  save(a, CLAUDE, "No default exports.\n");
  save(a, ".cursor/rules/imported/team.mdc", RULE);
  save(a, ".cursor/rules/readme.md", "Cursor does not read it\n");
  for (const machine of [a, b]) await machine.up();
  await a.syncOnce();
  // Nobody has said so yet.
  expect(await b.list()).toEqual([]);
  expect(await a.memsync("rules")).toContain("rules are not followed");
  for (const machine of [a, b]) await machine.memsync("rules", "on");
  await until(b, CURSOR, RULE);
  await until(b, CLAUDE, "No default exports.\n");
  save(b, CURSOR, RULE.replace("sleeps", "waits"));
  await until(a, CURSOR, RULE.replace("sleeps", "waits"));
  const keys = (await b.list()).map(({ key }) => key).sort();
  expect(keys).toEqual(["rules/claude/api/style.md", "rules/cursor/tests.mdc"]);
  rmSync(join(a.folder, ".cursor"), { recursive: true });
  await waitFor("the question", async () => (await a.memsync("status")).includes("missing here"));
  expect(read(b, CURSOR)).toBe(RULE.replace("sleeps", "waits"));
  await a.memsync("rules", "restore");
  await until(a, CURSOR, RULE.replace("sleeps", "waits"));
});

scenario(
  "tracked rules are read on the default branch alone, and written after a yes",
  async (lab) => {
    const [a, b] = await twoMachines(lab, emulator.account("rules-tracked"), "node_modules\n");
    const git = (folder: string, ...args: string[]) => lab.git.run(folder, ...args);
    save(a, CURSOR, RULE);
    await git(a.folder, "add", "-A");
    await git(a.folder, "commit", "-q", "-m", "rules");
    await git(a.folder, "push", "-q");
    await git(b.folder, "pull", "-q");
    for (const machine of [a, b]) {
      await machine.up();
      await machine.memsync("rules", "on");
    }
    for (const machine of [a, b]) await untilKept(machine, "rules/cursor/tests.mdc", RULE);
    await git(a.folder, "checkout", "-q", "-b", "topic");
    save(a, CURSOR, "of the topic\n");
    await waitFor("the branch to be told", async () =>
      (await a.memsync("status")).includes("is left alone on topic"),
    );
    await git(a.folder, "checkout", "-q", "--", CURSOR);
    await git(a.folder, "checkout", "-q", "-");
    const edited = RULE.replace("sleeps", "waits");
    save(a, CURSOR, edited);
    await untilKept(b, "rules/cursor/tests.mdc", edited);
    await waitFor("the file to be named", async () =>
      (await b.memsync("status")).includes("is not written, for git tracks it"),
    );
    expect(read(b, CURSOR)).toBe(RULE);
    await b.memsync("link", "--write");
    await until(b, CURSOR, edited);
    expect(JSON.parse(await a.memsync("conflicts", "--json"))).toEqual([]);
  },
);

scenario("everything is synced only after a look at the rules", async (lab) => {
  const [a] = await twoMachines(lab, emulator.account("rules-looked-at"), ".cursor/\n");
  await a.up();
  await a.memsync("rules", "on");
  for (const at of ["one", "two"]) {
    // The end of the last line is missing.
    const half = `${RULE}- half a li`;
    save(a, `.cursor/rules/${at}.mdc`, half);
    const { status, stderr } = await a.run(["sync", "--wait", "1"]);
    const { stdout } = await a.run(["get", `rules/cursor/${at}.mdc`]);
    // A slow machine may have waited until the text had stood.
    if (stdout === "") expect([status, stderr]).toEqual([1, expect.stringContaining(`${at}.mdc`)]);
    const whole = `${half}ne\n`;
    save(a, `.cursor/rules/${at}.mdc`, whole);
    await a.sync();
    expect(await a.memsync("get", `rules/cursor/${at}.mdc`)).toContain("half a line");
  }
});
