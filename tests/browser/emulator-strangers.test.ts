import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { ask } from "../support/emulator-calls.ts";
import type { Attack } from "./attack-emulator.ts";
import { runVisitor } from "./run-visitor.ts";

let emulator: Emulator;
let attacks: readonly Attack[];

beforeAll(async () => {
  emulator = await startEmulator();
  await ask(emulator, "POST /v1/memories", { body: { content: "x", layer: "user" } });
  emulator.faults.add({ method: "DELETE", status: 503 });
  attacks = await runVisitor("attack-emulator", emulator.url);
}, 240_000);

afterAll(async () => {
  await emulator?.close();
});

test("pages of another port, another name and a rebound one are all refused", () => {
  expect(attacks.map(({ page }) => page)).toEqual(["port", "loopback", "name", "rebound"]);
  for (const { page, tried, answers } of attacks) {
    const succeeded = answers.filter((answer) => !answer.endsWith(" 403"));
    expect({ page, succeeded }).toEqual({ page, succeeded: [] });
    const { "form text": _, "form encoded": __, ...seen } = tried;
    for (const [attempt, what] of Object.entries(seen)) {
      expect({ page, attempt, what }).toEqual({
        page,
        attempt,
        what: expect.stringMatching(/^(TypeError|error|opaque|403)$/),
      });
    }
    // What no browser holds back has reached the emulator, which has refused it.
    expect(answers).toContain("POST /_emulator/reset 403");
  }
});

test("nothing was forgotten, and nothing changed", async () => {
  const { requests } = await emulator.requests.list({ path: "/v1/memories" });
  expect(requests.length).toBe(1);
  expect(emulator.faults.list().length).toBe(1);
  const memories = await ask(emulator, "GET /v1/memories");
  expect(((await memories.json()) as { total: number }).total).toBe(1);
});
