import { expect, test } from "bun:test";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { ask } from "../support/emulator-calls.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { startTold } from "../support/told-emulator.ts";

const TOGETHER = 40;
const note = { content: "x", layer: "user" };

/** What was sent without having seen an answer. */
async function sendTogether(emulator: Emulator): Promise<(number | undefined)[]> {
  const writes = Array.from({ length: TOGETHER }, async () => {
    const response = await ask(emulator, "POST /v1/memories", { body: note }).catch(
      () => undefined,
    );
    await response?.text();
    return response?.status;
  });
  return await Promise.all(writes);
}

async function rulesOf(emulator: Emulator): Promise<string[]> {
  return (await emulator.violations.list()).map(({ rule }) => rule);
}

/** A GET over a connection that is kept. */
async function askOver(connection: Awaited<ReturnType<typeof connectRaw>>, count: number) {
  connection.write("GET /v1/projects HTTP/1.1\r\nHost: localhost\r\n");
  connection.write("Authorization: Bearer mst_dev_pro\r\n\r\n");
  await connection.until(new RegExp(`(HTTP/1.1[^]*request_id[^]*){${count}}`));
}

test("requests that were sent together are accused of nothing", async () => {
  await using emulator = await startEmulator();
  await emulator.limits.set({ token: emulator.token, exhaust: "minute", left: 10 });
  const statuses = await sendTogether(emulator);
  expect(statuses.filter((status) => status === 429)).toHaveLength(TOGETHER - 10);
  await emulator.violations.assertNone();
  for (const effect of [{ retryAfter: 30 }, { status: 503 }, { disconnect: "after" }] as const) {
    await emulator.reset();
    emulator.faults.add({ path: "/v1/memories", ...effect, times: 2 * TOGETHER });
    await sendTogether(emulator);
    await emulator.violations.assertNone();
  }
});

/** Which requests are accused that come over these connections, one when the other is answered. */
async function accusedOver(order: readonly number[]): Promise<number> {
  await using emulator = await startTold();
  emulator.faults.add({ path: "/v1/projects", status: 503, retryAfter: 30, times: 9 });
  using one = await connectRaw(emulator.port);
  using two = await connectRaw(emulator.port);
  using three = await connectRaw(emulator.port);
  const connections = [one, two, three];
  for (const [at, which] of order.entries()) {
    const connection = connections[which];
    const count = order.slice(0, at + 1).filter((each) => each === which).length;
    if (connection) await askOver(connection, count);
  }
  return (await rulesOf(emulator)).length;
}

test("who asks one thing after the other knows the answers of the connection", async () => {
  expect(await accusedOver([0, 0])).toBe(1);
  // As Node's `fetch` does it.
  expect(await accusedOver([0, 1, 0, 1])).toBe(2);
  expect(await accusedOver([0, 1])).toBe(0);
});

test("what may have waited for a connection that another had is accused of nothing", async () => {
  expect(await accusedOver([0, 0, 1])).toBe(0);
  expect(await accusedOver([0, 1, 2, 0])).toBe(0);
  expect(await accusedOver([0, 1, 1])).toBe(0);
});

test("over another connection it is known once it was surely read", async () => {
  await using emulator = await startTold();
  emulator.faults.add({ path: "/v1/projects", status: 503, retryAfter: 30, times: 9 });
  using one = await connectRaw(emulator.port);
  using other = await connectRaw(emulator.port);
  await askOver(one, 1);
  emulator.allRead();
  await askOver(other, 1);
  expect(await rulesOf(emulator)).toEqual(["early-retry"]);
});

test("limits that are others now are not known to be spent", async () => {
  await using emulator = await startTold();
  await emulator.limits.set({ token: emulator.token, exhaust: "minute", left: 1 });
  await ask(emulator, "GET /v1/projects");
  emulator.allRead();
  await emulator.reset({ scope: "limits" });
  await emulator.limits.set({ token: emulator.token, exhaust: "minute" });
  await ask(emulator, "GET /v1/projects");
  expect(await rulesOf(emulator)).toEqual([]);
});
