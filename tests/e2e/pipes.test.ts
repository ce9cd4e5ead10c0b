import { expect } from "bun:test";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { scenario } from "../support/lab.ts";
import { MEMSYNC } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const MEMORIES = 1000;

scenario("whoever reads only the beginning is no failure, and a full disk is one", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const updated_at = "2020-01-01T00:00:00Z";
  const memories = Array.from({ length: MEMORIES }, (_, at) => ({
    key: `key ${at}`,
    value: "x".repeat(500),
    updated_at,
  }));
  const document = { format: 1, projects: [], user: { memories }, global: { memories: [] } };
  await machine.memsyncWith({ stdin: JSON.stringify(document) }, "import", "-");
  const memsync = MEMSYNC.map((word) => `'${word}'`).join(" ");
  const shell = (script: string) => machine.spawnOther(["sh", "-c", script]);
  for (const command of ["list --layer user", "list --layer user --json", "export", "--help"]) {
    const done = await shell(`{ ${memsync} ${command}; echo "$?" >&2; } | head -n 1`).ended();
    expect([command, done.stderr]).toEqual([command, "0\n"]);
    expect(done.stdout.split("\n").length).toBe(2);
  }
  const full = await shell(`${memsync} export > /dev/full`).ended();
  expect(full.status).toBe(1);
  expect(full.stderr).toMatch(/^memsync: standard output could not be written .*no space left/);
});

scenario("logs --follow ends when nobody reads any more", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  await machine.memsync("set", "key", "value", "--layer", "user");
  const log = join(machine.home, "daemon.log");
  await appendFile(log, "first\n");
  const memsync = MEMSYNC.map((word) => `'${word}'`).join(" ");
  const script = `{ ${memsync} logs --follow; echo "$?" >&2; } | head -n 1`;
  const following = machine.spawnOther(["sh", "-c", script]);
  await following.untilPrinted(/first/);
  await waitFor("it to end", async () => {
    await appendFile(log, "more\n");
    return !following.running;
  });
  expect((await following.ended()).stderr).toBe("0\n");
});
