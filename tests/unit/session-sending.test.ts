import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { allowPersonalLines } from "../../daemon/held/personal-lines.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { keepPersonalVersion } from "../../daemon/home/personal-versions.ts";
import {
  forgetKeptSessions,
  putSession,
  refusedSessions,
  unsentSessions,
} from "../../daemon/home/session-records.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { failureBy } from "../../daemon/service/failure.ts";
import type { RoundOptions } from "../../daemon/service/round-options.ts";
import type { Service } from "../../daemon/service/service.ts";
import { exchangeWithSessions } from "../../daemon/sync/session-sending.ts";
import { parseSessionId } from "../../shared/ids.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { ExchangeRequest } from "../../shared/wire/exchange.ts";
import { type SessionUpload, sessionUploadOf } from "../../shared/wire/session.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";
import { createTestWorld } from "../support/test-world.ts";

type Answer = Awaited<ReturnType<Service["exchange"]>>;

const SHOP = projectId("shop");
const SERVED: Answer = {
  kind: "answered",
  value: { documents: { project: { epoch: "e", seq: 1 } } },
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

async function record(id: string, at: string, says: Partial<SessionUpload> = {}): Promise<void> {
  const known = parseSessionId(`sess_${id}`);
  if (known === undefined) throw new Error(id);
  const body = {
    id: known,
    source: "codex",
    started_at: at,
    last_activity_at: at,
    message_count: 2,
  };
  const session = { ...sessionUploadOf(body), ...says, project_id: SHOP };
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

test("nothing is sent while sessions are off", async () => {
  await call([SERVED], { sendsSessions: () => false });
  expect(sentIds()).toEqual([[]]);
  expect(await unsentIds()).toEqual(["sess_one"]);
});

/** A line of the personal text, and how a branch would say it. */
const OWN = "never mention the Falcon project";

async function keepOwn(): Promise<void> {
  const value = `<!-- memsync:personal version -->\n- ${OWN}\n`;
  await store.write(({ db }) => keepPersonalVersion(db, { id: "abcdefghij", value, isOwn: true }));
}

test("what is private in a record stays, whoever wrote it, and the rest is sent", async () => {
  await keepOwn();
  const branch = OWN.toLowerCase().replaceAll(" ", "-");
  const names = { title: OWN, git_branch: branch, model: OWN, machine: OWN };
  await record("own", "2026-01-02T10:00:00.000Z", names);
  const [title, git_branch] = [`use ${PLANTED.github}`, `b-${PLANTED.github}`];
  const secret = { title, git_branch, model: PLANTED.github, machine: PLANTED.github };
  await record("key", "2026-01-03T10:00:00.000Z", secret);
  const said = { title: "Fix the login", git_branch: "main", model: "claude-x", machine: "anna" };
  await record("said", "2026-01-04T10:00:00.000Z", said);
  expect(await call([SERVED])).toEqual(SERVED);
  const none = { title: null, git_branch: null, model: null, machine: null };
  expect(calls[0]?.sessions?.slice(0, 3)).toMatchObject([
    { id: "sess_said", source: "codex", ...said },
    { id: "sess_key", source: "codex", message_count: 2, ...none },
    { id: "sess_own", source: "codex", message_count: 2, ...none },
  ]);
  expect(await unsentIds()).toEqual([]);
  await call([SERVED]);
  expect(calls[1]?.sessions).toBeUndefined();
});

test("a service that takes records apart gets nothing private either", async () => {
  await record("key", "2026-01-03T10:00:00.000Z", { title: `use ${PLANTED.github}` });
  await callTo(refusing(["sess_one"]));
  expect(sentIds().flat()).toContain("sess_key");
  expect(JSON.stringify(calls)).not.toContain(PLANTED.github);
});

test("a record named by what is private stays, is told, and keeps no other back", async () => {
  await keepOwn();
  const at = "2026-01-02T10:00:00.000Z";
  await record("source", at, { source: OWN });
  await record("token", at, { source: PLANTED.github });
  await record(PLANTED.github, at);
  await record(OWN.replaceAll(" ", "_"), at);
  expect(await call([SERVED])).toEqual(SERVED);
  expect(sentIds()).toEqual([["sess_one"]]);
  expect(await unsentIds()).toEqual([]);
  const kept = await refusedSessions(store.reader, { account: LOCAL_ACCOUNT, project: SHOP });
  expect(kept.map(({ said }) => said)).toEqual([undefined, undefined, undefined, undefined]);
  await record("source", at, { source: "codex" });
  await call([SERVED]);
  expect(sentIds()).toEqual([["sess_one"], ["sess_source"]]);
});

test("a name is left out for no short line of one's own, and what is allowed is judged again", async () => {
  const value = `<!-- memsync:personal version -->\n- feature/login\n- Claude Opus 4\n- ${OWN}\n`;
  await store.write(({ db }) => keepPersonalVersion(db, { id: "abcdefghij", value, isOwn: true }));
  const said = { title: "feature login", git_branch: "feature/login", model: "claude-opus-4" };
  await record("short", "2026-01-05T10:00:00.000Z", said);
  await record("source", "2026-01-02T10:00:00.000Z", { source: OWN });
  await call([SERVED]);
  expect(calls[0]?.sessions?.[0]).toMatchObject({ id: "sess_short", ...said, title: null });
  expect(await unsentIds()).toEqual([]);
  await store.write(({ db }) =>
    allowPersonalLines(db, { document: SHOP, text: OWN }, Date.parse("2026-01-06")),
  );
  await store.write(({ db }) => forgetKeptSessions(db));
  await call([SERVED]);
  expect(calls[1]?.sessions?.map(({ id }) => String(id))).toEqual(["sess_source"]);
});

test("the ids that assistants give their sessions are no secrets", async () => {
  for (let at = 0; at < 60; at += 1) {
    const hash = createHash("sha256").update(`${at}`);
    const [hex, base] = [hash.copy().digest("hex"), hash.digest("base64url")];
    const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
    const ids = [uuid, hex, `ses_${hex.slice(0, 12)}${base.replaceAll(/[-_]/g, "x").slice(0, 14)}`];
    for (const id of ids) await record(id, "2026-01-02T10:00:00.000Z");
  }
  expect(await call([SERVED])).toEqual(SERVED);
  expect(sentIds()[0]?.length).toBe(181);
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
