import { expect, setDefaultTimeout, test } from "bun:test";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { failureOf } from "../support/failure.ts";
import { errorOf } from "../support/http-server.ts";

setDefaultTimeout(30_000);

test("a body that has a field twice is refused with its line, and nothing is done", async () => {
  await using emulator = await startEmulator({
    seed: { user: { memories: [{ key: "k", value: "v" }] } },
  });
  const before = await emulator.export();
  for (const [call, body] of [
    ["import", '{"user": {"memories": []},\n "user": {}}'],
    ["seed", '{"user": {"memories": [\n{"key": "a", "key": "b", "value": "x"}]}}'],
    ["reset", '{"token": "mst_dev_a",\n"token": "mst_dev_pro"}'],
    ["faults", '{"status": 500,\n"status": 503}'],
  ]) {
    const headers = { "content-type": "application/json" };
    const url = `${emulator.url}/_emulator/${call}`;
    const refused = await fetch(url, { method: "POST", headers, body });
    expect(refused.status).toBe(400);
    expect((await errorOf(refused)).message).toMatch(/^line:2 "\w+" is given twice/);
  }
  expect(await emulator.export()).toEqual(before);
  expect(emulator.faults.list()).toEqual([]);
});

test("a rule with an effect both beside then and in it is refused", async () => {
  await using emulator = await startEmulator();
  const headers = { "content-type": "application/json" };
  // biome-ignore lint/suspicious/noThenProperty: the name that it has on the wire
  const body = JSON.stringify({ faults: [{ then: { status: 500 }, latency_ms: 5 }] });
  const refused = await fetch(`${emulator.url}/_emulator/faults`, {
    method: "POST",
    headers,
    body,
  });
  expect(refused.status).toBe(400);
  expect((await errorOf(refused)).message).toStartWith("/faults/0/latency_ms can't be");
  expect(emulator.faults.list()).toEqual([]);
});

test("a control token that no request could carry is refused at the start", async () => {
  for (const controlToken of ["", "a b", "a\nb", "é"]) {
    const failure = await failureOf(() => startEmulator({ controlToken }));
    expect(String(failure)).toContain("controlToken");
  }
});
