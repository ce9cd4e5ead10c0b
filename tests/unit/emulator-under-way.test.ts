import { expect, test } from "bun:test";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { ask } from "../support/emulator-calls.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { waitFor } from "../support/wait-for.ts";

const BODY = JSON.stringify({ layer: "user", key: "k", content: "x" });
const SEED = { user: { memories: [{ key: "kept", value: "v" }] } };

/** A write that has come, but for the end of its body. */
async function beginWrite(emulator: Emulator) {
  const connection = await connectRaw(emulator.port);
  connection.write("POST /v1/memories HTTP/1.1\r\nHost: localhost\r\n");
  connection.write("Authorization: Bearer mst_dev_pro\r\n");
  connection.write(`Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 5)}`);
  while ((await emulator.requests.list()).requests.length === 0) {
    await new Promise<void>((resolve) => realWorld.defer(resolve));
  }
  return {
    end: async () => {
      connection.write(BODY.slice(5));
      return await connection.until(/HTTP\/1.1 \d+[\s\S]*\}/);
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  };
}

async function keysOf(emulator: Emulator): Promise<(string | undefined)[]> {
  return ((await emulator.export()).user?.memories ?? []).map(({ key }) => key);
}

test("a write under way is answered, and then what is asked is done", async () => {
  const calls: Record<string, [(emulator: Emulator) => Promise<unknown>, string[]]> = {
    reset: [(emulator) => emulator.reset(), []],
    import: [(emulator) => emulator.import(SEED), ["kept"]],
    restore: [(emulator) => emulator.snapshots.restore("before"), []],
    export: [(emulator) => emulator.export(), ["k"]],
  };
  for (const [name, [call, after]] of Object.entries(calls)) {
    await using emulator = await startEmulator();
    await emulator.snapshots.save("before");
    using write = await beginWrite(emulator);
    const called = call(emulator);
    expect([name, await write.end()]).toEqual([name, expect.stringContaining(" 200 ")]);
    const given = await called;
    expect([name, await keysOf(emulator)]).toEqual([name, after]);
    if (name === "export") expect(given).toMatchObject({ user: { memories: [{ key: "k" }] } });
  }
});

test("what is left at the end has the last write that was answered", async () => {
  let left: unknown;
  const emulator = await startEmulator(
    {},
    {
      world: realWorld,
      log: silentLog,
      atEnd: async (controls) => {
        left = await controls.export();
      },
    },
  );
  using write = await beginWrite(emulator);
  const closed = emulator.close();
  expect(await write.end()).toContain(" 200 ");
  await closed;
  expect(left).toMatchObject({ user: { memories: [{ key: "k" }] } });
});

test("a request under way when the clock is moved has the time before the move throughout", async () => {
  await using emulator = await startEmulator({ clock: "2026-01-01T05:00:00Z" });
  // A sweep falls due each hour.
  for (const hour of ["05", "07", "09"]) {
    using write = await beginWrite(emulator);
    const moved = emulator.clock.advance("2h");
    const later = ask(emulator, "POST /v1/memories", { body: { layer: "user", content: "y" } });
    const answer = await write.end();
    expect(answer).toContain(`Date: Thu, 01 Jan 2026 ${hour}:00:00 GMT`);
    expect(answer).toContain(`"updated_at":"2026-01-01T${hour}:00:00.000Z"`);
    const { now, ran } = await moved;
    expect(ran.length).toBeGreaterThan(0);
    expect(await (await later).json()).toMatchObject({ created_at: now });
    await emulator.reset();
  }
});

test("an answer that a fault holds back has the time of its making", async () => {
  await using emulator = await startEmulator({ clock: "2026-01-01T05:00:00Z" });
  emulator.faults.add({ path: "/v1/memories", latencyMs: 60_000 });
  const body = { layer: "user", content: "x" };
  const answered = ask(emulator, "POST /v1/memories", { body }).catch(() => undefined);
  await waitFor("the write", async () => (await keysOf(emulator)).length === 1);
  expect((await emulator.clock.advance("2h")).now).toBe("2026-01-01T07:00:00.000Z");
  await emulator.close();
  const answer = await answered;
  expect(answer?.headers.get("date")).toBe("Thu, 01 Jan 2026 05:00:00 GMT");
});

test("half a request, whose rest never comes, holds nothing up for long", async () => {
  await using emulator = await startEmulator();
  using _write = await beginWrite(emulator);
  expect(await emulator.reset()).toMatchObject({ memories: 0 });
  await emulator.clock.advance("1h");
});
