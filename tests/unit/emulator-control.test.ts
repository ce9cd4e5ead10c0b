import { expect, test } from "bun:test";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { VERSION } from "../../shared/version.ts";
import { ask, control, controlled } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { startHost } from "../support/host-server.ts";
import { errorOf } from "../support/http-server.ts";
import { connectLive } from "../support/live-client.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { waitFor } from "../support/wait-for.ts";

const HTML = "text/html; charset=utf-8";
const note = { content: "x", layer: "user" };

async function memoriesOf(emulator: Emulator, token = "mst_dev_pro"): Promise<number> {
  const response = await ask(emulator, "GET /v1/memories", { token });
  return ((await response.json()) as { total: number }).total;
}

test("a quota is used up where limits were off, of that account alone, and off until then", async () => {
  await using emulator = await startEmulator({ limits: "off" });
  const { token } = emulator;
  const statusOf = async (of: string) =>
    (await ask(emulator, "GET /v1/projects", { token: of })).status;
  for (const exhaust of ["minute", "day"] as const) {
    expect(await statusOf(token)).toBe(200);
    await emulator.limits.set({ token, exhaust });
    expect([await statusOf(token), await statusOf("mst_dev_w2")]).toEqual([429, 200]);
    await emulator.reset({ scope: "limits", token });
  }
  const both = await failureOf(() => emulator.limits.set({ token, exhaust: "day", off: true }));
  expect(String(both)).toContain("off can't be with exhaust");
  expect(await statusOf(token)).toBe(200);
});

test("health says what a program needs to know of an emulator, and needs no token", async () => {
  await using emulator = await startEmulator();
  await ask(emulator, "POST /v1/memories", { body: note });
  const response = await control(emulator, "GET health");
  expect(response.headers.get("x-memsync-emulator")).toBe(VERSION);
  expect(await response.json()).toEqual({
    schema: 1,
    status: "ok",
    version: VERSION,
    uptime_ms: expect.any(Number),
    now: expect.any(String),
    frozen: false,
    accounts: 1,
  });
});

test("a reset forgets what one token's account has, and no other's", async () => {
  await using emulator = await startEmulator();
  const [mine, other] = ["mst_dev_w1", "mst_dev_w2"];
  for (const token of [mine, other]) {
    await ask(emulator, "POST /v1/memories", { token, body: note });
    await ask(emulator, "POST /api/projects", { token, body: { id: "proj_a", name: "a" } });
  }
  const live = await connectLive(emulator.url, mine);
  expect(await controlled(emulator, "POST reset", { scope: "data", token: mine })).toEqual({
    cleared: { memories: 1, projects: 1, requests: 0, faults: 0, tokens: 0 },
  });
  expect((await live.closed).code).toBe(1001);
  expect(await memoriesOf(emulator, mine)).toBe(0);
  expect(await memoriesOf(emulator, other)).toBe(1);
  expect((await emulator.reset()).memories).toBe(1);
  expect(await memoriesOf(emulator, other)).toBe(0);
});

test("after a reset no position comes again", async () => {
  await using emulator = await startEmulator({ random: 7 });
  const epochs = new Set<string>();
  for (let round = 0; round < 3; round++) {
    await ask(emulator, "POST /api/projects", { body: { id: "proj_a", claude_md_content: "a\n" } });
    const body = { crdt: { encoding: "yjs-v1", documents: { project: { state_vector: "AA==" } } } };
    const answer = await ask(emulator, "POST /api/projects/proj_a/sync", { body });
    const text = await answer.text();
    const [, epoch = ""] = /"epoch":"([^"]+)"/.exec(text) ?? [];
    expect(epoch).not.toBe("");
    epochs.add(epoch);
    await emulator.reset();
  }
  expect(epochs.size).toBe(3);
});

/** Everything that two runs with a seed and a clock have to agree on, byte for byte. */
async function sessionOf(): Promise<string> {
  await using emulator = await startEmulator({ clock: "2026-01-01T00:00:00Z", random: "seed" });
  const seen: string[] = [];
  const record = async (response: Response) => {
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    seen.push([response.status, ...headers.sort(), await response.text()].join("\n"));
  };
  for (const token of ["mst_dev_pro", emulator.tokens.create().token]) {
    await record(await ask(emulator, "POST /v1/memories", { token, body: note }));
    await record(await ask(emulator, "POST /api/projects", { token, body: { name: "a" } }));
    await emulator.clock.advance("1m");
    await record(await ask(emulator, "GET /api/projects", { token }));
    const body = { crdt: { encoding: "yjs-v1", documents: { user: { state_vector: "AA==" } } } };
    await record(await ask(emulator, "POST /api/sync", { token, body }));
    await record(await ask(emulator, "GET /api/projects/stats", { token }));
    await record(await ask(emulator, "GET /nowhere", { token }));
  }
  return seen.join("\n\n");
}

