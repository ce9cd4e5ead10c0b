import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isShared, seenBy } from "../../cli/views/seen-by.ts";
import { findAudience, keepAgreed, keepHeard } from "../../daemon/home/audience-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { Audiences } from "../../daemon/remotes/audiences.ts";
import { guardToken } from "../../daemon/remotes/guard-token.ts";
import { hearAccount, parseAccount } from "../../daemon/remotes/hear-audience.ts";
import type { OpenRemote } from "../../daemon/remotes/open-remotes.ts";
import { addRemote, removeRemote } from "../../daemon/remotes/remote-book.ts";
import { unavailableService } from "../../daemon/remotes/unavailable-service.ts";
import { failureBy } from "../../daemon/service/failure.ts";
import type { Outcome, Service } from "../../daemon/service/service.ts";
import { silentLog } from "../../shared/log.ts";
import { globalDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { Account } from "../../shared/wire/account.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { waitFor } from "../support/wait-for.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-audience-"));
const stores: ReplicaStore<DaemonTables>[] = [];
afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

const TEAM = { name: "acme", plan: "team", users: 3, user: "ann" } as const;
const UNTOLD = { name: null, plan: null, users: null, user: null };
const UNREACHABLE = {
  kind: "unreachable",
  ...failureBy({ code: "connection-refused" }),
} as const;
const answered = (status: number) => failureBy({ code: "call-answered", status, said: "no" });

/** A home with one remote. */
async function home() {
  const store = await openTestReplica(join(folder, `home-${stores.length}.db`), realWorld);
  stores.push(store);
  const book = { world: realWorld, environment: { url: undefined, token: undefined } };
  const remote = await store.write((context) =>
    addRemote(context, book, { name: "a", url: "https://a.example" }),
  );
  return { store, remote };
}

test.each([
  [TEAM, TEAM],
  [
    { name: "acme", users: 1 },
    { name: "acme", plan: null, users: 1, user: null },
  ],
  [{ name: "", plan: "gold", users: 0 }, UNTOLD],
  [
    { ...TEAM, token_expires_at: "2026-02-03T04:05:06Z" },
    { ...TEAM, token_expires_at: "2026-02-03T04:05:06.000Z" },
  ],
  [{ ...TEAM, token_expires_at: "soon" }, TEAM],
  [{ ...TEAM, token_expires_at: 5 }, TEAM],
  [{ name: "x".repeat(201), users: 1.5 }, UNTOLD],
  [{ name: 5, users: "3" }, UNTOLD],
  [
    { name: "acme\u001b[2J", users: 3 },
    { ...UNTOLD, users: 3 },
  ],
  [[], UNTOLD],
  ["acme", UNTOLD],
  [null, UNTOLD],
])("of an answer %j so much is believed: %j", (answer, believed) => {
  expect(parseAccount(answer)).toEqual(believed);
});

function answering(...outcomes: Outcome<unknown>[]) {
  const asked: string[] = [];
  const service: Service = {
    ...unavailableService("https://a.example", failureBy({ code: "no-token", remote: "a" })),
    isBlocked: false,
    forward: async (method, path) => {
      asked.push(`${method} ${path}`);
      return outcomes.length > 1 ? (outcomes.shift() as Outcome<unknown>) : (outcomes[0] as never);
    },
  };
  return { service, asked };
}

test.each([
  ["an answer", { kind: "answered", value: TEAM }, TEAM],
  ["no such route", { kind: "refused", status: 404, ...answered(404) }, UNTOLD],
  ["a token that is no good", { kind: "refused", status: 401, ...answered(401) }, undefined],
  ["too many requests", { kind: "busy", ...answered(429), retryAfterMs: 1 }, undefined],
  ["nobody there", UNREACHABLE, undefined],
] as const)("%s is heard as what it is", async (_, outcome, heard) => {
  expect(await hearAccount(answering(outcome).service)).toEqual(heard);
});

test("who has agreed has agreed for one account, whose users may change", async () => {
  const { store, remote } = await home();
  const known = () => findAudience(store.reader, remote);
  const keep = (heard: Parameters<typeof keepHeard>[2]["heard"], now: number) =>
    store.write(({ db }) => keepHeard(db, remote, { heard, now }));
  expect(await known()).toEqual({ ...UNTOLD, heardAt: undefined, agreed: false, tokens: [] });
  await store.write(({ db }) => keepAgreed(db, remote, 1));
  expect(await known()).toMatchObject({ ...UNTOLD, heardAt: undefined, agreed: true });
  await keep(TEAM, 5);
  expect(await known()).toMatchObject({ ...TEAM, heardAt: 5, agreed: true });
  await keep({ ...TEAM, users: 4 }, 6);
  expect(await known()).toMatchObject({ users: 4, agreed: true });
  // What is in the layer user is the first one's.
  await keep({ ...TEAM, user: "bob" }, 6);
  expect(await known()).toMatchObject({ user: "ann", agreed: true });
  await keep({ ...TEAM, name: "another", user: "bob" }, 7);
  expect(await known()).toMatchObject({ name: "another", user: "bob", agreed: false });
  await keep({ ...TEAM, name: "another", user: null }, 7);
  expect(await known()).toMatchObject({ name: "another", user: "bob" });
  const elsewhere = { ...remote, url: "https://b.example" };
  expect(await findAudience(store.reader, elsewhere)).toMatchObject({ ...UNTOLD, agreed: false });
  await store.write((context) => removeRemote(context, "a"));
  expect(await store.reader.selectFrom("audiences").selectAll().execute()).toEqual([]);
});

test("which tokens are of a remote's user stays known, as long as they are that one's", async () => {
  const { store, remote } = await home();
  const kept = async (heard: Partial<Account>, token: string) => {
    const told = { heard: { ...TEAM, ...heard }, now: 5, token };
    await store.write(({ db }) => keepHeard(db, remote, told));
    return (await findAudience(store.reader, remote)).tokens.join(" ");
  };
  expect(await kept({}, "one")).toBe("one");
  expect(await kept({}, "two")).toBe("two one");
  expect(await kept({}, "one")).toBe("one two");
  expect(await kept({ user: "bob" }, "bobs")).toBe("one two");
  // A proxy's answer, or a former release's, names no user, and says of no token whose it is.
  expect(await kept({ user: null }, "unnamed")).toBe("one two");
  expect(await kept({}, "two")).toBe("two one");
  expect(await kept({ user: "bob" }, "one")).toBe("two");
  for (let at = 0; at < 20; at++) await kept({}, `t${at}`);
  expect((await kept({}, "last")).split(" ")).toHaveLength(16);
  expect(await kept({ name: "another", user: "bob" }, "bobs")).toBe("bobs");
});

test("when a token expires is kept with the token of which it was told", async () => {
  const { store, remote } = await home();
  const ENDS = { token_expires_at: "2026-02-03T04:05:06.000Z" };
  const kept = async (heard: Parameters<typeof keepHeard>[2]["heard"], token?: string) => {
    await store.write(({ db }) => keepHeard(db, remote, { heard, now: 5, token }));
    const { tokens, token_expires_at: end } = await findAudience(store.reader, remote);
    return [tokens[0], end];
  };
  expect(await kept(TEAM, "one")).toEqual(["one", undefined]);
  expect(await kept({ ...TEAM, ...ENDS }, "two")).toEqual(["two", ENDS.token_expires_at]);
  // Another user's, of which nothing is kept.
  expect(await kept({ ...TEAM, user: "bob" }, "bobs")).toEqual(["two", ENDS.token_expires_at]);
  expect(await kept(TEAM, "three")).toEqual(["three", undefined]);
});

test.each([
  [null, "you alone", false],
  [{ account: "acme", users: 3 }, "everybody in acme (3 users)", true],
  [{ account: "acme", users: 1 }, "everybody in acme (1 user)", false],
  [{ account: "acme", users: null }, "everybody in acme", true],
  [
    { account: "acme", users: 3, heard_at: "2026-01-02T12:00:00.000Z" },
    "everybody in acme (3 users as of 2026-01-02)",
    true,
  ],
  [{ account: null, users: null }, "everybody in this account", true],
])("an audience %j is %s", (known, words, shared) => {
  const audience = known && { service: "s", heard_at: null, agreed: false, ...known };
  expect([seenBy(audience), isShared(audience)]).toEqual([words, shared]);
});

async function asking(...outcomes: Outcome<unknown>[]) {
  const { store, remote } = await home();
  const world = createDrivenWorld();
  const audiences = new Audiences({ store, world, log: silentLog });
  const { service, asked } = answering(...outcomes);
  const open = { remote, service, isDefault: true } as OpenRemote;
  return { store, remote, world, audiences, open, asked };
}

test("each write is told of a user who came a moment ago, agreed or not", async () => {
  const { store, remote, world, audiences, open, asked } = await asking(
    ...[1, 2, 3].map((users) => ({ kind: "answered", value: { ...TEAM, users } }) as const),
  );
  await audiences.before(open);
  expect(await findAudience(store.reader, remote)).toMatchObject({ users: 1 });
  await audiences.before(open);
  expect(await findAudience(store.reader, remote)).toMatchObject({ users: 2 });
  await store.write(({ db }) => keepAgreed(db, remote, 1));
  await audiences.before(open);
  expect(asked).toHaveLength(2);
  world.advance(1000);
  await audiences.before(open);
  expect(await findAudience(store.reader, remote)).toMatchObject({ users: 3 });
  expect(asked).toHaveLength(3);
});

test("writes at once ask one question, and where requests are scarce, once a minute", async () => {
  const { world, audiences, open, asked } = await asking({ kind: "answered", value: TEAM });
  await Promise.all([audiences.before(open), audiences.before(open)]);
  expect(asked).toEqual(["GET /api/account"]);
  const budget = { notBefore: () => 1 } as unknown as Service["budget"];
  const scarce = { ...open, service: Object.assign(open.service, { budget }) };
  await audiences.before(scarce);
  expect(asked).toHaveLength(1);
  world.advance(60_000);
  await audiences.before(scarce);
  expect(asked).toHaveLength(2);
});

test("what was heard last counts while the service is away, which is not asked each time", async () => {
  const { store, remote, world, audiences, open, asked } = await asking(
    { kind: "answered", value: TEAM },
    UNREACHABLE,
  );
  await audiences.before(open);
  world.advance(10 * 60_000);
  for (let times = 0; times < 3; times++) await audiences.before(open);
  expect(asked).toHaveLength(2);
  expect(await findAudience(store.reader, remote)).toMatchObject(TEAM);
  world.advance(30_000);
  await audiences.before(open);
  expect(asked).toHaveLength(3);
  // A call that is answered shows that it is there again, to whoever writes next.
  await store.write(async (context) => {
    const { document } = await context.open(globalDocument(remote.account));
    document.setEntry("memories", "key", { value: "value", now: 1 });
  });
  for (let times = 0; times < 3; times++) {
    audiences.contacted(open);
    await audiences.settled();
  }
  expect(asked).toHaveLength(3);
  await audiences.before(open);
  expect(asked).toHaveLength(4);
});

test("a service that does not answer keeps a write for two seconds", async () => {
  const { world, audiences, open, asked } = await asking();
  const never = new Promise<never>(() => {});
  const silent = { ...open, service: { ...open.service, forward: () => never } };
  const waiting = audiences.before(silent);
  await waitFor("a deadline", async () => world.timers > 0);
  expect([world.timers, world.nextTimerInMs()]).toEqual([1, 2000]);
  world.advance(2000);
  await waiting;
  expect(asked).toEqual([]);
});

test("with a contact only that one is asked whose global has something, and once a day", async () => {
  const { store, remote, world, audiences, open, asked } = await asking({
    kind: "answered",
    value: TEAM,
  });
  audiences.contacted(open);
  await audiences.settled();
  expect(asked).toEqual([]);
  await store.write(async (context) => {
    const { document } = await context.open(globalDocument(remote.account));
    document.setEntry("memories", "key", { value: "value", now: 1 });
  });
  for (let times = 0; times < 3; times++) {
    audiences.contacted(open);
    await audiences.settled();
  }
  expect(asked).toHaveLength(1);
  world.advance(24 * 60 * 60_000);
  audiences.contacted(open);
  await audiences.settled();
  expect(asked).toHaveLength(2);
  const embedded = { ...open, remote: { ...remote, url: undefined } };
  audiences.contacted(embedded);
  await audiences.before(embedded);
  expect(asked).toHaveLength(2);
});

test("what a service tells on its socket counts at once, and is current until it ends", async () => {
  const { store, remote, audiences, open, asked } = await asking({ kind: "answered", value: TEAM });
  const service = { ...open.service, tokenDigest: "t1" };
  const withSocket = (socket: "live" | "absent") =>
    ({ ...open, service, engine: { contact: { socket } } }) as unknown as OpenRemote;
  expect(audiences.isCurrent(withSocket("live"))).toBe(false);
  audiences.told({ ...open, service }, { ...TEAM, users: 4 });
  await audiences.settled();
  expect(audiences.isCurrent(withSocket("live"))).toBe(true);
  expect(audiences.isCurrent(withSocket("absent"))).toBe(false);
  expect(await findAudience(store.reader, remote)).toMatchObject({ users: 4, tokens: ["t1"] });
  expect(asked).toEqual([]);
  // The digest of a token of somebody else's is not noted.
  audiences.told({ ...open, service: { ...service, tokenDigest: "t2" } }, { ...TEAM, user: "bob" });
  await audiences.settled();
  expect(await findAudience(store.reader, remote)).toMatchObject({ user: "ann", tokens: ["t1"] });
});

test("a service without such a socket is asked after a minute whose the token is", async () => {
  const { store, remote, world, audiences, open, asked } = await asking({
    kind: "answered",
    value: TEAM,
  });
  const one = { ...open, service: { ...open.service, tokenDigest: "t1" } };
  const contact = async () => {
    audiences.contacted(one);
    await audiences.settled();
  };
  await contact();
  expect(asked).toEqual([]);
  world.advance(60_000);
  await contact();
  await contact();
  expect(asked).toHaveLength(1);
  expect(await findAudience(store.reader, remote)).toMatchObject({ user: "ann", tokens: ["t1"] });
});

test("a given token is asked about only where another one's user is known", async () => {
  const { store, remote, open, asked } = await asking({ kind: "answered", value: TEAM });
  const given = { ...open.service, tokenDigest: "t1" };
  expect(await guardToken(given, remote, store)).toBe(given);
  const keep = (heard: Parameters<typeof keepHeard>[2]["heard"], token: string) =>
    store.write(({ db }) => keepHeard(db, remote, { heard, now: 1, token }));
  await keep(TEAM, "t1");
  expect(await guardToken(given, remote, store)).toBe(given);
  const next = await guardToken({ ...given, tokenDigest: "t2" }, remote, store);
  await Promise.all([next.forward("GET", "/a"), next.forward("GET", "/b")]);
  expect(asked).toEqual(["GET /api/account", "GET /a", "GET /b"]);
  expect(await findAudience(store.reader, remote)).toMatchObject({ tokens: ["t2", "t1"] });
  expect(await guardToken(given, remote, store)).toBe(given);
});

test("while nobody can say whose a given token is, nothing else is asked, and no socket opened", async () => {
  const { store, remote, open, asked } = await asking(UNREACHABLE, UNREACHABLE, {
    kind: "answered",
    value: { ...TEAM, user: "bob" },
  });
  await store.write(({ db }) => keepHeard(db, remote, { heard: TEAM, now: 1, token: "t1" }));
  const openLive = () => {
    throw new Error("a socket was opened");
  };
  const given = { ...open.service, tokenDigest: "t2", openLive };
  const service = await guardToken(given, remote, store);
  expect(await service.exchange(null, { documents: {} })).toEqual(UNREACHABLE);
  const closed: string[] = [];
  const handlers = {
    opened() {},
    frame() {},
    silent() {},
    closed: (why: string) => closed.push(why),
  };
  service.openLive?.(handlers);
  await waitFor("the socket's end", async () => closed.length === 1);
  expect([closed, service.isBlocked]).toEqual([[UNREACHABLE.message], false]);
  const refusal = expect.stringMatching(/^MEMSYNC_TOKEN is bob's, .* are ann's: /);
  const why = { code: "token-of-another", message: refusal } as const;
  const refused = { kind: "unreachable", ...why } as const;
  expect(await service.forward("POST", "/v1/memories")).toEqual(refused);
  expect(await service.exchange(null, { documents: {} })).toEqual(refused);
  expect([service.isBlocked, service.blockedBy]).toEqual([true, why]);
  expect(asked).toEqual(Array(3).fill("GET /api/account"));
});
