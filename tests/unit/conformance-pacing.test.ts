import { expect, test } from "bun:test";
import { type Report, runConformance } from "../../conformance/run.ts";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";

interface Limited extends AsyncDisposable {
  readonly url: string;
  /** Requests that were answered otherwise than with 429. */
  served(): number;
}

const MS_PER_S = 1000;
const ANSWER_DEADLINE_MS = 30_000;
const LIMITED_RULE = "a 429 is JSON like every answer";

/** An emulator that refuses the requests for which `retryAfter` gives a header's value. */
async function startLimited(retryAfter: (request: number) => string | undefined): Promise<Limited> {
  const emulator = await startEmulator({ plan: "team" });
  let requests = 0;
  let served = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const value = retryAfter(++requests);
      if (value !== undefined) {
        const headers = value === "" ? {} : { "Retry-After": value };
        return Response.json({ error: { code: "rate_limited" } }, { status: 429, headers });
      }
      served += 1;
      const { pathname, search } = new URL(request.url);
      const { method } = request;
      // What is handed on is not compressed any more.
      const headers = new Headers(request.headers);
      headers.set("accept-encoding", "identity");
      const body = method === "POST" ? await request.arrayBuffer() : null;
      return await fetch(emulator.url + pathname + search, { method, headers, body });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    served: () => served,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await emulator.close();
    },
  };
}

/** Waits are over at once and remembered; deadlines of answers are real. */
function createImpatientWorld(waits: number[]): World {
  return {
    ...realWorld,
    setTimer(delayMs, callback) {
      if (delayMs === ANSWER_DEADLINE_MS) return realWorld.setTimer(delayMs, callback);
      waits.push(delayMs / MS_PER_S);
      realWorld.defer(callback);
      return { cancel: () => {} };
    },
  };
}

async function runOn({ url }: Limited, waits: number[], told: number[] = []): Promise<Report> {
  const world = createImpatientWorld(waits);
  const onWait = (seconds: number) => void told.push(seconds);
  return await runConformance({ url, token: "mst_dev_paced", world, onWait });
}

function findingOf({ findings }: Report, name: string) {
  return findings.find(({ rule }) => rule === name);
}

test("a 429 is waited out as long as it says, and its request made again", async () => {
  await using limited = await startLimited((request) => (request % 40 === 0 ? "7" : undefined));
  const waits: number[] = [];
  const told: number[] = [];
  const report = await runOn(limited, waits, told);
  expect(report.findings.filter(({ result }) => result === "fails")).toEqual([]);
  expect(report.givenUp).toBeUndefined();
  expect(waits).toEqual(new Array(3).fill(7));
  expect(told).toEqual(waits);
  expect(report.waitedSeconds).toBe(21);
  expect(report.requests).toBe(limited.served() + 3);
  expect(findingOf(report, LIMITED_RULE)?.result).toBe("holds");
});

test("a 429 that says nothing is tried again in a while", async () => {
  await using limited = await startLimited((request) =>
    [9, 10].includes(request) ? "" : undefined,
  );
  const waits: number[] = [];
  const report = await runOn(limited, waits);
  expect(report.givenUp).toBeUndefined();
  expect(waits).toEqual([15, 15]);
});

test("a quota that is used up for the day ends the run at once", async () => {
  await using limited = await startLimited((request) => (request > 60 ? "43200" : undefined));
  const waits: number[] = [];
  const report = await runOn(limited, waits);
  expect(report.givenUp).toBe("the server limits requests, and says to try again in 43200 s");
  expect(waits).toEqual([]);
  // It says what it could not take away any more.
  expect(report.left.filter((id) => id.startsWith("proj_"))).toHaveLength(2);
});
