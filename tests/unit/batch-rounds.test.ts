import { afterEach, expect, test } from "bun:test";
import type { SyncUnit } from "../../daemon/budget/sync-units.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { readPosition } from "../../daemon/home/positions.ts";
import {
  noteSentSessions,
  projectsWithUnsentSessions,
  putSession,
} from "../../daemon/home/session-records.ts";
import type { RefusedCall } from "../../daemon/sync/round.ts";
import { asAccountId, type ProjectId, parseSessionId } from "../../shared/ids.ts";
import { sessionUploadOf } from "../../shared/wire/session.ts";
import { type ManyProjects, openManyProjects } from "../support/many-projects.ts";
import { olderSend } from "../support/older-service.ts";
import { projectId } from "../support/project-id.ts";
import { holding, refusingSend } from "../support/refusing-service.ts";

const BATCH = "POST /api/sync";
/** Dozens of projects, or megabytes of them. */
const MUCH_MS = 60_000;

const opened: ManyProjects[] = [];

afterEach(async () => {
  for (const home of opened.splice(0)) await home[Symbol.asyncDispose]();
});

async function open(...options: Parameters<typeof openManyProjects>): Promise<ManyProjects> {
  const home = await openManyProjects(...options);
  opened.push(home);
  return home;
}

/** What of the projects' memories the service has. */
async function held(home: ManyProjects, ids: readonly ProjectId[] = home.ids) {
  return await Promise.all(ids.map((id) => home.heldBy(id)));
}

function memoriesOf(home: ManyProjects, ...keys: readonly string[]) {
  return home.ids.map((id) => Object.fromEntries(keys.map((key) => [key, `${key} of ${id}`])));
}

function statuses(refused: ReadonlyMap<SyncUnit, RefusedCall>) {
  return Object.fromEntries([...refused].map(([unit, { status }]) => [unit, status]));
}

/** How many projects the body of a call is about. */
async function countIn(request: Request): Promise<number> {
  const { crdt } = (await request.clone().json()) as { crdt?: { projects?: object } };
  return Object.keys(crdt?.projects ?? {}).length;
}

test(
  "fifty new projects take two calls, and what changes in all of them one",
  async () => {
    const home = await open(50);
    await home.write("first");
    expect(await home.sync()).toEqual(new Map());
    expect(home.requests).toEqual([BATCH, BATCH]);
    expect(await held(home)).toEqual(memoriesOf(home, "first"));
    await home.write("second");
    await home.sync();
    expect(home.requests).toHaveLength(3);
    expect(await held(home)).toEqual(memoriesOf(home, "first", "second"));
  },
  MUCH_MS,
);

test("a new project takes two calls, and goes by one of its own from then on", async () => {
  const home = await open(1);
  await home.write("first");
  await home.sync();
  await home.write("second");
  await home.sync();
  const single = "POST /api/projects/proj_0/sync";
  expect(home.requests).toEqual([BATCH, single, single]);
  expect(await held(home)).toEqual(memoriesOf(home, "first", "second"));
});

test("an older service is called about one after another, once it was asked", async () => {
  const home = await open(6);
  home.intercept = (request, pass) => olderSend(pass)(request);
  await home.write("first");
  expect(await home.sync()).toEqual(new Map());
  expect(home.requests.filter((each) => each === BATCH)).toHaveLength(1);
  expect(await held(home)).toEqual(memoriesOf(home, "first"));
});

test("a plain service is synced as one", async () => {
  const home = await open(3, { publishedOnly: true });
  await home.write("first");
  expect(await home.sync()).toEqual(new Map());
  expect(home.requests.filter((each) => each === BATCH)).toHaveLength(1);
  expect(await held(home)).toEqual(memoriesOf(home, "first"));
});

for (const status of [400, 403, 404, 413]) {
  test(`a whole call that is ${status} is made singly`, async () => {
    const home = await open(4);
    home.intercept = async (request, pass) => {
      const isBatch = request.url.endsWith("/api/sync") && (await countIn(request)) > 0;
      return isBatch ? Response.json({}, { status }) : await pass(request);
    };
    await home.write("first");
    expect(await home.sync()).toEqual(new Map());
    expect(await held(home)).toEqual(memoriesOf(home, "first"));
  });
}

for (const [name, answer] of [
  ["502", () => new Response("bad gateway", { status: 502 })],
  ["504", () => new Response("", { status: 504 })],
  ["an empty 200", () => new Response("")],
  ["a 200 of somebody in between", () => Response.json([])],
] as const) {
  test(`a first call that meets ${name} says nothing about later ones`, async () => {
    const home = await open(20);
    let isFirst = true;
    home.intercept = async (request, pass) => {
      if (!isFirst) return await pass(request);
      isFirst = false;
      return answer();
    };
    await home.write("first");
    await home.sync().catch(() => undefined);
    for (let more = 0; more < 3; more++) await home.sync();
    expect(await held(home)).toEqual(memoriesOf(home, "first"));
    expect(home.requests.length).toBeLessThanOrEqual(10);
    const before = home.requests.length;
    await home.write("second");
    await home.sync();
    expect(home.requests.length - before).toBeLessThanOrEqual(3);
  });
}

