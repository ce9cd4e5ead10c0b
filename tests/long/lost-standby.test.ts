import { expect, test } from "bun:test";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { endWithThisProcess } from "../support/postgres-cluster.ts";
import { openHost } from "../support/postgres-host.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { startPostgres } from "../support/start-postgres.ts";
import { waitFor } from "../support/wait-for.ts";

const SERVERS = 2;
const ACCOUNTS = 24;

/** Of each server. */
const CONNECTIONS_MAX = 12;

/** Writes are given up after 40 seconds. Another one would be by the end, if any was begun. */
const LOST_FOR_MS = 95_000;

/** A call that is refused has no wait for the database in it. */
const AT_ONCE_MS = 5000;

test("a synchronous standby that is lost takes no connections but those there are", async () => {
  const { folder, address } = await startPostgres();
  endWithThisProcess(folder);
  await using one = await openHost(address);
  await using other = await openHost(address, one.token);
  const hosts = [one, other];
  const tokens = [one.token];
  while (tokens.length < ACCOUNTS) tokens.push(await one.newToken(`account-${tokens.length}`));
  // Of nobody who uses up its requests by writes that are refused.
  const reader = await one.newToken("reader");
  const ready = async ({ app }: (typeof hosts)[number]) => {
    return (await app.fetch(new Request("http://127.0.0.1/readyz"))).status;
  };
  const reload = "SELECT pg_reload_conf()";
  await runOnPostgres(address, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", reload);
  const until = performance.now() + LOST_FOR_MS;
  const isLost = () => performance.now() < until;
  const statuses = new Set<number>();
  let isTold = false;
  const late: string[] = [];
  const written = new Map<string, string[]>();
  const writers = tokens.map(async (token, at) => {
    const keys: string[] = [];
    written.set(token, keys);
    for (let turn = 0; isLost(); turn += 1) {
      const begun = performance.now();
      const wasTold = isTold;
      const answer = await (hosts[(turn + at) % SERVERS] ?? one).write(`key-${turn}`, token);
      const { status } = answer;
      statuses.add(status);
      if (status === 200) keys.push(`key-${turn}`);
      const took = performance.now() - begun;
      if (wasTold && isLost() && (status !== 429 || took > AT_ONCE_MS)) {
        late.push(`${status} after ${Math.round(took)} ms`);
      }
      if (status === 429) await delay(realWorld, 1000 * Number(answer.headers.get("retry-after")));
    }
  });
  await waitFor(
    "an outage that shows",
    async () => (await ready(one)) + (await ready(other)) > 1000,
  );
  isTold = true;
  let most = 0;
  const looks = new Set<string>();
  const look = async () => {
    const [row] = await runOnPostgres(
      address,
      "SELECT count(*)::int AS backends FROM pg_stat_activity WHERE application_name = 'memsync'",
    );
    most = Math.max(most, Number(row?.backends));
    const { status } = await other.ask("/v1/memories", undefined, reader);
    looks.add(`ready: ${await ready(one)}, read: ${status}`);
    return !isLost();
  };
  await waitFor("the end of the outage", look, 2 * LOST_FOR_MS, 1000);
  expect([...looks]).toEqual(["ready: 503, read: 200"]);
  expect(most).toBeLessThanOrEqual(SERVERS * CONNECTIONS_MAX);
  expect(late).toEqual([]);
  // Each was given up, or refused while others wait, and there were some of either kind.
  expect(statuses).toEqual(new Set([500, 429]));
  await runOnPostgres(address, "ALTER SYSTEM RESET synchronous_standby_names", reload);
  await Promise.all(writers);
  for (const host of hosts) await waitFor("a server", async () => (await ready(host)) === 200);
  for (const token of tokens) {
    await waitFor("a place", async () => (await other.write("after", token)).status === 200);
    const keys = await other.keys(token);
    expect(keys).toEqual(expect.arrayContaining([...(written.get(token) ?? []), "after"]));
  }
}, 300_000);
