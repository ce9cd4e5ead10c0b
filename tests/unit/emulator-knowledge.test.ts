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

test("who asks one thing after the other, over one connection, knows the answers", async () => {
  await using emulator = await startTold();
  emulator.faults.add({ path: "/v1/projects", status: 503, retryAfter: 30, times: 9 });
  using one = await connectRaw(emulator.port);
  using other = await connectRaw(emulator.port);
  await askOver(one, 1);
  await askOver(other, 1);
  expect(await rulesOf(emulator)).toEqual([]);
  await askOver(one, 2);
  // It may have waited for a free connection.
  expect(await rulesOf(emulator)).toEqual([]);
  await emulator.reset({ scope: "requests" });
  await askOver(one, 3);
  await askOver(one, 4);
  expect(await rulesOf(emulator)).toEqual(["early-retry"]);
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

test("the first of what was sent together may have been answered already", async () => {
  await using emulator = await startTold();
  emulator.faults.add({ path: "/v1/projects", status: 503, retryAfter: 30, times: 9 });
  using one = await connectRaw(emulator.port);
  using other = await connectRaw(emulator.port);
  await askOver(one, 1);
  await askOver(one, 2);
  expect(await rulesOf(emulator)).toEqual(["early-retry"]);
  await askOver(other, 1);
  expect(await rulesOf(emulator)).toEqual([]);
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