test("two runs with one seed are equal byte for byte", async () => {
  const first = await sessionOf();
  expect(first).toContain("x-request-id");
  expect(await sessionOf()).toBe(first);
});

test("ids repeat after a reset, or from a seed that comes later", async () => {
  await using emulator = await startEmulator();
  const make = async () => {
    const made = await ask(emulator, "POST /api/projects", { body: { name: "a" } });
    return ((await made.json()) as { id: string }).id;
  };
  expect(await controlled(emulator, "POST random", { seed: 3 })).toEqual({ seed: "3" });
  const first = await make();
  await emulator.reset();
  expect(await make()).toBe(first);
  emulator.random(null);
  await emulator.reset();
  expect(await make()).not.toBe(first);
});

test("limits are another plan's, exhausted, almost, or off, for one account", async () => {
  await using emulator = await startEmulator();
  const policyOf = async (token: string) => {
    const { headers, status } = await ask(emulator, "GET /v1/projects", { token });
    return [status, headers.get("ratelimit-policy"), headers.get("ratelimit")?.slice(0, 12)];
  };
  const token = "mst_dev_a";
  await controlled(emulator, "POST limits", { token, plan: "team" });
  const team = '"minute";q=120;w=60, "day";q=50000;w=86400';
  expect(await policyOf(token)).toEqual([200, team, '"minute";r=1']);
  await controlled(emulator, "POST limits", { token, exhaust: "day", left: 1 });
  expect((await policyOf(token))[0]).toBe(200);
  expect((await policyOf(token))[0]).toBe(429);
  await controlled(emulator, "POST limits", { token, off: true });
  expect(await policyOf(token)).toEqual([200, null, undefined]);
  expect((await policyOf("mst_dev_b"))[1]).toBe('"minute";q=60;w=60, "day";q=10000;w=86400');
  await controlled(emulator, "POST reset", { scope: "limits", token });
  expect((await policyOf(token))[0]).toBe(200);
  expect((await control(emulator, "POST limits", { body: { exhaust: "day" } })).status).toBe(400);
});

test("an emulator without limits can be told to have some", async () => {
  await using emulator = await startEmulator({ limits: "off" });
  expect((await ask(emulator, "GET /v1/projects")).headers.get("ratelimit")).toBeNull();
  await emulator.limits.set({ off: false });
  expect((await ask(emulator, "GET /v1/projects")).headers.get("ratelimit")).not.toBeNull();
});

test("a token is made for any account, plan, scope and project", async () => {
  await using emulator = await startEmulator();
  await ask(emulator, "POST /api/projects", { token: "mst_dev_a", body: { id: "proj_a" } });
  await ask(emulator, "POST /api/projects", { token: "mst_dev_a", body: { id: "proj_b" } });
  const made = await controlled<{ token: string }>(emulator, "POST tokens", {
    account: "a",
    plan: "team",
    scopes: ["read"],
    projects: ["proj_a"],
  });
  expect(made).toEqual({
    token: expect.stringMatching(/^mst_[0-9A-Za-z]{36}$/),
    account: "a",
    plan: "team",
    scopes: ["read"],
    projects: ["proj_a"],
    expires_at: null,
  } as never);
  const { token } = made;
  const list = await ask(emulator, "GET /api/projects", { token });
  expect(list.headers.get("ratelimit-policy")).toContain("q=120");
  expect(((await list.json()) as { total: number }).total).toBe(1);
  expect((await ask(emulator, "POST /v1/memories", { token, body: note })).status).toBe(403);
  expect((await control(emulator, "POST tokens", { body: { account: "a b" } })).status).toBe(400);
});

test("routes are those that are served, and says which are published", async () => {
  await using emulator = await startEmulator();
  const routes = emulator.routes();
  expect(routes).toContainEqual({ method: "GET", path: "/v1/memories", published: true });
  expect(routes).toContainEqual({ method: "POST", path: "/api/sync", published: false });
  expect(routes.filter(({ published }) => published)).toHaveLength(14);
  expect(await controlled(emulator, "GET routes")).toEqual({ routes: [...routes] });
});

