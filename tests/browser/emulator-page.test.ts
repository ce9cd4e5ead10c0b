import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { ask } from "../support/emulator-calls.ts";
import { connectLive } from "../support/live-client.ts";
import { runVisitor } from "./run-visitor.ts";
import type { EmulatorUse, TokenUse, UsedEmulators } from "./use-emulator.ts";
import type { EmulatorVisit, SeenEmulators } from "./visit-emulator.ts";

const CONTROL_TOKEN = "only-for-controls";
const SMUGGLED = "<img src=x onerror=alert(1)>";

const emulators: Emulator[] = [];
let visits: readonly EmulatorVisit[];
let use: EmulatorUse;
let tokenUse: TokenUse;

async function start(options: Parameters<typeof startEmulator>[0] = {}): Promise<Emulator> {
  const emulator = await startEmulator(options);
  emulators.push(emulator);
  return emulator;
}

/** Something of each kind that the page shows. */
async function makeBusy(emulator: Emulator): Promise<void> {
  const { token: secret } = emulator.tokens.create();
  emulator.faults.add({ method: "POST", path: "/v1/memories", retryAfter: 3 });
  const body = { content: SMUGGLED, layer: "user", titel: "x" };
  await ask(emulator, `POST /v1/memories?from=${encodeURIComponent(SMUGGLED)}`, {
    token: secret,
    body,
  });
  await ask(emulator, `GET /v1/${"long".repeat(40)}`);
  const live = await connectLive(emulator.url, "mst_dev_pro");
  live.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
  await emulator.requests.waitFor({ frame: "subscribed", timeoutMs: 60_000 });
}

beforeAll(async () => {
  const [empty, busy, open] = [await start(), await start(), await start()];
  const guarded = await start({ host: "0.0.0.0", controlToken: CONTROL_TOKEN });
  await makeBusy(busy);
  const seen: SeenEmulators = { empty: empty.url, busy: busy.url };
  visits = await runVisitor("visit-emulator", seen);
  const used: UsedEmulators = {
    open: open.url,
    guarded: `http://127.0.0.1:${guarded.port}`,
    controlToken: CONTROL_TOKEN,
  };
  [use, tokenUse] = await runVisitor<[EmulatorUse, TokenUse]>("use-emulator", used);
}, 240_000);

afterAll(async () => {
  for (const emulator of emulators) await emulator.close();
});

test("the live page loads nothing from elsewhere, complains of nothing and fits", () => {
  expect(visits.length).toBe(4);
  for (const { complaints, foreignRequests, overflows } of visits) {
    const found = { complaints, foreignRequests, overflows };
    expect(found).toEqual({ complaints: [], foreignRequests: [], overflows: [0, 0, 0, 0] });
  }
  const backgrounds = [...new Set(visits.map(({ background }) => background))];
  expect(backgrounds).toEqual(["rgb(255, 255, 255)", "rgb(20, 23, 28)"]);
});

test("where nothing has come yet, it says what to do next", () => {
  for (const { empty } of visits) {
    expect(empty).toContain("No request has come yet.");
    expect(empty).toContain(`export MEMSYNC_URL=${emulators[0]?.url}`);
    expect(empty).toContain("export MEMSYNC_TOKEN=mst_dev_pro");
  }
});

test("requests are shown with what they sent, what became of them, and no secret", () => {
  for (const { rows, refused, socket, faultFor, smuggled } of visits) {
    expect(rows.length).toBe(3);
    expect(rows[0]).toContain("/api/live");
    expect(rows[0]).toContain("2 frames");
    expect(rows[2]).toContain("fault");
    for (const part of [
      "429",
      "unknown-field",
      "injected by a fault",
      "retry-after",
      SMUGGLED,
      "mst_…",
      "Its body is written anew",
    ]) {
      expect(refused).toContain(part);
    }
    expect(refused).not.toMatch(/mst_[0-9A-Za-z]{8}/);
    expect(socket).toContain('"type": "subscribed"');
    expect(faultFor).toBe("/v1/memories");
    expect(smuggled).toBe(0);
  }
});

test("in a narrow window a link leads to the controls, which are below the requests", () => {
  const [beside, below] = ["desktop", "phone"].map((window) =>
    visits.filter(({ look }) => look.startsWith(window)).map(({ controlsAt }) => controlsAt),
  );
  expect(beside).toEqual([null, null]);
  expect(below?.map((top) => Math.round(top ?? Number.NaN))).toEqual([0, 0]);
});

test("faults are added, counted, turned on again and removed by the keyboard", () => {
  expect(use.complaints).toEqual([
    // The browser's own words for the refusal of a fault that nothing serves.
    expect.stringContaining("status of 400"),
  ]);
  expect(use.faults[0]).toContain("disconnect after /v1/memories");
  expect(use.faults[1]).toContain("0 of 1 hit");
  expect(use.lost).toContain("cut");
  expect(use.refusedFault).toStartWith("Refused: path is served by nothing");
});

test("a request is opened and closed by the keyboard, and copied as a command", async () => {
  expect(use.focus).toEqual(["detail", "request"]);
  expect(use.copied).toBe(use.command);
  expect(use.command).toContain("$MEMSYNC_TOKEN");
  expect(use.command).not.toContain("mst_dev_pro");
  const emulator = await start();
  const command = use.command.replace(/http:\/\/127\.0\.0\.1:\d+/, emulator.url);
  const shell = Bun.spawn(["sh", "-c", command], {
    env: { PATH: process.env.PATH, MEMSYNC_TOKEN: "mst_dev_again" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  expect(await shell.stdout.text()).toStartWith("HTTP/1.1 200 OK");
  const [seen] = (await emulator.requests.list()).requests;
  expect(seen).toMatchObject({
    method: "POST",
    path: "/v1/memories",
    token: "mst_dev_again",
    body: { content: "it's <b>one</b>", layer: "user" },
    headers: { "content-type": "application/json" },
  });
});

test("the clock is frozen and moved", () => {
  expect(use.clock.frozen).toBe(true);
});

test("what is stored goes only in a second step, and comes back from a snapshot", () => {
  expect(use.memories).toEqual([1, 0, 1]);
  expect(use.said).toEqual(["one is put back.", "Forgotten: 1 memory."]);
});

test("the page is narrowed to one account", () => {
  expect([use.otherRows, use.exhausted]).toEqual([0, 429]);
});

test("what leads a client there names the account that the page is narrowed to", () => {
  const [other = "", usual = ""] = use.hints;
  for (const [hint, token] of [
    [other, "mst_dev_other"],
    [usual, "mst_dev_pro"],
  ] as const) {
    expect(hint).toContain(`export MEMSYNC_TOKEN=${token}`);
    expect(hint).toContain(`Authorization: Bearer ${token}`);
  }
  expect(other).not.toContain("mst_dev_pro");
});

test("a lost connection is said, and mends by itself", () => {
  expect(use.problem).toContain("This page tries again by itself.");
  expect(use.problemsLeft).toBe(0);
});

test("a control token that is asked for stays in the page", () => {
  expect(tokenUse).toEqual({ wrong: "That is not its control token.", tokenKept: false });
});
