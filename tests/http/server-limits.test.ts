import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostTables } from "../../server/stores/account-tables.ts";
import { openReader } from "../../shared/sqlite/database.ts";
import { IS_ON_POSTGRES, newHostAddress } from "../support/host-address.ts";
import { MEMSYNC } from "../support/machine.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { RunningProcess } from "../support/running-process.ts";
import { waitFor } from "../support/wait-for.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-limits-"));
const path = join(folder, "server.db");
const address = IS_ON_POSTGRES ? await newHostAddress() : `sqlite:${path}`;
const DATABASE = ["--database-url", address];
const OPTIONS = { cwd: folder, env: { PATH: process.env.PATH ?? "", HOME: folder } };
afterAll(() => rmSync(folder, { recursive: true }));

function memsync(...args: readonly string[]): RunningProcess {
  return new RunningProcess([...MEMSYNC, "server", ...args, ...DATABASE], OPTIONS);
}

async function start() {
  const server = new RunningProcess([...MEMSYNC, "server", "--port", "0", ...DATABASE], OPTIONS);
  const url = await server.untilPrinted(/memsync server ready at (\S+)/);
  const ask = async (bearer: string) => {
    const headers = { Authorization: `Bearer ${bearer}` };
    return await fetch(`${url}/v1/projects`, { headers });
  };
  return { server, ask };
}

/** What is left of the day, which does not come back while a test runs. */
function leftOfDay({ headers }: Response): number {
  return Number(/"day";r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
}

/** Requests of the one account that the database has. */
async function stored(): Promise<number | undefined> {
  if (IS_ON_POSTGRES) {
    const rows = await runOnPostgres(address, "SELECT in_day::int FROM request_counts");
    return rows.map(({ in_day }) => Number(in_day))[0];
  }
  const reader = await openReader<HostTables>(path);
  const row = await reader.selectFrom("request_counts").select("in_day").executeTakeFirst();
  await reader.destroy();
  return row?.in_day;
}

test("a hosted server's counts outlive its restarts and its crashes", async () => {
  const made = await memsync("account", "create", "acme", "--plan", "team").ended();
  expect(made.status).toBe(0);
  const { stdout } = await memsync("token", "create", "--account", "acme").ended();
  const token = stdout.trim();

  const first = await start();
  for (let asked = 1; asked <= 7; asked++) {
    expect(leftOfDay(await first.ask(token))).toBe(50_000 - asked);
  }
  expect((await first.server.end("SIGTERM")).status).toBe(0);
  expect(await stored()).toBe(7);

  const second = await start();
  expect(leftOfDay(await second.ask(token))).toBe(50_000 - 8);
  await waitFor("the counts to be written", async () => (await stored()) === 8);
  await second.server.end("SIGKILL");

  const third = await start();
  const answer = await third.ask(token);
  expect(leftOfDay(answer)).toBe(50_000 - 9);
  expect(answer.headers.get("ratelimit")).toContain('"minute";r=111;');
  for (let guess = 0; guess < 11; guess++) {
    expect((await third.ask(`mst_guess${guess}`)).status).toBe(401);
  }
  expect(leftOfDay(await third.ask(token))).toBe(50_000 - 10);
  expect((await third.server.end("SIGTERM")).status).toBe(0);
});
