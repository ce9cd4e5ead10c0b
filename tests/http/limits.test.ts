import { expect, test } from "bun:test";
import { realWorld } from "../../shared/world-real.ts";
import { startLimited } from "../support/limited-service.ts";
import { shakeHands } from "../support/live-handshake.ts";

/** Noon, and the clock stands still: figures are exact. */
const NOON_MS = Date.UTC(2026, 0, 1, 12);
let nowMs = NOON_MS;
const world = { ...realWorld, now: () => nowMs, monotonic: () => nowMs };
const url = await startLimited(world);

const POLICY = {
  pro: '"minute";q=60;w=60, "day";q=10000;w=86400',
  team: '"minute";q=120;w=60, "day";q=50000;w=86400',
};

interface Asked {
  readonly token: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(method: string, path: string, { token, body, headers }: Asked): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: { ...(token !== "" && { Authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body }),
  });
}

const newToken = () => `mst_dev_${crypto.randomUUID()}`;

/** What an answer says is left of the minute and of the day. */
function leftIn({ headers }: { readonly headers: Headers }): [number, number] | undefined {
  const found = /^"minute";r=(\d+);t=\d+, "day";r=(\d+);t=\d+$/.exec(
    headers.get("ratelimit") ?? "",
  );
  return found ? [Number(found[1]), Number(found[2])] : undefined;
}

async function useUp(token: string): Promise<void> {
  for (let left = 60; left > 0; left--) await send("GET", "/v1/projects", { token });
}

test("an answer says what the plan allows and what is left of it", async () => {
  const token = newToken();
  const { headers } = await send("GET", "/v1/memories", { token });
  expect(headers.get("ratelimit-policy")).toBe(POLICY.pro);
  expect(headers.get("ratelimit")).toBe('"minute";r=59;t=60, "day";r=9999;t=43200');
  expect(headers.get("retry-after")).toBeNull();
  const team = await send("GET", "/v1/memories", { token: "mst_dev_team" });
  expect(team.headers.get("ratelimit-policy")).toBe(POLICY.team);
});

test("every answer to a good token shows the quota, and what finds a route costs one", async () => {
  const token = newToken();
  const first = await send("GET", "/v1/memories", { token });
  const known = { "If-None-Match": first.headers.get("etag") ?? "" };
  const answers = [
    [200, 58, await send("HEAD", "/v1/memories", { token })],
    [304, 57, await send("GET", "/v1/memories", { token, headers: known })],
    [400, 56, await send("POST", "/v1/memories", { token, body: "{" })],
    [404, 55, await send("GET", "/v1/projects/proj_none", { token })],
    [400, 54, await send("GET", "/api/live", { token })],
    [404, 54, await send("GET", "/v1/nowhere", { token })],
    [404, 54, await send("PUT", "/v1/memories", { token })],
    [404, 54, await send("GET", "/v1/%6demories", { token })],
    [403, 54, await send("GET", "/v1/memories", { token, headers: { Origin: "http://a.b" } })],
    [101, 53, await shakeHands(url, token)],
    [400, 53, await shakeHands(url, token, { "Sec-WebSocket-Key": "short" })],
    [400, 53, await shakeHands(url, token, { "Sec-WebSocket-Version": "12" })],
  ] as const;
  const seen = answers.map(([, , answer]) => [answer.status, leftIn(answer)]);
  expect(seen).toEqual(answers.map(([status, left]) => [status, [left, left + 9940]]));
});

test("what is asked without a good token costs nothing and shows nothing", async () => {
  const answers = [
    await send("GET", "/healthz", { token: newToken() }),
    await send("GET", "/v1/memories", { token: "" }),
    await send("GET", "/v1/memories", { token: "nonsense" }),
    await shakeHands(url, "nonsense"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 401, 401]);
  for (const { headers } of answers) {
    expect(headers.get("ratelimit")).toBeNull();
    expect(headers.get("ratelimit-policy")).toBeNull();
  }
});

test("a request too many is 429, after 404 and before 403 and 400, and costs nothing", async () => {
  const token = "mst_dev_pro";
  const readonly = "mst_dev_readonly";
  await useUp(token);
  const over = [
    await send("GET", "/v1/memories", { token }),
    await send("GET", "/v1/memories", { token: readonly }),
    await send("POST", "/v1/memories", { token: readonly, body: "{}" }),
    await send("POST", "/v1/memories", { token, body: "{" }),
    await send("GET", "/v1/memories?limit=x", { token }),
    await send("GET", "/v1/projects/proj_none", { token }),
    await shakeHands(url, token),
    await shakeHands(url, token, { "Sec-WebSocket-Key": "short" }),
  ];
  for (const answer of over) {
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("60");
    expect(leftIn(answer)).toEqual([0, 9940]);
  }
  const [first] = over;
  const body = (await (first as Response).json()) as { error: { code: string } };
  expect(body.error.code).toBe("rate_limited");
  expect((await send("GET", "/v1/nowhere", { token })).status).toBe(404);
  expect((await send("GET", "/healthz", { token })).status).toBe(200);
  nowMs += 60_000;
  expect(leftIn(await send("GET", "/v1/memories", { token }))).toEqual([59, 9939]);
  nowMs = NOON_MS;
});

test("stats show both windows, their own request among them", async () => {
  const token = newToken();
  await send("GET", "/v1/memories", { token });
  const { requests } = (await (await send("GET", "/api/projects/stats", { token })).json()) as {
    requests: unknown;
  };
  const resetsAt = (atMs: number) => new Date(atMs).toISOString();
  expect(requests).toEqual({
    minute: { limit: 60, used: 2, remaining: 58, resets_at: resetsAt(nowMs + 60_000) },
    day: { limit: 10_000, used: 2, remaining: 9998, resets_at: resetsAt(NOON_MS + 43_200_000) },
  });
});

test("where limits are off there are no headers, and stats give null", async () => {
  const unlimited = await startLimited(undefined);
  const token = newToken();
  const headers = { Authorization: `Bearer ${token}` };
  for (let asked = 0; asked < 130; asked++) {
    const answer = await fetch(`${unlimited}/v1/projects`, { headers });
    expect([answer.status, answer.headers.get("ratelimit")]).toEqual([200, null]);
  }
  const stats = await fetch(`${unlimited}/api/projects/stats`, { headers });
  const none = { limit: null, remaining: null, used: 131 };
  expect(await stats.json()).toMatchObject({ requests: { minute: none, day: none } });
  expect((await shakeHands(unlimited, token)).headers.get("ratelimit")).toBeNull();
});
