import { expect, test } from "bun:test";
import { join } from "node:path";
import { inCi, programs, testWith } from "../support/needs.ts";
import { METRICS_TOKEN, openHost } from "../support/postgres-host.ts";
import { serversOfTests } from "../support/postgres-servers.ts";

const ROOT = join(import.meta.dir, "../..");
const RULES = join(ROOT, "deploy/alarms.yaml");
const TESTS = join(ROOT, "deploy/alarms.test.yaml");

const newDatabase = serversOfTests();

const read = (path: string) => Bun.file(path).text();

function alarmsIn(text: string, pattern: RegExp): Set<string> {
  return new Set([...text.matchAll(pattern)].map(([, name = ""]) => name));
}

/** What a server on PostgreSQL tells of itself after one request. */
async function figures(): Promise<string> {
  await using host = await openHost((await newDatabase()).address);
  expect((await host.write("one")).status).toBe(200);
  return await (await host.ask("/metrics", undefined, METRICS_TOKEN)).text();
}

test("each alarm is tried, and told in the guide", async () => {
  const alarms = alarmsIn(await read(RULES), /- alert: (\w+)/g);
  expect(alarms.size).toBeGreaterThan(5);
  expect(alarmsIn(await read(TESTS), /eval_time: \w+\s+alertname: (\w+)/g)).toEqual(alarms);
  expect(alarmsIn(await read(TESTS), /alertname: (\w+), exp_alerts: \[\]/g)).toEqual(alarms);
  const guide = await read(join(ROOT, "docs/operating.md"));
  expect(alarmsIn(guide, /^\| `((?:Memsync|Postgres)\w+)` \|/gm)).toEqual(alarms);
});

test("alarms go by figures that a server has", async () => {
  const told = await figures();
  const named = alarmsIn(await read(RULES), /\b(memsync_\w+)/g);
  const missing = [...named].filter((name) => !told.includes(`\n${name}`));
  expect([named.size > 5, missing]).toEqual([true, []]);
});

testWith(
  inCi(programs("promtool")),
  "Prometheus takes a server's figures and the alarms, and each goes off when it has to",
  async () => {
    const check = async (args: readonly string[], stdin?: string) => {
      const given = stdin === undefined ? null : new Blob([stdin]);
      const checked = Bun.spawn(["promtool", ...args], { stdin: given, stderr: "pipe" });
      const said = await new Response(checked.stderr).text();
      expect([args, said, await checked.exited]).toEqual([args, "", 0]);
    };
    await check(["check", "rules", RULES]);
    await check(["test", "rules", TESTS]);
    await check(["check", "metrics"], await figures());
  },
);