test("a token that is good for nothing is turned down once for all", async () => {
  const home = await open(40, { token: "mst_nonsense" });
  const refused = await home.sync();
  expect(home.requests).toHaveLength(1);
  expect(new Set(Object.values(statuses(refused)))).toEqual(new Set([401]));
  expect(refused.size).toBe(home.ids.length + 1);
});

test("a project that is refused is refused alone", async () => {
  const home = await open(5);
  home.intercept = async (request, pass) => {
    const text = (await request.clone().text()).replace('"proj_2"', '"proj 2"');
    const answer = await (await pass(new Request(request, { body: text }))).text();
    const error = { code: "forbidden", message: "mst_dev_many is not for it", request_id: "r" };
    return new Response(
      answer.replace(/"proj 2":\{"error":.*?\}\}/, `"proj_2":${told({ error })}`),
    );
  };
  await home.write("first");
  const refused = await home.sync();
  expect(statuses(refused)).toEqual({ proj_2: 403 });
  expect(refused.get(projectId("2"))?.message).toBe("it answered 403: (the token) is not for it");
  const others = home.ids.filter((id) => id !== "proj_2");
  const expected = memoriesOf(home, "first").filter((_, at) => at !== 2);
  expect(await held(home, others)).toEqual(expected);
});

const told = (part: unknown) => JSON.stringify(part);

test("what a token may not make is refused as by a call of its own", async () => {
  const home = await open(3, { token: "mst_dev_readonly" });
  await home.write("first");
  expect(statuses(await home.sync(home.ids))).toEqual({ proj_0: 403, proj_1: 403, proj_2: 403 });
});

const SPOILT: readonly [how: string, spoil: (crdt: Crdt) => void][] = [
  ["leaves one out", (crdt: Crdt) => delete crdt.projects.proj_1],
  ["is malformed about one", (crdt: Crdt) => Object.assign(crdt.projects, { proj_1: [] })],
  ["says a position of none", (crdt: Crdt) => putPosition(crdt, { epoch: 7 })],
  ["says an error of no code", (crdt: Crdt) => Object.assign(crdt.projects, { proj_1: BROKEN })],
];

for (const [how, spoil] of SPOILT) {
  test(`an answer that ${how} is taken of the others`, async () => {
    const home = await open(3);
    home.intercept = async (request, pass) => {
      const answer = (await (await pass(request)).json()) as { crdt: Crdt };
      spoil(answer.crdt);
      return Response.json(answer);
    };
    await home.write("first");
    expect(statuses(await home.sync())).toEqual({ proj_1: 500 });
    const positions = await Promise.all(home.ids.map((id) => contacted(home, id)));
    expect(positions).toEqual([true, false, true]);
  });
}

interface Crdt {
  readonly projects: Record<string, { documents: { project: unknown } }>;
}

const BROKEN = { error: { code: "constructor", message: "?", request_id: "r" } };

function putPosition({ projects }: Crdt, project: unknown) {
  Object.assign(projects, { proj_1: { documents: { project } } });
}

async function contacted({ store }: ManyProjects, id: ProjectId): Promise<boolean> {
  const { id: document } = await store.reader
    .selectFrom("documents")
    .select("id")
    .where("name", "=", id)
    .executeTakeFirstOrThrow();
  return (await readPosition(store.reader, "many", document)).remote !== undefined;
}

/** A record of a project's session, which the service has. */
async function sentRecord({ store }: ManyProjects, project: ProjectId): Promise<void> {
  const id = parseSessionId(`sess_of_${project}`);
  if (id === undefined) throw new Error(project);
  const at = "2026-01-01T10:00:00.000Z";
  const times = { started_at: at, last_activity_at: at };
  const upload = sessionUploadOf({ id, source: "codex", message_count: 2, ...times });
  const session = { ...upload, project_id: project };
  const body = JSON.stringify(session);
  await store.write(async ({ db }) => {
    await putSession(db, LOCAL_ACCOUNT, session);
    await noteSentSessions(db, LOCAL_ACCOUNT, [{ upload, body }]);
  });
}

test("a service that was set back gets the records of all projects anew", async () => {
  const home = await open(3);
  await home.write("first");
  await home.sync();
  for (const id of home.ids) await sentRecord(home, id);
  await home.write("second");
  await home.sync();
  expect(await projectsWithUnsentSessions(home.store.reader)).toEqual([]);
  let isSetBack = true;
  home.intercept = async (request, pass) => {
    const answer = (await (await pass(request)).json()) as { crdt: Crdt };
    const lost = { epoch: "", seq: 0, reset: true, state_vector: "AA==" };
    if (isSetBack) putPosition(answer.crdt, lost);
    isSetBack = false;
    return Response.json(answer);
  };
  await home.write("third");
  await home.sync();
  expect(await held(home)).toEqual(memoriesOf(home, "first", "second", "third"));
  // The one that was set back has gone by its next call.
  const unsent = await projectsWithUnsentSessions(home.store.reader);
  expect(unsent.toSorted()).toEqual([projectId("0"), projectId("2")]);
});

