import { afterAll, describe, expect, test } from "bun:test";
import * as Y from "yjs";
import type { Answered } from "../support/host-server.ts";
import { connectLive } from "../support/live-client.ts";
import { shakeHands } from "../support/live-handshake.ts";
import {
  GOOD,
  type Good,
  HIDDEN_IDS,
  MARK,
  MEMORY_IDS,
  PLAIN,
  startTwoAccounts,
  VISIBLE,
} from "../support/two-accounts.ts";

const accounts = await startTwoAccounts();
const { host, good, bad } = accounts;
afterAll(() => accounts[Symbol.asyncDispose]());

const CODES: Readonly<Record<number, string | undefined>> = {
  200: undefined,
  400: "invalid_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
};

type Statuses = Readonly<Record<Good, number>>;

type Row = readonly [route: string, path: string, body: unknown, statuses: Statuses];

function everybody(status: number): Statuses {
  return { reading: status, elsewhere: status, stranger: status, colleague: status, right: status };
}

/** What is each one's own, or its account's, and is read by all who have a good token. */
const READ_OWN = everybody(200);
/** The same, written: not by a token that may only read, nor by one bound to another project. */
const WRITE_OWN: Statuses = { ...READ_OWN, reading: 403, elsewhere: 403 };
/** What is of `proj_main`: another account knows nothing of it. */
const READ_MAIN: Statuses = { ...READ_OWN, elsewhere: 403, stranger: 404 };
const WRITE_MAIN: Statuses = { ...READ_MAIN, reading: 403 };
const ASKED_WRONGLY = everybody(400);
const NOT_THERE = everybody(404);

const NOTHING = undefined;
const CRDT = { encoding: "yjs-v1", documents: { project: {}, user: {}, global: {} } };
const OWN_CRDT = { encoding: "yjs-v1", documents: { user: {}, global: {} } };
const PAIR = { project_id: "proj_main", target_project_id: "proj_elsewhere" };
const TURNED = { project_id: "proj_elsewhere", target_project_id: "proj_main" };
const SESSION = {
  id: "sess_new",
  source: "test",
  started_at: "2026-01-01T10:00:00Z",
  last_activity_at: "2026-01-01T12:00:00Z",
  message_count: 2,
};
const note = (layer: string, more = {}) => ({ content: "a note", layer, key: "new", ...more });

/**
 * What each of `GOOD` is answered: a token that may only read, one that is bound to another
 * project, one of another account, one of another user, and the right one. Projects are
 * `proj_main`, with connections and sessions; `proj_shared`, of which the stranger may make one,
 * too; and what is named by no id. Everybody whose token is not good is answered 401, but for
 * `OPEN`.
 */