test("a field that no call has, a wrong one, and an unknown call are refused", async () => {
  await using emulator = await startEmulator();
  const unknown = await control(emulator, "POST reset", { body: { scopes: "all" } });
  expect(await errorOf(unknown)).toMatchObject({
    code: "invalid_request",
    details: [{ path: "/scopes", message: "is not a field of this call" }],
  });
  const wrong = await control(emulator, "POST reset", { body: { scope: "some" } });
  expect((await errorOf(wrong)).details).toEqual([
    { path: "/scope", message: "must be all, data, limits, faults or requests" },
  ]);
  const nobody = await control(emulator, "POST reset", { body: { token: "mst_none" } });
  expect(nobody.status).toBe(400);
  expect((await control(emulator, "GET nothing")).status).toBe(404);
  expect((await control(emulator, "GET reset")).status).toBe(404);
});

test("the library refuses what it does not know, with its name, and changes nothing", async () => {
  await using emulator = await startEmulator();
  await ask(emulator, "POST /v1/memories", { body: note });
  const { faults, limits, requests, snapshots, tokens, violations } = emulator;
  const wrong: readonly (readonly [string, (value: never) => unknown, unknown])[] = [
    ["/foo", startEmulator, { foo: 1 }],
    ["/plan", startEmulator, { plan: "gold" }],
    ["/limits", startEmulator, { limits: "on " }],
    ["/strict", startEmulator, { strict: "y" }],
    ["/random", startEmulator, { random: {} }],
    ["/port", startEmulator, { port: -1 }],
    ["/tokn", emulator.reset, { tokn: "mst_dev_a" }],
    ["/scope", emulator.reset, { scope: "some" }],
    ["/tken", emulator.export, { tken: "mst_dev_a" }],
    ["/tken", (of) => emulator.import({}, of), { tken: "mst_dev_a" }],
    ["/tken", (of) => emulator.seed({}, of), { tken: "mst_dev_a" }],
    ["/seed", emulator.random, {}],
    ["/acount", tokens.create, { acount: "a" }],
    ["/expires_at", tokens.create, { expires_at: 1 }],
    ["/expiresAt", tokens.create, { expiresAt: {} }],
    ["expiresAt must", tokens.create, { expiresAt: "noon" }],
    ["/faults/0/latencyMs", faults.add, { latencyMs: -1 }],
    ["/pth", requests.list, { pth: "/v1/*" }],
    ["/status", requests.list, { status: 9999 }],
    ["/coun", requests.waitFor, { coun: 1 }],
    ["/since", requests.changes, { since: {} }],
    ["/tken", requests.clear, { tken: "mst_dev_a" }],
    ["/tken", violations.list, { tken: "mst_dev_a" }],
    ["/tken", violations.assertNone, { tken: "mst_dev_a" }],
    ["/foo", faults.add, { status: 500, foo: 1 }],
    ["/retry_after", faults.add, { retry_after: 1 }],
    ["/faults/0 needs", faults.add, { path: "/v1/memories" }],
    ["/tken", faults.clear, { tken: "mst_dev_a" }],
    ["/tken", (of) => faults.set([], of), { tken: "mst_dev_a" }],
    ["/tken", (of) => snapshots.save("s", of), { tken: "mst_dev_a" }],
    ["left", limits.set, { left: 3 }],
    ["/of", limits.set, { of: 3 }],
  ];
  for (const [place, call, value] of wrong) {
    const { message } = (await failureOf(async () => await call(value as never))) as Error;
    expect(message).toStartWith(place);
  }
  expect(await memoriesOf(emulator)).toBe(1);
  expect(faults.list()).toEqual([]);
  const { token } = tokens.create({ expiresAt: new Date(Date.now() + 3_600_000) });
  expect(await memoriesOf(emulator, token)).toBe(0);
});

