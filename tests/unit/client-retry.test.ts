import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApiClient } from "../../client/api-client.ts";
import { Calls } from "../../client/calls.ts";
import { type Attempt, createClient } from "../../client/client.ts";
import { MemsyncError } from "../../client/memsync-error.ts";
import { Transport, type TransportOptions } from "../../client/transport.ts";
import { V1Client } from "../../client/v1-client.ts";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { type Fault, type FaultyService, openFaultyService } from "../support/faulty-service.ts";
import { createTestWorld } from "../support/test-world.ts";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

interface Impatient extends AsyncDisposable {
  readonly service: FaultyService;
  readonly v1: V1Client;
  readonly api: ApiClient;
  /** Every pause between attempts, in milliseconds. */
  readonly pauses: readonly number[];
  /** Lets the time run out that the call under way has. */
  runOut(): void;
}

/** A client of a faulty service, whose clock jumps over every pause. */
async function clientWith(
  faults: readonly Fault[],
  patience: Partial<TransportOptions> = {},
): Promise<Impatient> {
  const service = await openFaultyService(emulator.url);
  service.faults.push(...faults);
  const world = createTestWorld();
  const pauses: number[] = [];
  const deadlines = new Set<() => void>();
  let underWay = false;
  const transport = new Transport(
    {
      url: service.url,
      token: `mst_dev_${crypto.randomUUID()}`,
      ...patience,
      fetch: (...given: Parameters<typeof fetch>) => {
        underWay = true;
        return fetch(...given);
      },
    },
    {
      ...world,
      // The timer of an attempt is set before its request, and cancelled with it.
      setTimer(delayMs, callback) {
        underWay = false;
        let cancelled = false;
        deadlines.add(callback);
        setImmediate(() => {
          if (cancelled || underWay) return;
          pauses.push(delayMs);
          world.advance(delayMs);
          callback();
        });
        return {
          cancel: () => {
            cancelled = true;
            deadlines.delete(callback);
          },
        };
      },
    },
  );
  const calls = new Calls(transport);
  return {
    service,
    pauses,
    v1: new V1Client(calls, undefined),
    api: new ApiClient(calls),
    runOut: () => {
      for (const end of deadlines) end();
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

async function failureOf(call: Promise<unknown>): Promise<MemsyncError> {
  const thrown: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof MemsyncError) return thrown;
  throw new Error(`not a MemsyncError: ${thrown}`);
}

const LOST: Fault = { lost: "answer" };
const BROKEN: Fault = { status: 500, body: "" };
const LIMITED: Fault = { status: 429, headers: { "Retry-After": "17" }, body: "" };

for (const fault of [{ lost: "request" }, LOST, BROKEN, { status: 502 }, LIMITED] as Fault[]) {
  test(`a read is sent again after ${JSON.stringify(fault)}`, async () => {
    await using client = await clientWith([fault, fault]);
    expect(await client.v1.listMemories()).toMatchObject({ memories: [] });
    expect(client.service.requests.length).toBe(3);
  });
}

test("a memory whose answer was lost is made once, with a key and without", async () => {
  await using client = await clientWith([LOST]);
  await client.v1.createMemory({ content: "one", layer: "user" });
  client.service.faults.push(LOST);
  await client.v1.createMemory({ content: "two", layer: "user", key: "two" });
  const { memories } = await client.v1.listMemories();
  expect(memories.map(({ content }) => content)).toEqual(["one", "two"]);
});

test("each write has an Idempotency-Key of its own, the same in each of its attempts", async () => {
  await using client = await clientWith([LOST, BROKEN]);
  await client.api.putProject({ id: "proj_a" });
  await client.api.syncProject("proj_a", {});
  const keys = client.service.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys.length).toBe(4);
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(keys[3]).not.toBe(keys[0] as string);
  expect(keys[0]).toMatch(/^[a-z2-7]{16}$/);
});

test("a deletion is never sent again when it may have been done", async () => {
  for (const fault of [{ lost: "request" }, LOST, BROKEN] as Fault[]) {
    await using client = await clientWith([]);
    const { id } = await client.v1.createMemory({ content: "x", layer: "user", key: "k" });
    client.service.faults.push(fault);
    const { status } = await failureOf(client.v1.deleteMemory(id));
    expect(status).toBe("status" in fault ? 500 : 0);
    expect(client.service.requests.length).toBe(2);
  }
});

test("a deletion that was refused by a 429 is sent again", async () => {
  await using client = await clientWith([]);
  const { id } = await client.v1.createMemory({ content: "x", layer: "user" });
  client.service.faults.push(LIMITED);
  expect(await client.v1.deleteMemory(id)).toEqual({ id, deleted: true });
});

test("Retry-After is waited out, and never less", async () => {
  await using client = await clientWith([LIMITED, LIMITED]);
  await client.v1.listProjects();
  expect(client.pauses.length).toBe(2);
  for (const pause of client.pauses) {
    expect(pause).toBeGreaterThanOrEqual(17_000);
    expect(pause).toBeLessThan(17_400);
  }
});

test("Retry-After is kept to with a 503 as well, and as a date", async () => {
  const date = "Mon, 30 Nov 2026 10:00:00 GMT";
  const later = "Mon, 30 Nov 2026 10:00:17 GMT";
  const dated = { Date: date, "Retry-After": later };
  for (const fault of [
    { status: 503, headers: { "Retry-After": "17" }, body: "" },
    { status: 503, headers: dated, body: "" },
    { status: 429, headers: dated, body: "" },
  ] as Fault[]) {
    await using client = await clientWith([fault]);
    await client.v1.listProjects();
    expect(client.pauses.length).toBe(1);
    expect(client.pauses[0]).toBeGreaterThanOrEqual(17_000);
    expect(client.pauses[0]).toBeLessThan(17_400);
  }
});

test("other pauses have full jitter, and double", async () => {
  await using client = await clientWith(new Array(9).fill(BROKEN), { attemptsMax: 10 });
  await client.v1.listProjects();
  const bounds = [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000];
  expect(client.pauses.length).toBe(bounds.length);
  for (const [at, bound] of bounds.entries()) {
    expect(client.pauses[at]).toBeGreaterThanOrEqual(0);
    expect(client.pauses[at]).toBeLessThan(bound);
  }
  expect(new Set(client.pauses).size).toBe(bounds.length);
});

test("attempts and time are bounded", async () => {
  await using client = await clientWith(new Array(9).fill(BROKEN), { attemptsMax: 3 });
  expect((await failureOf(client.v1.listProjects())).status).toBe(500);
  expect(client.service.requests.length).toBe(3);
  await using hurried = await clientWith([LIMITED], { deadlineMs: 10_000 });
  const failure = await failureOf(hurried.v1.listProjects());
  expect(failure).toMatchObject({ code: "rate_limited", status: 429, retryAfterSeconds: 17 });
  expect(hurried.pauses).toEqual([]);
});

test("a call that gets no answer ends with its time", async () => {
  await using client = await clientWith([{ lost: "patience" }], { attemptsMax: 1 });
  const heard = client.service.nextRequest();
  const failure = failureOf(client.v1.listProjects());
  await heard;
  client.runOut();
  expect(await failure).toMatchObject({ code: "unreachable", status: 0 });
});

test("an aborted call rejects with the signal's reason, and is not sent again", async () => {
  await using client = await clientWith([{ lost: "patience" }]);
  const controller = new AbortController();
  const heard = client.service.nextRequest();
  const call = client.v1.listProjects({}, { signal: controller.signal });
  await heard;
  const reason = new Error("enough");
  controller.abort(reason);
  expect(await call.catch((thrown: unknown) => thrown)).toBe(reason);
  const again = client.v1.listProjects({}, { signal: controller.signal });
  expect(await again.catch((thrown: unknown) => thrown)).toBe(reason);
  expect(client.service.requests.length).toBe(1);
});

test("what is refused is not sent again, and says why", async () => {
  await using client = await clientWith([]);
  const wrong = { content: "", layer: "team" as "user" };
  const failure = await failureOf(client.v1.createMemory(wrong));
  expect(failure).toMatchObject({ name: "MemsyncError", code: "invalid_request", status: 400 });
  expect(failure.requestId).toMatch(/^req_/);
  expect(failure.details.map(({ path }) => path)).toEqual(["/content", "/layer"]);
  expect(client.service.requests.length).toBe(1);
});

test("each attempt is told, with what a log needs and no secret", async () => {
  const attempts: Attempt[] = [];
  const onAttempt = (attempt: Attempt) => void attempts.push(attempt);
  await using client = await clientWith([LOST, LIMITED], { onAttempt });
  await client.v1.createMemory({ content: "planted", layer: "user" });
  await failureOf(client.v1.getProject("proj_none"));
  const told = attempts.map(({ method, path, attempt, status, code }) => {
    return [method, path, attempt, status, code];
  });
  expect(told).toEqual([
    ["POST", "/v1/memories", 1, 0, "unreachable"],
    ["POST", "/v1/memories", 2, 429, "rate_limited"],
    ["POST", "/v1/memories", 3, 200, undefined],
    ["GET", "/v1/projects/proj_none", 1, 404, "not_found"],
  ]);
  const [lost, limited, done, refused] = attempts;
  expect(lost?.retryInMs).toBe(client.pauses[0] as number);
  expect(limited?.retryInMs).toBe(client.pauses[1] as number);
  expect([done?.retryInMs, refused?.retryInMs]).toEqual([undefined, undefined]);
  expect(done?.requestId).toMatch(/^req_/);
  expect(done?.rateLimit).toMatch(/^"minute";r=\d+;t=\d+, "day"/);
  expect(JSON.stringify(attempts)).not.toMatch(/planted|mst_/);
});

test("headers go with every request, and never in place of the client's own", async () => {
  const headers = { "X-Proxy": "yes", authorization: "Bearer other" };
  await using client = await clientWith([], { headers });
  await client.v1.createMemory({ content: "x", layer: "user" });
  await client.v1.listMemories();
  for (const { headers: sent } of client.service.requests) {
    expect(sent["x-proxy"]).toBe("yes");
    expect(sent.authorization).toStartWith("Bearer mst_dev_");
  }
});

test("a token that no header can carry is refused at once, and not repeated", () => {
  for (const token of ["mst_planted\n", "mst planted", "", "mst_plänted"]) {
    const thrown = () => createClient({ url: emulator.url, token });
    expect(thrown).toThrow(/trim it$/);
    expect(thrown).not.toThrow(/planted/);
  }
});

test("a proxy that can't reach the service is told as that, and asked again", async () => {
  const fault: Fault = { status: 502, headers: { "Content-Type": "text/html" }, body: "<html>" };
  await using client = await clientWith([fault, fault]);
  const failure = await failureOf(client.v1.listMemories(undefined, { attemptsMax: 1 }));
  expect(failure).toMatchObject({ code: "unreachable", status: 502 });
  expect(failure.message).toContain("in between");
  expect(await client.v1.listMemories()).toMatchObject({ memories: [] });
  expect(client.service.requests.length).toBe(3);
});

test("an answer that is none of the interface's is told apart, and its redirect not followed", async () => {
  const headers = { Location: "/v1/projects", "Content-Type": "text/html" };
  for (const status of [200, 302, 404]) {
    await using client = await clientWith([{ status, headers, body: "<html>" }]);
    const failure = await failureOf(client.v1.listProjects());
    expect(failure).toMatchObject({ code: "unexpected_answer", status });
    expect(client.service.requests.length).toBe(1);
  }
});

test("an answer that is no object is none of the interface's, whatever its status", async () => {
  for (const body of ["null", "[]", '"text"', '{"memories":null}']) {
    await using client = await clientWith([{ status: 200, body }]);
    const items = Array.fromAsync(client.v1.memories());
    expect(await failureOf(items)).toMatchObject({ code: "unexpected_answer", status: 200 });
    expect(client.service.requests.length).toBe(1);
  }
  const body = JSON.stringify({ id: "mem_made" });
  await using client = await clientWith([{ status: 201, body }]);
  expect((await client.v1.createMemory({ content: "x", layer: "user" })).id).toBe("mem_made");
});

test("a list whose cursor comes again is ended", async () => {
  const body = JSON.stringify({ memories: [{ key: "one" }], next_cursor: "again" });
  const page: Fault = { status: 200, body };
  await using client = await clientWith([page, page, page]);
  const items = Array.fromAsync(client.v1.memories());
  expect(await failureOf(items)).toMatchObject({ code: "unexpected_answer" });
  expect(client.service.requests.length).toBe(2);
});

test("a call that is aborted while its attempt is told waits no longer", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const onAttempt = async () => controller.abort(reason);
  await using client = await clientWith([LIMITED], { onAttempt });
  const call = client.v1.listProjects({}, { signal: controller.signal });
  expect(await call.catch((thrown: unknown) => thrown)).toBe(reason);
  expect(client.pauses).toEqual([]);
});

test("a project that no header can name is refused at once", () => {
  const options = { url: emulator.url, token: "mst_dev_pro", projectId: "proj_é中" };
  expect(() => createClient(options)).toThrow(/^projectId: /);
});
