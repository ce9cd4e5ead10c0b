import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { MemoryId, ProjectId } from "../../shared/ids.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { projectId } from "../support/project-id.ts";
import {
  caller,
  createTestServices,
  EVERYTHING,
  refusal,
  session,
} from "../support/test-services.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const [A, B, C] = [projectId("a"), projectId("b"), projectId("c")];
const me = caller();
const bound = caller({ tokenId: "token_bound", boundTo: [A] });

let { services, temp, counts } = await createTestServices();
const made = [temp];

beforeEach(async () => {
  ({ services, temp, counts } = await createTestServices());
  made.push(temp);
});

afterAll(async () => {
  for (const each of made) await each.remove();
});

/** Adds a memory whose key and content say where it is. */
function create(layer: Layer, { by = me, project = A } = {}) {
  const content = `${layer} of ${by.user}${layer === "project" ? ` in ${project}` : ""}`;
  const key = "key";
  const request = { content, layer, key, ...(layer === "project" && { project_id: project }) };
  return services.memories.create(by, request);
}

function syncOf(id: ProjectId, by = me) {
  const payload = { memories: [{ key: "key", value: `project ${id}` }], sessions: [session(id)] };
  return services.sync.apply(by, id, { payload, createMissing: true });
}

async function contents(query: Partial<Parameters<typeof services.memories.list>[1]>, by = me) {
  const { items, total } = await services.memories.list(by, { ...EVERYTHING, ...query });
  expect(total).toBe(items.length);
  return items.map(({ content }) => content);
}

describe("the current project", () => {
  test("the current project is the named one, then the header's, then what the token used last", async () => {
    for (const id of [A, B, C]) {
      await syncOf(id);
      temp.world.advance(1000);
    }
    expect(await contents({ projectId: A, headerProjectId: B })).toEqual(["project proj_a"]);
    expect(await contents({ headerProjectId: B })).toEqual(["project proj_b"]);
    expect(await contents({})).toEqual(["project proj_c"]);
    await services.projects.put(me, { id: B, name: "only updated" });
    expect(await contents({})).toEqual(["project proj_c"]);
    await services.projects.put(me, { id: projectId("fresh") });
    expect(await contents({})).toEqual([]);
  });

  test("the current project of a token that has used none is what the account synced last", async () => {
    await syncOf(A);
    temp.world.advance(1000);
    await syncOf(B);
    const fresh = caller({ tokenId: "fresh" });
    expect(await contents({}, fresh)).toEqual(["project proj_b"]);
    temp.world.advance(1000);
    const exchange = { documents: { project: {} } };
    await services.sync.exchange(me, A, { ...exchange, createMissing: false });
    expect(await contents({}, fresh)).toEqual(["project proj_a"]);
    expect(await contents({})).toEqual(["project proj_b"]);
  });

  test("the current project of a token that is bound to one project is that one", async () => {
    await syncOf(A);
    temp.world.advance(1000);
    await syncOf(B);
    expect(await contents({}, bound)).toEqual(["project proj_a"]);
    const elsewhere = caller({ tokenId: "other", boundTo: [projectId("missing")] });
    expect(await contents({}, elsewhere)).toEqual([]);
  });

  test("the current project is none where there is none, which is no error", async () => {
    await create("user");
    expect(await contents({})).toEqual(["user of user_1"]);
    expect(await contents({ layer: "project" })).toEqual([]);
  });

  test("the current project that is named and unknown is a 404, of another account too", async () => {
    await syncOf(A);
    const stranger = caller({ account: "other" });
    expect(await refusal(() => contents({ projectId: B }))).toBe("not_found");
    expect(await refusal(() => contents({ projectId: A }, stranger))).toBe("not_found");
    expect(await refusal(() => services.projects.get(stranger, A))).toBe("not_found");
  });
});