const TABLE: readonly Row[] = [
  ["GET /v1/memories", "/v1/memories", NOTHING, READ_OWN],
  ["GET /v1/memories", "/v1/memories?project_id=proj_main", NOTHING, READ_MAIN],
  ["GET /v1/memories", "/v1/memories?layer=user", NOTHING, READ_OWN],
  ["GET /v1/memories", "/v1/memories?layer=global", NOTHING, READ_OWN],
  ["GET /v1/memories", "/v1/memories?q=MARKED", NOTHING, READ_OWN],
  ["GET /v1/memories", "/v1/memories?limit=x", NOTHING, ASKED_WRONGLY],
  ["POST /v1/memories", "/v1/memories", note("user"), WRITE_OWN],
  ["POST /v1/memories", "/v1/memories", note("global"), WRITE_OWN],
  ["POST /v1/memories", "/v1/memories", note("project", { project_id: "proj_main" }), WRITE_MAIN],
  ["POST /v1/memories", "/v1/memories", note("user", { project_id: "proj_main" }), WRITE_MAIN],
  ["POST /v1/memories", "/v1/memories", {}, { ...ASKED_WRONGLY, reading: 403 }],
  ["DELETE /v1/memories/:id", `/v1/memories/${MEMORY_IDS.main}`, NOTHING, WRITE_MAIN],
  [
    "DELETE /v1/memories/:id",
    `/v1/memories/${MEMORY_IDS.user}`,
    NOTHING,
    { ...WRITE_MAIN, colleague: 404 },
  ],
  ["DELETE /v1/memories/:id", `/v1/memories/${MEMORY_IDS.account}`, NOTHING, WRITE_MAIN],
  ["DELETE /v1/memories/:id", "/v1/memories/nonsense", NOTHING, { ...NOT_THERE, reading: 403 }],
  ["GET /v1/projects", "/v1/projects", NOTHING, READ_OWN],
  ["GET /v1/projects/:id", "/v1/projects/proj_main", NOTHING, READ_MAIN],
  ["GET /v1/projects/:id", "/v1/projects/proj_none", NOTHING, NOT_THERE],
  ["POST /v1/projects/:id/sync", "/v1/projects/proj_main/sync", NOTHING, READ_MAIN],
  [
    "POST /v1/projects/:id/sync",
    "/v1/projects/proj_shared/sync",
    PLAIN,
    { ...READ_OWN, elsewhere: 403 },
  ],
  [
    "POST /v1/projects/:id/sync",
    "/v1/projects/proj_shared/sync",
    { metadata: { changed: true } },
    WRITE_OWN,
  ],
  [
    "POST /v1/projects/:id/sync",
    "/v1/projects/proj_shared/sync",
    { crdt: CRDT },
    { ...READ_OWN, elsewhere: 403 },
  ],
  ["POST /v1/projects/:id/sync", "/v1/projects/proj_new/sync", {}, WRITE_OWN],
  [
    "POST /v1/projects/:id/sync",
    "/v1/projects/proj_shared/sync",
    { sessions: [SESSION] },
    WRITE_OWN,
  ],
  ["GET /v1/sessions", "/v1/sessions", NOTHING, READ_OWN],
  ["GET /v1/sessions", "/v1/sessions?project_id=proj_main", NOTHING, READ_MAIN],
  ["GET /v1/sessions/:id", "/v1/sessions/sess_main", NOTHING, READ_MAIN],
  ["GET /api/projects", "/api/projects", NOTHING, READ_OWN],
  ["POST /api/projects", "/api/projects", { id: "proj_shared" }, WRITE_OWN],
  ["POST /api/projects", "/api/projects", { name: "new" }, WRITE_OWN],
  ["GET /api/projects/:id", "/api/projects/proj_main", NOTHING, READ_MAIN],
  [
    "GET /api/projects/:id",
    "/api/projects/proj_elsewhere",
    NOTHING,
    { ...READ_OWN, stranger: 404 },
  ],
  ["DELETE /api/projects/:id", "/api/projects/proj_main", NOTHING, WRITE_MAIN],
  ["DELETE /api/projects/:id", "/api/projects/proj_none", NOTHING, { ...NOT_THERE, reading: 403 }],
  ["POST /api/projects/:id/sync", "/api/projects/proj_main/sync", {}, READ_MAIN],
  ["POST /api/projects/:id/sync", "/api/projects/proj_main/sync", { crdt: CRDT }, READ_MAIN],
  [
    "POST /api/projects/:id/sync",
    "/api/projects/proj_main/sync",
    { claude_md_content: "changed" },
    WRITE_MAIN,
  ],
  [
    "POST /api/projects/:id/sync",
    "/api/projects/proj_elsewhere/sync",
    { sessions: [{ ...SESSION, id: "sess_main" }] },
    WRITE_MAIN,
  ],
  ["POST /api/projects/:id/sync", "/api/projects/proj_main/sync", NOTHING, ASKED_WRONGLY],
  ["POST /api/projects/connect", "/api/projects/connect", PAIR, WRITE_MAIN],
  ["POST /api/projects/connect", "/api/projects/connect", TURNED, WRITE_MAIN],
  [
    "POST /api/projects/connect",
    "/api/projects/connect",
    { project_id: "proj_shared", target_project_id: "proj_main" },
    WRITE_MAIN,
  ],
  [
    "DELETE /api/projects/connect",
    `/api/projects/connect?${new URLSearchParams(PAIR)}`,
    NOTHING,
    WRITE_MAIN,
  ],
  [
    "DELETE /api/projects/connect",
    `/api/projects/connect?${new URLSearchParams(TURNED)}`,
    NOTHING,
    WRITE_MAIN,
  ],
  ["GET /api/projects/stats", "/api/projects/stats", NOTHING, READ_OWN],
  ["GET /api/account", "/api/account", NOTHING, READ_OWN],
  ["POST /api/sync", "/api/sync", { crdt: OWN_CRDT }, READ_OWN],
  [
    "POST /api/sync",
    "/api/sync",
    { crdt: OWN_CRDT, sessions: [{ ...SESSION, message_count: 3 }] },
    WRITE_OWN,
  ],
  ["GET /api/live", "/api/live", NOTHING, ASKED_WRONGLY],
];

/** What says nothing of anybody, and is told to everybody. */
const OPEN: readonly string[] = ["/healthz", "/readyz", "/openapi.json", "/docs"];

test("every route that is served is in the table", () => {
  const served = host.routes.map(({ method, path }) => `${method} ${path}`);
  const inTable = new Set(TABLE.map(([route]) => route));
  expect([...inTable, ...OPEN.map((path) => `GET ${path}`)].sort()).toEqual(
    [...new Set(served)].sort(),
  );
});

