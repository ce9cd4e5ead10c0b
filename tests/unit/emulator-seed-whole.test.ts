import { expect, setDefaultTimeout, test } from "bun:test";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { ask, control } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { errorOf } from "../support/http-server.ts";

setDefaultTimeout(30_000);

const project = (id: string) => ({ id, name: id, memories: [{ key: "k", value: id }] });
const MANY = Array.from({ length: 25 }, (_, at) => `proj_p${at}`);

const REFUSED: readonly (readonly [string, object])[] = [
  ["/connections/0", { connections: [{ project_ids: ["proj_kept", "proj_none"] }] }],
  [
    "/connections/20",
    {
      connections: MANY.slice(1).map((id) => ({ project_ids: ["proj_p0", id] })),
    },
  ],
];

for (const [place, wrong] of REFUSED) {
  test(`a seed that is refused at ${place} leaves nothing, and the refusal names the place`, async () => {
    await using emulator = await startEmulator();
    await emulator.seed({ projects: [project("proj_kept")] });
    const before = await emulator.export();
    const seed = {
      user: { memories: [{ key: "new", value: "x" }] },
      projects: MANY.map(project),
      ...wrong,
    };
    expect(String(await failureOf(() => emulator.seed(seed as never)))).toContain(place);
    expect(await emulator.export()).toEqual(before);
    for (const call of ["POST seed", "POST import"]) {
      const refused = await control(emulator, call, { body: seed });
      expect(refused.status).toBe(400);
      expect((await errorOf(refused)).message).toContain(place);
      expect(await emulator.export()).toEqual(before);
    }
    // What was put back can be written to.
    const body = { memories: [{ key: "after", value: "y" }] };
    expect((await ask(emulator, "POST /v1/projects/proj_kept/sync", { body })).status).toBe(200);
  });
}

test("a project that a seed has twice is refused, by its id or by its name", async () => {
  await using emulator = await startEmulator();
  const [one, other] = [project("proj_a"), project("proj_a")];
  for (const [place, projects] of [
    ["/projects/1/id", [one, other]],
    ["/projects/1/name", [one, { name: "proj_a" }]],
    ["/projects/1/name", [{ name: "b" }, { name: "b" }]],
  ] as const) {
    expect(String(await failureOf(() => emulator.seed({ projects })))).toContain(place);
  }
  const same = [project("proj_a"), { ...project("proj_b"), name: "proj_a" }];
  expect(await emulator.seed({ projects: same })).toEqual({ projects: 2, memories: 2 });
});