describe("a new memory", () => {
  test("a new memory goes where it says, and never into a guessed project", async () => {
    const add = (request: object, header?: ProjectId) =>
      services.memories.create(
        me,
        { content: "x", layer: "project", ...request },
        { headerProjectId: header },
      );
    expect(await refusal(() => add({}))).toBe("invalid_request");
    await syncOf(A);
    expect((await add({})).project_id).toBe(A);
    await syncOf(B);
    expect(await refusal(() => add({}))).toBe("invalid_request");
    expect((await add({}, B)).project_id).toBe(B);
    expect((await add({ project_id: A }, B)).project_id).toBe(A);
    expect(await refusal(() => add({ project_id: C }))).toBe("not_found");
    expect(await services.memories.create(bound, { content: "x", layer: "project" })).toMatchObject(
      { project_id: A },
    );
  });

  test("a new memory without a key gets one of its own, with a known key updates", async () => {
    const add = (key?: string, content = "x") =>
      services.memories.create(me, { content, layer: "global", ...(key && { key }) });
    const [one, other] = [await add(), await add()];
    expect(one.key).toMatch(/^note-[a-z2-7]{16}$/);
    expect(one.key).not.toBe(other.key);
    const first = await add("k", "1");
    temp.world.advance(1000);
    const second = await add("k", "2");
    expect(second).toEqual({ ...first, content: "2", updated_at: second.updated_at });
    expect(second.updated_at > first.updated_at).toBeTrue();
    expect((await services.stats.get(me)).memories.global).toBe(3);
  });

  test("a new memory is gone after its removal, once", async () => {
    const { id } = await create("global");
    await services.memories.remove(me, id);
    expect(await contents({})).toEqual([]);
    expect(await refusal(() => services.memories.remove(me, id))).toBe("not_found");
    const unknown = () => services.memories.remove(me, "mem_unknown" as MemoryId);
    expect(await refusal(unknown)).toBe("not_found");
  });
});

describe("two users of one account", () => {
  const colleague = caller({ user: "user_2", tokenId: "token_2" });

  test("two users of one account share projects and global memories and keep their own apart", async () => {
    await syncOf(A);
    await create("user");
    await create("global");
    expect(await contents({ projectId: A }, colleague)).toEqual([
      "project proj_a",
      "global of user_1",
    ]);
    const mine = await create("user");
    const theirs = await create("user", { by: colleague });
    expect(theirs.id).toBe(mine.id);
    expect(await contents({ layer: "user" })).toEqual(["user of user_1"]);
    expect(await contents({ layer: "user" }, colleague)).toEqual(["user of user_2"]);
    expect(await contents({ q: "user_1", layer: "user" }, colleague)).toEqual([]);
    expect((await services.stats.get(colleague)).memories).toMatchObject({ user: 1, global: 1 });
  });

  test("two users of one account remove their own memory of an id and never the other's", async () => {
    const { id } = await create("user");
    expect(await refusal(() => services.memories.remove(colleague, id))).toBe("not_found");
    await create("user", { by: colleague });
    await services.memories.remove(colleague, id);
    expect(await contents({ layer: "user" })).toEqual(["user of user_1"]);
    expect(await contents({ layer: "user" }, colleague)).toEqual([]);
  });

  test("two users of one account exchange their own user documents", async () => {
    await create("user");
    const exchange = (by = me) =>
      services.sync.exchange(by, null, { documents: { user: {} }, createMissing: false });
    expect((await exchange()).documents.user).toHaveProperty("update");
    expect((await exchange(colleague)).documents.user).toEqual({ epoch: "", seq: 0 });
    const positions = await services.live.positions(colleague, []);
    expect(positions.map(({ user, seq }) => [user, seq])).toEqual([
      ["user_2", 0],
      [null, 0],
    ] as never);
  });
});

describe("accounts", () => {
  test("accounts have the same ids and never see each other", async () => {
    const stranger = caller({ account: "other", tokenId: "stranger" });
    await syncOf(A);
    await syncOf(B);
    await services.sync.apply(stranger, A, { payload: {}, createMissing: true });
    await services.connections.connect(me, { project_id: A, target_project_id: B });
    expect(await contents({ projectId: A }, stranger)).toEqual([]);
    expect((await services.projects.get(stranger, A)).project.connected_project_ids).toEqual([]);
    expect((await services.sessions.list(stranger, { ...EVERYTHING })).items).toEqual([]);
    expect(await refusal(() => services.sessions.get(stranger, session(A).id))).toBe("not_found");
    expect(await contents({ q: "project" }, stranger)).toEqual([]);
    const [memory] = (await services.memories.list(me, { ...EVERYTHING, projectId: A })).items;
    const removal = () => services.memories.remove(stranger, memory?.id as MemoryId);
    expect(await refusal(removal)).toBe("not_found");
    const heard: string[] = [];
    services.live.onChange(stranger.account, ({ projectId: id }) => heard.push(String(id)));
    await syncOf(C);
    await services.sync.apply(stranger, A, {
      payload: { claude_md_content: "x" },
      createMissing: false,
    });
    expect(heard).toEqual([A]);
  });
});