test("over HTTP each refusal names its field in its message", async () => {
  await using emulator = await startEmulator();
  const wrong: readonly (readonly [string, string, unknown])[] = [
    ["POST reset?token=mst_dev_a", "token is not a parameter of this call", {}],
    ["PUT faults?tokn=mst_dev_a", "tokn is not a parameter of this call", { faults: [] }],
    ["POST limits", "left needs exhaust", { left: 3 }],
    ["GET requests?status=9999", "/status must be from 100 to 599", undefined],
    ["GET requests?pth=x", "pth is not a parameter of this call", undefined],
    ["GET faults?id=x", "id is not a parameter of this call", undefined],
    ["POST faults", "/faults/0 needs an effect", { path: "/v1/memories" }],
    [
      "POST faults",
      "/faults/0/probability must be more than 0, and at most 1",
      { status: 500, probability: 2 },
    ],
    ["POST faults", "/faults/0/latency_ms must be from 0", { latency_ms: -1 }],
    ["POST faults", "/latencyMs is not a field", { latencyMs: 1 }],
    ["POST tokens", "expires_at must be an ISO 8601", { expires_at: "noon" }],
    ["POST clock", "set must be an ISO 8601 timestamp", { set: "noon" }],
    ["POST tokens", "account must be 1 to 64", { account: "a b" }],
    ["POST tokens", "account must not be readonly", { account: "readonly", plan: "team" }],
  ];
  for (const [call, message, body] of wrong) {
    const refused = await control(emulator, call, { body });
    expect(refused.status).toBe(400);
    expect((await errorOf(refused)).message).toStartWith(message);
  }
});

test("a page of another site, a foreign host and a form control nothing", async () => {
  await using emulator = await startEmulator();
  await ask(emulator, "POST /v1/memories", { body: note });
  const body = {};
  const refused = async (headers: Readonly<Record<string, string>>) =>
    (await control(emulator, "POST reset", { body, headers })).status;
  expect(await refused({ origin: "https://example.org" })).toBe(403);
  expect(await refused({ origin: "null" })).toBe(403);
  expect(await refused({ host: "example.org" })).toBe(403);
  expect(await refused({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })).toBe(403);
  expect(await refused({ origin: "http://localhost:3000" })).toBe(403);
  expect(await refused({ "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" })).toBe(403);
  expect(await refused({ "content-type": "text/plain" })).toBe(400);
  expect(await refused({ "content-type": "application/x-www-form-urlencoded" })).toBe(400);
  expect(await memoriesOf(emulator)).toBe(1);
  const own = { origin: emulator.url, "sec-fetch-site": "same-origin" };
  expect(await refused(own)).toBe(200);
  expect(await memoriesOf(emulator)).toBe(0);
});

test("where a token is asked for, nobody controls without it, and health is open", async () => {
  await using emulator = await startEmulator({ host: "0.0.0.0", controlToken: "secret" });
  const { port } = emulator;
  const there = { url: `http://127.0.0.1:${port}` };
  const headers = { host: "emulator:4777" };
  const nobody = await control(there, "POST reset", { body: {}, headers });
  expect([nobody.status, await nobody.text()]).toEqual([
    401,
    expect.stringContaining("the token that the emulator was given (MEMSYNC_EMULATOR_TOKEN"),
  ]);
  expect((await control(there, "POST reset", { body: {}, headers, token: "no" })).status).toBe(401);
  const token = "secret";
  expect((await control(there, "POST reset", { body: {}, headers, token })).status).toBe(200);
  expect((await control(there, "GET health", { headers })).status).toBe(200);
  const page = await control(there, "GET ", { headers });
  expect([page.status, page.headers.get("content-type")]).toEqual([200, HTML]);
  expect((await control(there, "POST ", { headers, body: {} })).status).toBe(401);
  const own = { ...headers, origin: "http://emulator:4777" };
  expect((await control(there, "POST reset", { body: {}, headers: own, token })).status).toBe(200);
  const origin = { ...headers, origin: "https://example.org" };
  expect((await control(there, "POST reset", { body: {}, headers: origin, token })).status).toBe(
    403,
  );
});

test("on this machine alone a foreign host controls nothing, with the token neither", async () => {
  await using emulator = await startEmulator({ controlToken: "secret" });
  const asked = { body: {}, token: "secret" };
  const headers = { host: "example.org" };
  expect((await control(emulator, "POST reset", { ...asked, headers })).status).toBe(403);
  expect((await control(emulator, "POST reset", asked)).status).toBe(200);
});

test("who guesses the control token has ten guesses, and who repeats a wrong one is told so", async () => {
  await using emulator = await startEmulator({ controlToken: "secret" });
  const tried = (token: string) => control(emulator, "POST reset", { body: {}, token });
  for (let at = 0; at < 20; at++) expect((await tried("wrong")).status).toBe(401);
  for (let at = 1; at < 10; at++) expect((await tried(`guess-${at}`)).status).toBe(401);
  const refused = await tried("secret");
  expect([refused.status, await tried("more").then(({ status }) => status)]).toEqual([429, 429]);
  expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
  expect((await tried("wrong")).status).toBe(401);
});

