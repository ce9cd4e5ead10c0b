import { expect, test } from "bun:test";
import { control, controlled } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
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

test("a page of another site controls nothing", async () => {
  const account = newAccount();
  const call = { body: { token: account.token }, headers: { origin: "https://example.org" } };
  expect((await control(account, "POST reset", call)).status).toBe(403);
});
