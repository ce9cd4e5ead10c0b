import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { OPERATIONS } from "../../server/openapi/document.ts";
import type { Visit } from "./visit-docs.ts";

const ROOT = join(import.meta.dir, "../..");

/** Debian's package, or another one that is named. Nothing is downloaded. */
const BROWSER = process.env.MEMSYNC_TEST_BROWSER ?? Bun.which("chromium") ?? "";

/** A folder to leave pictures in. */
const PICTURES = process.env.MEMSYNC_TEST_PICTURES;

// Below the checkout, so that the program finds the driver.
const folder = mkdtempSync(join(ROOT, "node_modules/.memsync-browser-"));
let emulator: Emulator;
let visits: readonly Visit[];

beforeAll(async () => {
  if (BROWSER === "") {
    throw new Error("install a browser (apt-get install chromium) or set MEMSYNC_TEST_BROWSER");
  }
  emulator = await startEmulator();
  const program = join(folder, "visit-docs.mjs");
  const { success, logs, outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "visit-docs.ts")],
    target: "node",
    external: ["playwright-core"],
  });
  if (!success) throw new AggregateError(logs, "the bundle failed");
  for (const output of outputs) await Bun.write(program, output);
  const visitor = Bun.spawn(
    ["node", program, emulator.url, BROWSER, ...(PICTURES === undefined ? [] : [PICTURES])],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  visits = JSON.parse(await visitor.stdout.text());
}, 120_000);

afterAll(async () => {
  await emulator?.close();
  rmSync(folder, { recursive: true });
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
