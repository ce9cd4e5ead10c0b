import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { OPERATIONS } from "../../server/openapi/document.ts";
import { runVisitor } from "./run-visitor.ts";
import type { Visit } from "./visit-docs.ts";

let emulator: Emulator;
let visits: readonly Visit[];

beforeAll(async () => {
  emulator = await startEmulator();
  visits = await runVisitor("visit-docs", emulator.url);
}, 120_000);

afterAll(async () => {
  await emulator?.close();
});

test("the page loads nothing from elsewhere and complains of nothing", () => {
  expect(visits.length).toBe(4);
  for (const { complaints, foreignRequests } of visits) {
    expect({ complaints, foreignRequests }).toEqual({ complaints: [], foreignRequests: [] });
  }
});

test("every operation is there, on a desktop and on a phone, light and dark", () => {
  for (const { articles, overflow } of visits) {
    expect(articles).toBeGreaterThanOrEqual(OPERATIONS.length);
    expect(overflow).toBe(0);
  }
  const [light, dark] = [...new Set(visits.map(({ background }) => background))];
  expect([light, dark]).toEqual(["rgb(255, 255, 255)", "rgb(20, 23, 28)"]);
});

test("the keyboard reaches the content first, and can send a request", () => {
  for (const { firstStop, answer, tokenKept } of visits) {
    expect(firstStop).toBe("Skip to the content");
    expect(answer).toStartWith("200 OK");
    expect(answer).toContain('"content": "<b>from the page</b>"');
    expect(tokenKept).toBe(false);
  }
});
