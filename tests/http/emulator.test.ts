import { expect, test } from "bun:test";
import { ask, control, controlled } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { connectLive } from "../support/live-client.ts";
import { newAccount } from "../support/service.ts";

const note = { content: "x", layer: "user" };

test("one account misbehaves and forgets while others go on", async () => {
  const [mine, other] = [newAccount(), newAccount()];
  for (const each of [mine, other]) await each.post("/v1/memories", note);
  await controlled(mine, "POST faults", { token: mine.token, status: 503, retry_after: 2 });
  expect((await other.get("/v1/memories")).status).toBe(200);
  const refused = await mine.get("/v1/memories");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  await controlled(mine, "POST reset", { token: mine.token });
  expect((await mine.get<{ total: number }>("/v1/memories")).body.total).toBe(0);
  expect((await other.get<{ total: number }>("/v1/memories")).body.total).toBe(1);
});

test("a connection is cut before a commit, after it, and within an answer", async () => {
  const account = newAccount();
  const { token } = account;
  const total = async () => (await account.get<{ total: number }>("/v1/memories")).body.total;
  const method = "POST";
  await controlled(account, "POST faults", { token, method, disconnect: "before" });
  expect(await failureOf(() => account.post("/v1/memories", note))).toBeInstanceOf(Error);
  expect(await total()).toBe(0);
  await controlled(account, "POST faults", { token, method, disconnect: "after" });
  expect(await failureOf(() => account.post("/v1/memories", note))).toBeInstanceOf(Error);
  expect(await total()).toBe(1);
  await controlled(account, "POST faults", { token, method, truncate: 5 });
  expect(await failureOf(() => account.post("/v1/memories", note))).toBeInstanceOf(Error);
  expect(await total()).toBe(2);
});

const CUT_SOCKETS: readonly (readonly [object, unknown])[] = [
  [{ disconnect: "after" }, undefined],
  [{ truncate: 9 }, '{"type":"'],
  [{ malformed: true }, '{"type":"changed","project_id":"proj_'],
];

for (const [effect, first] of CUT_SOCKETS) {
  test(`a live socket is opened and cut without a closing frame by ${JSON.stringify(effect)}`, async () => {
    const account = newAccount();
    const { token, url } = account;
    await controlled(account, "POST faults", { id: token, token, path: "/api/live", ...effect });
    const live = await connectLive(url, token);
    live.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
    if (first !== undefined) expect(await live.next()).toBe(first);
    expect(await failureOf(() => live.next())).toBeInstanceOf(Error);
    expect((await live.closed).code).toBe(1006);
    const path = `GET requests?token=${token}&wait_ms=60000&close_code=1006`;
    const { requests } = await controlled<{ requests: object[] }>(account, path);
    expect(requests[0]).toMatchObject({ status: 101, injected: token, closed: { by: "server" } });
    using next = await connectLive(url, token);
    next.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
    expect(await next.next()).toMatchObject({ type: "subscribed" });
  });
}

test("a live handshake is never answered by silence, and the service has not seen it", async () => {
  const account = newAccount();
  const { token, url } = account;
  await controlled(account, "POST faults", { token, path: "/api/live", silent: true });
  const options = { headers: { authorization: `Bearer ${token}` } };
  const left = new WebSocket(`${url.replace("http", "ws")}/api/live`, options);
  const ended = new Promise((resolve) => {
    left.onclose = resolve;
  });
  const path = `GET requests?token=${token}&wait_ms=60000&path=/api/live`;
  const { requests } = await controlled<{ requests: object[] }>(account, path);
  expect(requests[0]).toHaveProperty("injected");
  expect(requests[0]).not.toHaveProperty("status");
  left.close();
  await ended;
});

test("a tag of before a reset is not known after it, and a new one is", async () => {
  const account = newAccount();
  const { token } = account;
  const get = (tag = "none") =>
    ask(account, "GET /v1/memories", { token, headers: { "if-none-match": `"x", ${tag}` } });
  const before = (await get()).headers.get("etag") ?? "";
  expect((await get(before)).status).toBe(304);
  await controlled(account, "POST reset", { token });
  const answered = await get(before);
  expect(answered.status).toBe(200);
  const after = answered.headers.get("etag") ?? "";
  expect((await get(after)).status).toBe(304);
  expect((await get(after)).headers.get("etag")).toBe(after);
});

test("a made token is nowhere in what is told of the requests that carried it", async () => {
  const account = newAccount();
  const name = account.token.replace("mst_dev_", "");
  const { token } = await controlled<{ token: string }>(account, "POST tokens", { account: name });
  const escaped = token.replace("mst_", "%6dst%5F");
  const [plain, shifted] = [token, `u:${token}`].map((each) => btoa(each).replaceAll("=", ""));
  const headers = { "x-auth": `Basic ${plain}`, "x-more": `Basic ${shifted}` };
  const path = `/v1/memories/${token}/${escaped}?token=${escaped}&${plain}`;
  await ask(account, `GET ${path}`, { token, headers });
  const query = `token=${account.token}`;
  for (const call of [`GET requests?${query}`, `GET violations?${query}`]) {
    const told = JSON.stringify(await controlled(account, call));
    expect(told).toContain("/v1/memories/mst_…");
    for (const secret of [token.slice(4), plain?.slice(6), shifted?.slice(8)]) {
      expect(told).not.toContain(secret);
    }
  }
});

test("a page of another site controls nothing", async () => {
  const account = newAccount();
  const call = { body: { token: account.token }, headers: { origin: "https://example.org" } };
  expect((await control(account, "POST reset", call)).status).toBe(403);
});

test("a live socket is in the journal with what it carried and how it ended", async () => {
  const account = newAccount();
  const { token, url } = account;
  const live = await connectLive(url, token);
  live.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
  const seen = async (query: string) => {
    const path = `GET requests?token=${token}&wait_ms=60000&${query}`;
    const { requests } = await controlled<{ requests: object[] }>(account, path);
    return requests[0];
  };
  const frames = ["subscribe", "subscribed"].map((type) =>
    expect.objectContaining({ body: expect.objectContaining({ type }) }),
  );
  expect(await seen("frame=subscribed")).toMatchObject({ status: 101, frames });
  live.send("nonsense");
  expect(await seen("close_code=1008")).toMatchObject({ closed: { code: 1008, by: "server" } });
  const options = { headers: { authorization: `Bearer ${token}` } };
  const left = new WebSocket(`${url.replace("http", "ws")}/api/live`, options);
  left.onopen = () => left.close(4000, "enough");
  expect(await seen("close_code=4000")).toMatchObject({ closed: { by: "client" } });
});

test("the live page is there, with its own script alone", async () => {
  const { url } = newAccount();
  const page = await fetch(`${url}/_emulator/`);
  expect([page.status, page.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  expect(page.headers.get("content-security-policy")).toContain("script-src 'sha256-");
  expect(await page.text()).toContain('<script type="module">');
});