test("a service that puts all off is not asked for ever", async () => {
  const home = await open(3);
  home.intercept = async (request, pass) => {
    const answer = (await (await pass(request)).json()) as { crdt: Crdt };
    const later = home.ids.map((id) => [id, { later: true }]);
    return Response.json({ crdt: { ...answer.crdt, projects: Object.fromEntries(later) } });
  };
  expect(Object.keys(statuses(await home.sync()))).toEqual([...home.ids]);
  expect(home.requests).toHaveLength(1);
});

test("what is put off goes by the next call", async () => {
  const home = await open(5);
  home.intercept = async (request, pass) => {
    const body = (await request.clone().json()) as { crdt: Partial<Crdt> };
    const late = Object.keys(body.crdt.projects ?? {}).slice(2);
    for (const id of late) delete body.crdt.projects?.[id];
    const sent = new Request(request, { body: JSON.stringify(body) });
    const answer = (await (await pass(sent)).json()) as { crdt: Partial<Crdt> };
    for (const id of late) Object.assign(answer.crdt.projects ?? {}, { [id]: { later: true } });
    return Response.json(answer);
  };
  await home.write("first");
  expect(await home.sync()).toEqual(new Map());
  expect(await held(home)).toEqual(memoriesOf(home, "first"));
});

test(
  "a service that fails on many is called about fewer, and about many again",
  async () => {
    const home = await open(50);
    await home.sync();
    const asked: number[] = [];
    home.intercept = async (request, pass) => {
      asked.push(await countIn(request));
      return (asked.at(-1) ?? 0) > 12 ? Response.json({}, { status: 504 }) : await pass(request);
    };
    await home.write("first");
    await home.sync();
    expect(asked.slice(0, 4)).toEqual([50, 25, 12, 24]);
    expect(await held(home)).toEqual(memoriesOf(home, "first"));
  },
  MUCH_MS,
);

test("updates that are refused are taken back by one more call", async () => {
  const home = await open(5);
  await home.sync();
  home.requests.length = 0;
  const refuses = holding("bad of proj_1", "bad of proj_3");
  home.intercept = (request, pass) => refusingSend(pass, refuses)(request);
  await home.write("good");
  await home.write(
    "bad",
    home.ids.filter((_, at) => at % 2 === 1),
  );
  await home.sync();
  expect(await held(home)).toEqual(memoriesOf(home, "good"));
  expect(home.requests.filter((each) => each !== BATCH)).toEqual([]);
});

test(
  "a large backlog goes in several calls, and none of it is left out",
  async () => {
    const home = await open(6);
    await home.sync();
    const value = "x".repeat(30_000);
    for (const id of home.ids) {
      await home.store.write(async (context) => {
        const document = await context.open({ owner: LOCAL_ACCOUNT, name: id });
        for (let at = 0; at < 100; at++) {
          document.document.setEntry("memories", `key ${at}`, {
            value,
            now: context.now,
          });
        }
      });
    }
    home.requests.length = 0;
    await home.sync(home.ids);
    expect(home.requests).toHaveLength(2);
    const counts = (await held(home)).map((each) => Object.keys(each).length);
    expect(counts).toEqual(home.ids.map(() => 100));
  },
  MUCH_MS,
);

test("what is damaged here fails alone, and is sent to nobody", async () => {
  const home = await open(4);
  await home.sync();
  await home.write("first");
  await home.store.write(async ({ db }) => {
    const { id } = await db
      .selectFrom("documents")
      .select("id")
      .where("name", "=", "proj_1")
      .executeTakeFirstOrThrow();
    await db
      .updateTable("updates")
      .set({ checksum: 1 })
      .where("document_id", "=", id)
      .where("origin", "=", "local")
      .execute();
  });
  const refused = await home.sync();
  expect([...refused.keys()]).toEqual([home.ids[1] as ProjectId]);
  expect(refused.get(home.ids[1] as ProjectId)?.message).toStartWith("it failed on this machine");
  const expected = memoriesOf(home, "first").map((each, at) => (at === 1 ? {} : each));
  expect(await held(home)).toEqual(expected);
});

test("what only came along waits for its time where there is nothing to send of the first", async () => {
  const home = await open(3);
  await home.sync();
  await home.write("first");
  await home.store.write(async ({ db }) => {
    await db
      .updateTable("documents")
      .set({ owner: asAccountId("other") })
      .where("name", "=", "proj_0")
      .execute();
  });
  home.requests.length = 0;
  expect(await home.call(home.ids)).toEqual(home.ids.slice(1));
  expect(home.requests).toEqual([]);
  expect(await home.call(home.ids.slice(1))).toEqual([]);
  expect(await held(home, home.ids.slice(1))).toEqual(memoriesOf(home, "first").slice(1));
});