test("names that are allowed control, as their pages do; no others", async () => {
  await using emulator = await startEmulator({ allowedHosts: ["emulator.test"] });
  const statusFor = async (headers: Readonly<Record<string, string>>) =>
    (await control(emulator, "POST reset", { body: {}, headers })).status;
  expect(await statusFor({ host: "emulator.test:80", origin: "https://emulator.test" })).toBe(200);
  expect(await statusFor({ host: "emulator.test:81", origin: "http://emulator.test:81" })).toBe(
    200,
  );
  for (const host of ["emulator.test:80", "127.0.0.1:80"]) {
    expect(await statusFor({ host, origin: "http://emulator.test:81" })).toBe(403);
  }
  expect(await statusFor({ host: "other.test", origin: "http://other.test" })).toBe(403);
  expect(await statusFor({ host: "emulator.test", origin: "http://other.test" })).toBe(403);
});

test("the live page runs its own script alone, and holds nothing of the emulator", async () => {
  await using emulator = await startEmulator();
  await ask(emulator, "POST /v1/memories", { body: { ...note, content: "only-here" } });
  for (const path of ["/_emulator", "/_emulator/"]) {
    const page = await ask(emulator, `GET ${path}`, { token: "" });
    const text = await page.text();
    const [, script = ""] = /<script type="module">([\s\S]*)<\/script>/.exec(text) ?? [];
    const digest = new Bun.CryptoHasher("sha256").update(script).digest("base64");
    const policy = page.headers.get("content-security-policy");
    expect(policy).toContain(`script-src 'sha256-${digest}'`);
    expect(policy).toContain("default-src 'none'");
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    expect(text).not.toContain("only-here");
    expect(text).not.toMatch(/\son[a-z]+=/);
  }
  expect((await control(emulator, "GET ", { headers: { host: "example.org" } })).status).toBe(403);
});

test("who looks on changes no id of what is looked at", async () => {
  const idAfter = async (looks: number) => {
    await using emulator = await startEmulator({ random: 1 });
    for (let at = 0; at < looks; at++) await controlled(emulator, "GET clock");
    return (await ask(emulator, "GET /v1/projects")).headers.get("x-request-id");
  };
  expect(await idAfter(3)).toBe(await idAfter(0));
});

test("a hosted server has no control calls", async () => {
  await using host = await startHost();
  await host.admin.createAccount("acme", "pro");
  const { token } = await host.token({ account: "acme" });
  for (const path of ["/_emulator/health", "/_emulator/reset", "/_emulator/"]) {
    expect((await host.send(`Bearer ${token}`, "GET", path)).status).toBe(404);
    expect((await host.send(`Bearer ${token}`, "POST", path, {})).status).toBe(404);
  }
});

test("the control calls stay where only the specification is served", async () => {
  await using emulator = await startEmulator({ publishedOnly: true });
  expect(await controlled(emulator, "POST reset", {})).toHaveProperty("cleared");
  const { published, ...rest } = emulator.routes()[0] ?? {};
  expect({ published, ...rest }).toMatchObject({ published: true });
});

test("many emulators live in one process, each for itself, and closing again is nothing", async () => {
  const emulators = await Promise.all([1, 2, 3].map(() => startEmulator()));
  const [first, second] = emulators;
  if (!first || !second) throw new Error("three were started");
  await ask(first, "POST /v1/memories", { body: note });
  await first.clock.freeze("2020-01-01T00:00:00Z");
  expect(await memoriesOf(second)).toBe(0);
  expect(second.clock.read().frozen).toBe(false);
  expect(first.env).toEqual({ MEMSYNC_URL: first.url, MEMSYNC_TOKEN: first.token });
  // Half a request, whose rest never comes, ends with it: test runners give that five seconds.
  using half = await connectRaw(first.port);
  const whose = `Host: localhost\r\nAuthorization: Bearer ${first.token}`;
  half.write(`POST /v1/memories HTTP/1.1\r\n${whose}\r\nContent-Length: 9\r\n\r\n{`);
  await waitFor("it", async () => (await first.requests.list()).requests[1]);
  const since = performance.now();
  for (const emulator of emulators) await emulator.close();
  await first.close();
  expect(performance.now() - since).toBeLessThan(4500);
});
