import { afterEach, beforeEach, expect, test } from "bun:test";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { putSession, refusedSessions, unsentSessions } from "../../daemon/home/session-records.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { failureBy } from "../../daemon/service/failure.ts";
import type { RoundOptions } from "../../daemon/service/round-options.ts";
import type { Service } from "../../daemon/service/service.ts";
import { exchangeWithSessions } from "../../daemon/sync/session-sending.ts";
import { parseSessionId } from "../../shared/ids.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { ExchangeRequest } from "../../shared/wire/exchange.ts";
import { sessionUploadOf } from "../../shared/wire/session.ts";
import { projectId } from "../support/project-id.ts";
import { createTestWorld } from "../support/test-world.ts";

type Answer = Awaited<ReturnType<Service["exchange"]>>;

const SHOP = projectId("shop");
const SERVED: Answer = {
  kind: "answered",
  value: { documents: { project: { epoch: "e", seq: 1 } } },
};
const RESET: Answer = {
  kind: "answered",
  value: { documents: { project: { epoch: "e", seq: 1, reset: true } } },
};
const PLAIN: Answer = { kind: "answered", value: "plain" };
const REFUSED: Answer = {
  kind: "refused",
  status: 400,
  ...failureBy({ code: "call-answered", status: 400, said: "sessions: not known" }),
};
const BUSY: Answer = {
  kind: "busy",
  ...failureBy({ code: "requests-refused" }),
  retryAfterMs: undefined,
};

let store: ReplicaStore<DaemonTables>;
let calls: ExchangeRequest[];

beforeEach(async () => {
  store = await openReplica(":memory:", createTestWorld());
  calls = [];
  await record("one", "2026-01-01T10:00:00.000Z");
});
afterEach(() => store.close());

async function record(id: string, at: string): Promise<void> {
  const known = parseSessionId(`sess_${id}`);
  if (known === undefined) throw new Error(id);
  const body = {
    id: known,
    source: "codex",
    started_at: at,
    last_activity_at: at,
    message_count: 2,
  };
  const session = { ...sessionUploadOf(body), project_id: SHOP };
  await store.write(({ db }) => putSession(db, LOCAL_ACCOUNT, session));
}

/** A call about the project to a service that answers so, one answer for each call. */
async function call(answers: readonly Answer[], options: Partial<RoundOptions> = {}) {
  const left = [...answers];
  return await callTo(() => left.shift() ?? BUSY, options);
}

/** The same, to one that answers by what it is asked. */
async function callTo(
  answer: (request: ExchangeRequest) => Answer,
  options: Partial<RoundOptions> = {},
) {
  const service: Pick<Service, "name" | "exchange"> = {
    name: "service",
    async exchange(_, request) {
      calls.push(request);
      return answer(request);
    },
  };
  const projects = () => new Map();
  const all = { store, service, account: LOCAL_ACCOUNT, user: LOCAL_USER, projects, ...options };
  return await exchangeWithSessions(all as RoundOptions, SHOP, {});
}

const sentIds = () => calls.map(({ sessions = [] }) => sessions.map(({ id }) => `${id}`));
const unsentIds = async () =>
  (await unsentSessions(store.reader, LOCAL_ACCOUNT, SHOP)).map(({ upload }) => `${upload.id}`);

test("a record is sent once, and again when it has changed", async () => {
  expect(await call([SERVED])).toEqual(SERVED);
  await call([SERVED]);
  await record("one", "2026-01-01T11:00:00.000Z");
  await call([SERVED]);
  expect(sentIds()).toEqual([["sess_one"], [], ["sess_one"]]);
  expect(await unsentIds()).toEqual([]);
});

test("a record that a call did not bring stays to be sent", async () => {
  await call([BUSY]);
  await call([PLAIN]);
  expect(await unsentIds()).toEqual(["sess_one"]);
});

test("a service that refuses records gets the documents without them, and is not asked again", async () => {
  expect(await call([REFUSED, SERVED])).toEqual(SERVED);
  await call([SERVED]);
  expect(sentIds()).toEqual([["sess_one"], [], []]);
});

test("a service that was set back gets all records again", async () => {
  await record("two", "2026-01-02T10:00:00.000Z");
  await call([SERVED]);
  await call([RESET]);
  expect(await unsentIds()).toEqual(["sess_two", "sess_one"]);
});

test("nothing is sent while sessions are off", async () => {
  await call([SERVED], { sendsSessions: () => false });
  expect(sentIds()).toEqual([[]]);
  expect(await unsentIds()).toEqual(["sess_one"]);
});

/** A service that refuses every call with one of these records, and takes all others. */
function refusing(bad: readonly string[]) {
  return (request: ExchangeRequest): Answer =>
    request.sessions?.some(({ id }) => bad.includes(id)) === true ? REFUSED : SERVED;
}

const refusedIds = async () =>
  (await refusedSessions(store.reader, { account: LOCAL_ACCOUNT, project: SHOP })).map(
    ({ id }) => `${id}`,
  );

test("one record that the service refuses keeps no other from it, and is named", async () => {
  for (let at = 10; at < 40; at += 1) await record(`n${at}`, `2026-01-02T10:00:${at}.000Z`);
  expect(await callTo(refusing(["sess_n20"]))).toEqual(SERVED);
  expect(await unsentIds()).toEqual([]);
  expect(await refusedIds()).toEqual(["sess_n20"]);
  const taken = calls.filter((each) => refusing(["sess_n20"])(each) === SERVED);
  expect(new Set(taken.flatMap(({ sessions = [] }) => sessions.map(({ id }) => id))).size).toBe(30);
  const before = calls.length;
  await callTo(refusing([]));
  expect(calls.slice(before).flatMap(({ sessions = [] }) => sessions)).toEqual([]);
});

test("one that was refused is sent again once it has changed", async () => {
  await callTo(refusing(["sess_one"]));
  expect(await refusedIds()).toEqual(["sess_one"]);
  await record("one", "2026-01-01T11:00:00.000Z");
  expect(await unsentIds()).toEqual(["sess_one"]);
  await callTo(refusing([]));
  expect(await refusedIds()).toEqual([]);
});

test("what a round has no calls left for goes by the next ones", async () => {
  const bad: string[] = [];
  for (let at = 100; at < 200; at += 1) {
    await record(`n${at}`, `2026-01-02T10:00:00.${at}Z`);
    if (at % 25 === 0) bad.push(`sess_n${at}`);
  }
  await callTo(refusing(bad));
  expect(calls.length).toBeLessThanOrEqual(28);
  const left = await unsentIds();
  expect(left.length).toBeGreaterThan(0);
  for (let round = 0; round < 4; round += 1) await callTo(refusing(bad));
  expect(await unsentIds()).toEqual([]);
  expect((await refusedIds()).sort()).toEqual(bad.sort());
});

test("a service that takes no record at all is not asked about each", async () => {
  for (let at = 100; at < 200; at += 1) await record(`n${at}`, `2026-01-02T10:00:00.${at}Z`);
  const none = (request: ExchangeRequest) => (request.sessions ? REFUSED : SERVED);
  await callTo(none);
  expect(calls.length).toBeLessThanOrEqual(28);
  expect(await unsentIds()).toEqual([]);
  expect(await refusedIds()).toHaveLength(101);
});

test("where the documents are at fault, no record is", async () => {
  await callTo(() => REFUSED);
  expect(await unsentIds()).toEqual(["sess_one"]);
  expect(await refusedIds()).toEqual([]);
});