test.each(TABLE)(
  "%s, asked as %s %j, is answered to each as the table says",
  async (route, path, body, statuses) => {
    const [method = ""] = route.split(" ", 1);
    for (const [what, authorization] of Object.entries(bad)) {
      const answer = await host.send(authorization, method, path, body);
      expect({ what, status: answer.status }).toEqual({ what, status: 401 });
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expectSecret(answer, 401, []);
    }
    for (const who of GOOD) {
      await accounts.restore();
      const expected = statuses[who];
      const before = await accounts.state();
      const answer = await host.send(good[who], method, path, body);
      expect({ who, status: answer.status }).toEqual({ who, status: expected });
      expectSecret(answer, expected, VISIBLE[who]);
      if (who === "elsewhere" || who === "stranger") expectHidden(answer);
      if (expected !== 200 || who === "stranger") expect(await accounts.state()).toBe(before);
      if (method !== "GET") continue;
      const head = await host.send(good[who], "HEAD", path);
      expect([head.status, head.text]).toEqual([expected, ""]);
    }
  },
);

/** The code is the status's, and of all that is marked the answer holds what is visible at most. */
function expectSecret(answer: Answered, status: number, visible: readonly string[]): void {
  const { error } = JSON.parse(answer.text) as { error?: { code: string } };
  expect(error?.code).toBe(CODES[status]);
  const shown = shownBy(answer);
  const seen = Object.values(MARK).filter((mark) => shown.includes(mark));
  expect(seen.filter((mark) => !visible.includes(mark))).toEqual([]);
}

/** Ids of what is out of reach are in no answer. */
function expectHidden(answer: Answered): void {
  const shown = shownBy(answer);
  expect(HIDDEN_IDS.filter((id) => shown.includes(id))).toEqual([]);
}

/** Everything in an answer, what is in base64 decoded. */
function shownBy({ headers, text }: Answered): string {
  const updates = [...text.matchAll(/"(?:update|state_vector)":"([^"]*)"/g)];
  const decoded = updates.map(([, base64 = ""]) => Buffer.from(base64, "base64").toString("utf8"));
  return [text, ...decoded, JSON.stringify([...headers])].join("\n");
}

test("a project that the header X-Project-Id names is answered as if the query named it", async () => {
  const named = { "X-Project-Id": "proj_main" };
  const writing = { reading: 403, elsewhere: 403, stranger: 404, colleague: 200, right: 200 };
  for (const who of GOOD) {
    const read = await host.send(good[who], "GET", "/v1/memories", NOTHING, named);
    const write = await host.send(good[who], "POST", "/v1/memories", note("project"), named);
    const reading = who === "reading" ? 200 : writing[who];
    expect([who, read.status, write.status]).toEqual([who, reading, writing[who]]);
    for (const answer of [read, write]) expectSecret(answer, answer.status, VISIBLE[who]);
  }
});

test("every token is told of its own account, and of no other's users", async () => {
  const told = async (who: Good) =>
    JSON.parse((await host.send(good[who], "GET", "/api/account")).text);
  for (const who of ["reading", "elsewhere", "colleague", "right"] as const) {
    const user = who === "colleague" ? "bob" : "ann";
    expect([who, await told(who)]).toEqual([who, { name: "acme", plan: "team", users: 2, user }]);
  }
  expect(await told("stranger")).toEqual({ name: "rival", plan: "pro", users: 1, user: "ann" });
});

test("a path that is not served is 401 without a good token and 404 with one", async () => {
  for (const path of ["/", "/v1", "/v1/nowhere", "/api/projects/proj_main/memories"]) {
    for (const authorization of Object.values(bad)) {
      expect((await host.send(authorization, "GET", path)).status).toBe(401);
    }
    for (const who of GOOD) expect((await host.send(good[who], "GET", path)).status).toBe(404);
  }
});

test.each(OPEN)("%s is told to everybody, and says the same to each", async (path) => {
  const { text: told } = await host.send("", "GET", path);
  for (const authorization of [...Object.values(bad), ...Object.values(good)]) {
    const { status, text } = await host.send(authorization, "GET", path);
    expect([status, text]).toEqual([200, told]);
  }
});