describe("a token that is bound to projects", () => {
  beforeEach(async () => {
    for (const id of [A, B]) await syncOf(id);
    await create("user");
    await create("global");
    await services.connections.connect(me, { project_id: A, target_project_id: B });
  });

  test("lists, counts and finds what is in them and nothing else", async () => {
    expect(await contents({}, bound)).toEqual(["project proj_a"]);
    expect(await contents({ q: "user" }, bound)).toEqual([]);
    expect(await contents({ layer: "global" }, bound)).toEqual([]);
    const projects = await services.projects.list(bound, EVERYTHING);
    expect([projects.total, projects.items.map(({ id }) => id)]).toEqual([1, [A]]);
    expect(projects.items[0]?.connected_project_ids).toEqual([]);
    const sessions = await services.sessions.list(bound, EVERYTHING);
    expect([sessions.total, sessions.items.map(({ id }) => id)]).toEqual([1, [session(A).id]]);
    const details = await services.projects.get(bound, A);
    expect(details.connected).toEqual([]);
    const stats = await services.stats.get(bound);
    expect(stats).toMatchObject({
      projects: 1,
      connections: 0,
      memories: { total: 1, project: 1, user: 0, global: 0 },
      sessions: 1,
    });
    expect(stats.storage_bytes).toBeLessThan((await services.stats.get(me)).storage_bytes);
    const positions = await services.live.positions(bound, [A, B]);
    expect(positions.map(({ projectId: id }) => id)).toEqual([A]);
  });

  test("a token that is bound to projects neither reads nor takes over a session of no project", async () => {
    const alone = { documents: {}, sessions: [session(C)] };
    await services.sync.exchange(me, null, { ...alone, createMissing: false });
    expect((await services.sessions.get(me, session(C).id)).project_id).toBeNull();
    expect(await refusal(() => services.sessions.get(bound, session(C).id))).toBe("forbidden");
    await syncOf(A);
    const upload = { sessions: [{ ...session(C), message_count: 99 }] };
    const take = () => services.sync.apply(bound, A, { payload: upload, createMissing: false });
    expect(await refusal(take)).toBe("forbidden");
    expect((await services.sessions.get(me, session(C).id)).project_id).toBeNull();
  });

  test("a token that is bound to projects is refused what it names beyond them", async () => {
    const [memory] = (await services.memories.list(me, { ...EVERYTHING, projectId: B })).items;
    const pair = { project_id: A, target_project_id: B };
    const upload = { sessions: [session(B)] };
    const refused: Record<string, () => Promise<unknown>> = {
      read: () => services.projects.get(bound, B),
      list: () => contents({ projectId: B }, bound),
      header: () => contents({ headerProjectId: B }, bound),
      put: () => services.projects.put(bound, { id: B }),
      putNew: () => services.projects.put(bound, { name: "new" }),
      sync: () => syncOf(B, bound),
      syncNew: () => syncOf(C, bound),
      syncRead: () => services.sync.read(bound, B),
      exchange: () => services.sync.exchange(bound, B, { documents: {}, createMissing: true }),
      create: () => create("project", { by: bound, project: B }),
      createGlobal: () => create("global", { by: bound }),
      createUser: () => create("user", { by: bound }),
      remove: () => services.memories.remove(bound, memory?.id as MemoryId),
      connect: () => services.connections.connect(bound, pair),
      disconnect: () => services.connections.disconnect(bound, pair),
      session: () => services.sessions.get(bound, session(B).id),
      sessions: () => services.sessions.list(bound, { ...EVERYTHING, projectId: B }),
      takeSession: () => services.sync.apply(bound, A, { payload: upload, createMissing: false }),
    };
    const outcomes: Record<string, unknown> = {};
    for (const [name, call] of Object.entries(refused)) outcomes[name] = await refusal(call);
    const names = Object.keys(refused);
    expect(outcomes).toEqual(Object.fromEntries(names.map((name) => [name, "forbidden"])));
    expect((await services.sessions.get(me, session(B).id)).project_id).toBe(B);
    expect((await services.projects.list(me, EVERYTHING)).total).toBe(2);
  });
});

describe("a reader", () => {
  test("a reader writes nothing anywhere", async () => {
    await syncOf(A);
    await syncOf(B);
    const { id } = await create("global");
    const reader = caller({ canWrite: false });
    const pair = { project_id: A, target_project_id: B };
    const calls = [
      () => create("global", { by: reader }),
      () => services.memories.remove(reader, id),
      () => services.projects.put(reader, { name: "x" }),
      () => services.connections.connect(reader, pair),
      () => services.connections.disconnect(reader, pair),
      () => syncOf(C, reader),
    ];
    for (const call of calls) expect(await refusal(call)).toBe("forbidden");
    expect((await counts.read(me)).day.used).toBe(0);
  });
});
