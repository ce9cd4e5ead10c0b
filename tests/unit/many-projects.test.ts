import { expect, test } from "bun:test";
import { projectId } from "../support/project-id.ts";
import { caller, createTestServices } from "../support/test-services.ts";

const ME = caller();
const PAGE = { limit: undefined, cursor: undefined };
const IDS = Array.from({ length: 40 }, (_, at) => projectId(`p${at}`));

async function createMany() {
  let pauses = 0;
  const { services } = await createTestServices({ pause: async () => void pauses++ });
  for (const [at, id] of IDS.entries()) {
    await services.projects.put(ME, { id, name: `Name ${at}`, metadata: { at } });
    const memories = [{ key: `key-${at}`, value: "é" }];
    await services.sync.apply(ME, id, { payload: { memories }, createMissing: false });
  }
  const [first = projectId("p0"), ...others] = IDS;
  for (const other of others.slice(0, 20)) {
    await services.connections.connect(ME, { project_id: first, target_project_id: other });
  }
  pauses = 0;
  return { services, first, others, pauses: () => pauses };
}

test("projects are listed one after another, and each is whole", async () => {
  const { services, first, others, pauses } = await createMany();
  const { items, total } = await services.projects.list(ME, PAGE);
  expect(pauses()).toBeGreaterThanOrEqual(IDS.length);
  expect(total).toBe(IDS.length);
  const connected = others.slice(0, 20).sort();
  for (const [at, id] of IDS.entries()) {
    expect(items.find((item) => item.id === id)).toMatchObject({
      name: `Name ${at}`,
      metadata: { at },
      memory_count: 1,
      connected_project_ids: at === 0 ? connected : at <= 20 ? [first] : [],
    });
  }
});

test("connected projects are read one after another", async () => {
  const { services, first, others, pauses } = await createMany();
  const { connected } = await services.projects.get(ME, first);
  expect(pauses()).toBeGreaterThanOrEqual(20);
  expect(connected.map(({ id }) => id)).toEqual(others.slice(0, 20).sort());
  for (const { id, name, memories } of connected) {
    const at = IDS.indexOf(id);
    expect({ name, memories }).toEqual({
      name: `Name ${at}`,
      memories: [{ key: `key-${at}`, value: "é" }],
    });
  }
});

test("statistics are counted document by document", async () => {
  const { services, pauses } = await createMany();
  const stats = await services.stats.get(ME);
  expect(pauses()).toBeGreaterThanOrEqual(IDS.length);
  expect(stats.memories).toEqual({ total: 40, project: 40, user: 0, global: 0 });
  const bytes = IDS.reduce((sum, _, at) => sum + `key-${at}é`.length + 1 + `at${at}`.length, 0);
  expect(stats.storage_bytes).toBe(bytes);
});

test("a name is looked for in the projects one after another", async () => {
  const { services, pauses } = await createMany();
  expect(await services.projects.put(ME, { name: "Name 7" })).toMatchObject({ id: IDS[7] });
  expect(pauses()).toBeGreaterThanOrEqual(3);
});