describe("the live socket", () => {
  const tokenIn = (authorization: string) => authorization.replace(/^\S+ ?/, "");

  test("the live socket opens for every good token and for no other", async () => {
    for (const [what, authorization] of Object.entries(bad)) {
      const headers = authorization === "" ? {} : { Authorization: authorization };
      const answer = await shakeHands(host.url, "", headers);
      expect({ what, status: answer.status }).toEqual({ what, status: 401 });
      expect(answer.text).toContain('"code":"unauthorized"');
    }
    for (const who of GOOD) {
      expect((await shakeHands(host.url, tokenIn(good[who]))).status).toBe(101);
    }
  });

  /** Changes everything that there is, and at last what `who` may hear of. */
  async function hear(who: Good, last: string): Promise<unknown[]> {
    using client = await connectLive(host.url, tokenIn(good[who]));
    const ids = ["proj_main", "proj_elsewhere", "proj_own", "proj_last"];
    client.send(JSON.stringify({ type: "subscribe", project_ids: ids }));
    const heard = [await client.next()];
    const text = { claude_md_content: crypto.randomUUID() };
    const change = (by: Good, path: string, body: object) =>
      host.send(good[by], "POST", path, body);
    await change("right", "/v1/projects/proj_main/sync", text);
    const content = crypto.randomUUID();
    await change("right", "/v1/memories", { layer: "user", key: "live", content });
    await change("right", "/v1/memories", { layer: "global", key: "live", content });
    await change("colleague", "/v1/memories", { layer: "user", key: "live", content });
    await change("stranger", "/v1/projects/proj_own/sync", text);
    await change("right", "/v1/projects/proj_elsewhere/sync", text);
    await change(who === "stranger" ? "stranger" : "right", last, { metadata: { last: content } });
    const lastId = last.split("/")[3];
    let frame: unknown;
    do {
      frame = await client.next();
      heard.push(frame);
    } while ((frame as { project_id: unknown }).project_id !== lastId || heard.length < 3);
    return heard.slice(1).map((each) => {
      const { document, project_id } = each as { document: string; project_id: string | null };
      return project_id ?? document;
    });
  }

  test("the live socket tells each of what it may read and of nothing else", async () => {
    const elsewhere = "/v1/projects/proj_elsewhere/sync";
    const own = "/v1/projects/proj_own/sync";
    const main = "/v1/projects/proj_main/sync";
    expect(await hear("elsewhere", elsewhere)).toEqual(["proj_elsewhere", "proj_elsewhere"]);
    expect(await hear("stranger", own)).toEqual(["proj_own", "proj_own"]);
    const all = ["proj_main", "global", "user", "proj_elsewhere", "proj_main"];
    expect(await hear("colleague", main)).toEqual(all);
    const anns = ["proj_main", "user", "global", "proj_elsewhere", "proj_main"];
    expect(await hear("right", main)).toEqual(anns);
    expect(await hear("reading", main)).toEqual(anns);
  });
});

/** Some hundred calls. */
const MANY_CALLS_MS = 60_000;

const NAMED = ["proj_main", "proj_elsewhere", "proj_shared", "proj_own", "proj_none", "nonsense"];

test(
  "in one call each project is answered to each as in a call of its own",
  async () => {
    const foreign = new Y.Doc();
    const entry = { key: "key", value: "new", created_at: 1, updated_at: 1 };
    foreign.getArray(`memories/${foreign.clientID}`).push([entry]);
    const update = Buffer.from(Y.encodeStateAsUpdate(foreign)).toString("base64");
    for (const project of [{}, { update }]) {
      const documents = { project, user: {}, global: {} };
      for (const who of GOOD) {
        await accounts.restore();
        const alone: Record<string, unknown> = {};
        let before = await accounts.state();
        for (const id of NAMED) {
          const crdt = { encoding: "yjs-v1", documents };
          const answer = await host.send(good[who], "POST", `/v1/projects/${id}/sync`, { crdt });
          const told = JSON.parse(answer.text) as Told;
          alone[id] = told.error?.code ?? documentsOf(told.crdt.documents);
        }
        if (!MAY_WRITE.includes(who)) expect(await accounts.state()).toBe(before);
        await accounts.restore();
        before = await accounts.state();
        const projects = Object.fromEntries(NAMED.map((id) => [id, { documents }]));
        const crdt = { encoding: "yjs-v1", documents: {}, projects };
        const answer = await host.send(good[who], "POST", "/api/sync", { crdt });
        expect(answer.status).toBe(200);
        expectSecret(answer, 200, VISIBLE[who]);
        const told = JSON.parse(answer.text) as Told;
        const together = Object.entries(told.crdt.projects ?? {}).map(([id, part]) => {
          return [id, part.error?.code ?? documentsOf(part.documents)];
        });
        expect({ who, answered: Object.fromEntries(together) }).toEqual({ who, answered: alone });
        if (!MAY_WRITE.includes(who)) expect(await accounts.state()).toBe(before);
      }
    }
  },
  MANY_CALLS_MS,
);

/** Those who may write in the account. */
const MAY_WRITE: readonly Good[] = ["elsewhere", "colleague", "right"];

interface Told {
  readonly error?: { readonly code: string };
  readonly crdt: ToldPart & { readonly projects?: Readonly<Record<string, Told & ToldPart>> };
}

interface ToldPart {
  readonly documents: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Which documents were served, refused or forbidden; not where they stand. */
function documentsOf(documents: ToldPart["documents"]): unknown {
  return Object.entries(documents).map(([layer, { forbidden, refused }]) => {
    return [layer, { forbidden, refused }];
  });
}
