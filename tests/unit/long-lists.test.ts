import { expect, test } from "bun:test";
import { projectId } from "../support/project-id.ts";
import { caller, createTestServices, EVERYTHING } from "../support/test-services.ts";

const ME = caller();
const PROJECT = projectId("a");
const QUERY = { ...EVERYTHING, projectId: PROJECT };

const MANY = Array.from({ length: 1500 }, (_, at) => ({ key: `key-${at}`, value: `value ${at}` }));

async function createLong() {
  const between: (() => Promise<void>)[] = [];
  let pauses = 0;
  const pause = async () => {
    pauses++;
    await between.shift()?.();
  };
  const { temp, services } = await createTestServices({ pause });
  const sync = (memories: typeof MANY, id = PROJECT) =>
    services.sync.apply(ME, id, { payload: { memories }, createMissing: true });
  await sync(MANY);
  pauses = 0;
  return { temp, services, between, sync, pauses: () => pauses };
}

test("a long list is read in turns, and is all that there is in order", async () => {
  const { temp, services, pauses } = await createLong();
  const { items, total } = await services.memories.list(ME, QUERY);
  expect(items.map(({ key }) => key)).toEqual(MANY.map(({ key }) => key));
  expect(total).toBe(MANY.length);
  expect(pauses()).toBeGreaterThan(3);
  const before = pauses();
  const page = await services.memories.list(ME, { ...QUERY, limit: 10 });
  expect(pauses()).toBe(before);
  const rest = await services.memories.list(ME, { ...QUERY, cursor: page.nextCursor ?? "" });
  expect(rest.items.map(({ key }) => key)).toEqual(MANY.slice(10).map(({ key }) => key));
  await temp.remove();
});

test("a long list is as of one moment, whatever is written between its turns", async () => {
  const { temp, services, between, sync } = await createLong();
  const changed = MANY.map(({ key }, at) => ({ key, value: `changed ${at}` }));
  let syncing: Promise<unknown> | undefined;
  between.push(() => {
    syncing = sync(changed);
    // Its answer waits until the list is read.
    return new Promise((resolve) => temp.store.onCommit(() => resolve()));
  });
  const { items } = await services.memories.list(ME, QUERY);
  expect(items.map(({ content }) => content)).toEqual(changed.map(({ value }) => value));
  await syncing;
  between.push(async () => void (await sync([{ key: "other", value: "v" }], projectId("b"))));
  expect((await services.memories.list(ME, { ...QUERY, layer: "project" })).items).toEqual(items);
  await temp.remove();
});

test("a project with a long list, and one that is connected to it, are read in turns", async () => {
  const { temp, services, sync, pauses } = await createLong();
  const other = projectId("b");
  await sync([{ key: "k", value: "v" }], other);
  await services.connections.connect(ME, { project_id: PROJECT, target_project_id: other });
  const before = pauses();
  const { memories } = await services.projects.get(ME, PROJECT);
  expect(memories.map(({ content }) => content)).toEqual(MANY.map(({ value }) => value));
  expect((await services.sync.read(ME, PROJECT)).memories).toEqual(MANY);
  const { connected } = await services.projects.get(ME, other);
  expect(connected[0]?.memories).toEqual(MANY);
  expect(pauses() - before).toBeGreaterThanOrEqual(3 * 2);
  await temp.remove();
});

test("a project's text and memories are as of one moment, whatever is written meanwhile", async () => {
  const { temp, services, between } = await createLong();
  const write = (to: string) => {
    const memories = MANY.map(({ key }) => ({ key, value: to }));
    const payload = { memories, claude_md_content: `${to}\n`, metadata: { is: to } };
    return services.sync.apply(ME, PROJECT, { payload, createMissing: true });
  };
  // The write comes in each of the pauses of a reading.
  for (const at of [0, 1, 2, 3]) {
    await write(`before ${at}`);
    let syncing: Promise<unknown> | undefined;
    const meanwhile = (to: string) => {
      for (let passed = 0; passed < at; passed += 1) between.push(async () => {});
      between.push(() => {
        syncing = write(to);
        // Its answer waits until the list is read.
        return new Promise((resolve) => temp.store.onCommit(() => resolve()));
      });
    };
    meanwhile(`after ${at}`);
    const { claudeMdContent, memories } = await services.projects.get(ME, PROJECT);
    between.length = 0;
    await syncing;
    expect(claudeMdContent).toBe(`${memories[0]?.content}\n`);
    meanwhile(`last ${at}`);
    const read = await services.sync.read(ME, PROJECT);
    between.length = 0;
    await syncing;
    expect(read.claude_md_content).toBe(`${read.memories[0]?.value}\n`);
    expect(read.metadata).toEqual({ is: read.memories[0]?.value ?? "" });
  }
  await temp.remove();
});

test("lists that are asked for at the same time are each as if they were alone", async () => {
  const { temp, services } = await createLong();
  const queries = [QUERY, { ...QUERY, layer: "project" as const }, QUERY];
  const pages = await Promise.all(queries.map((query) => services.memories.list(ME, query)));
  for (const { items } of pages) {
    expect(items.map(({ content }) => content)).toEqual(MANY.map(({ value }) => value));
  }
  await temp.remove();
});

test("a list that many ask for at once is read once, and is never older than a write", async () => {
  const { temp, services, between, sync } = await createLong();
  const pages = await Promise.all([1, 2, 3].map(() => services.memories.list(ME, QUERY)));
  expect(new Set(pages).size).toBe(1);
  await sync([{ key: "before", value: "v" }]);
  let late: ReturnType<typeof services.memories.list> | undefined;
  between.push(async () => {
    await sync([{ key: "meanwhile", value: "v" }]);
    late = services.memories.list(ME, QUERY);
  });
  await services.memories.list(ME, QUERY);
  expect((await late)?.items.map(({ key }) => key)).toContain("meanwhile");
  await temp.remove();
});
