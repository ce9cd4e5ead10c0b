import { expect, test } from "bun:test";
import {
  type Emulator,
  type EmulatorSeed,
  startEmulator,
} from "../../server/emulator/start-emulator.ts";
import { ask, control, controlled } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { errorOf } from "../support/http-server.ts";
import { connectLive } from "../support/live-client.ts";

const SEED: EmulatorSeed = {
  format: 1,
  projects: [
    {
      id: "proj_a",
      name: "a",
      claude_md_content: "# A\n",
      metadata: { language: "go" },
      memories: [{ key: "build", value: "make" }],
      sessions: [],
    },
    {
      id: "proj_b",
      name: "b",
      claude_md_content: "",
      metadata: {},
      memories: [],
      sessions: [],
    },
  ],
  user: { memories: [{ key: "editor", value: "vim" }] },
  global: { memories: [{ key: "tone", value: "short" }] },
  sessions: [],
  connections: [{ project_ids: ["proj_a", "proj_b"] }],
};

async function memoriesOf(emulator: Emulator, token = "mst_dev_pro"): Promise<string[]> {
  const response = await ask(emulator, "GET /v1/memories?project_id=proj_a", { token });
  const { memories } = (await response.json()) as { memories: { content: string }[] };
  return memories.map(({ content }) => content).sort();
}

test("a seed is there from the start, and an export of it gives the same", async () => {
  await using emulator = await startEmulator({ seed: SEED });
  expect(await memoriesOf(emulator)).toEqual(["make", "short", "vim"]);
  expect(await emulator.export()).toEqual(SEED);
  const token = "mst_dev_other";
  await controlled(emulator, "POST import", { ...SEED, token });
  expect(await controlled(emulator, `GET export?token=${token}`)).toEqual({ ...SEED });
  await emulator.import({ user: { memories: [{ key: "k", value: "v" }] } }, { token });
  expect((await emulator.export({ token })).projects).toEqual([]);
});

test("a seed that is wrong changes nothing", async () => {
  await using emulator = await startEmulator({ seed: SEED });
  for (const body of [{ format: 2 }, { projects: [{}] }, { user: { memories: [{ key: "k" }] } }]) {
    expect((await control(emulator, "POST import", { body })).status).toBe(400);
  }
  expect(await emulator.export()).toEqual(SEED);
});

test("a seed with a field that none has is refused, and what is there stays", async () => {
  await using emulator = await startEmulator({ seed: SEED });
  const wrong: readonly (readonly [string, unknown])[] = [
    ["/snapshot", { snapshot: SEED }],
    ["/user/memorys", { user: { memorys: [] } }],
    ["/projects/0/memories/0/valeu", { projects: [{ name: "a", memories: [{ valeu: "x" }] }] }],
    [
      "/global/memories/1/key",
      {
        global: {
          memories: [
            { key: "k", value: "" },
            { key: "k", value: "" },
          ],
        },
      },
    ],
    ["/token", { token: 5 }],
    ["the body", [SEED]],
    ["the body", "SEED"],
    ["the body", undefined],
  ];
  for (const [place, body] of wrong) {
    for (const call of ["POST import", "POST seed"]) {
      const headers = { "content-type": "application/json" };
      const refused = await control(emulator, call, { body, headers });
      expect(refused.status).toBe(400);
      expect((await errorOf(refused)).message).toStartWith(place);
    }
    if (!place.startsWith("/") || place === "/token") continue;
    for (const call of [
      () => emulator.import(body as EmulatorSeed),
      () => emulator.seed(body as EmulatorSeed),
      () => startEmulator({ seed: body as EmulatorSeed }),
    ]) {
      expect(String(await failureOf(call))).toContain(place);
    }
  }
  expect((await control(emulator, "POST import?tokn=x", { body: SEED })).status).toBe(400);
  expect(await emulator.export()).toEqual(SEED);
});

test("an import that fails half-way leaves what was there", async () => {
  await using emulator = await startEmulator({ seed: SEED });
  const body = { ...SEED, connections: [{ project_ids: ["proj_a", "proj_none"] }] };
  expect((await control(emulator, "POST import", { body })).status).toBe(400);
  expect(await emulator.export()).toEqual(SEED);
  const token = "mst_dev_readonly";
  expect((await control(emulator, "POST import", { body: { ...SEED, token } })).status).toBe(403);
  expect(await emulator.export()).toEqual(SEED);
  expect(await memoriesOf(emulator)).toEqual(["make", "short", "vim"]);
});

test("a snapshot of one account is put back whole, and no other account changes", async () => {
  await using emulator = await startEmulator({ seed: SEED });
  const token = emulator.token;
  const other = "mst_dev_other";
  await emulator.seed(SEED, { token: other });
  await controlled(emulator, "PUT snapshots/seeded", { token });
  const note = { content: "later", layer: "user" };
  for (const each of [token, other])
    await ask(emulator, "POST /v1/memories", { token: each, body: note });
  await ask(emulator, "DELETE /api/projects/proj_b", { token });
  const live = await connectLive(emulator.url, token);
  await controlled(emulator, "POST snapshots/seeded/restore", { token });
  expect((await live.closed).reason).toBe("the emulator restored another state");
  expect(await emulator.export({ token })).toEqual(SEED);
  expect(await memoriesOf(emulator, other)).toEqual(["later", "make", "short", "vim"]);
  const found = await ask(emulator, "GET /v1/memories?q=make&project_id=proj_a", { token });
  expect(((await found.json()) as { total: number }).total).toBe(1);
  expect((await control(emulator, "POST snapshots/seeded/restore", { body: {} })).status).toBe(404);
});

test("a snapshot of all is put back, as often as one likes, over one of the same name", async () => {
  await using emulator = await startEmulator({ seed: SEED });
  await emulator.snapshots.save("s");
  await emulator.reset();
  await emulator.snapshots.save("s");
  await emulator.seed(SEED, { token: "mst_dev_late" });
  await emulator.snapshots.restore("s");
  for (const token of [emulator.token, "mst_dev_late"]) {
    expect((await emulator.export({ token })).projects).toEqual([]);
  }
  expect(emulator.snapshots.list()).toEqual(["s"]);
  await emulator.snapshots.delete("s");
  expect(emulator.snapshots.list()).toEqual([]);
});

test("of snapshots that are saved at once under one name the last one is kept", async () => {
  await using emulator = await startEmulator();
  await Promise.all([1, 2, 3].map(() => emulator.snapshots.save("s")));
  expect(emulator.snapshots.list()).toEqual(["s"]);
  await emulator.snapshots.restore("s");
  await emulator.snapshots.delete("s");
  expect(emulator.snapshots.list()).toEqual([]);
});

test("a snapshot that is deleted while it is put back is one that is not there", async () => {
  await using emulator = await startEmulator();
  await emulator.snapshots.save("s");
  const deleted = emulator.snapshots.delete("s");
  const failure = await failureOf(() => emulator.snapshots.restore("s"));
  expect(failure).toMatchObject({ code: "not_found" });
  await deleted;
  await emulator.snapshots.save("s");
  const [restored] = await Promise.allSettled([
    emulator.snapshots.restore("s"),
    emulator.snapshots.delete("s"),
  ]);
  if (restored.status === "rejected") expect(restored.reason).toMatchObject({ code: "not_found" });
});

test("a snapshot's name in an address that is no text is one that is not there", async () => {
  await using emulator = await startEmulator();
  expect((await control(emulator, "DELETE snapshots/%zz")).status).toBe(404);
});

async function tagsOf(emulator: Emulator, restores: number): Promise<string[]> {
  await emulator.snapshots.save("s");
  const tags: string[] = [];
  for (let round = 0; round <= restores; round++) {
    const response = await ask(emulator, "GET /v1/memories?project_id=proj_a");
    tags.push(response.headers.get("etag") ?? "");
    const token = round % 2 === 0 ? emulator.token : undefined;
    if (token !== undefined) await emulator.snapshots.save("s", { token });
    await emulator.snapshots.restore("s", { token });
  }
  return tags;
}

test("no tag is that of a state that was there before it was put back", async () => {
  await using emulator = await startEmulator({ seed: SEED });
  const tags = await tagsOf(emulator, 3);
  await emulator.reset();
  await emulator.seed(SEED);
  tags.push(...(await tagsOf(emulator, 1)));
  await emulator.reset({ token: emulator.token });
  await emulator.seed(SEED);
  tags.push(...(await tagsOf(emulator, 0)));
  expect(new Set(tags).size).toBe(7);
  const path = "GET /v1/memories?project_id=proj_a";
  const known = async (...listed: readonly string[]) => {
    const headers = { "if-none-match": listed.join(", ") };
    return (await ask(emulator, path, { headers })).status;
  };
  const now = (await ask(emulator, path)).headers.get("etag") ?? "";
  expect(await known(...tags)).toBe(200);
  expect([await known(now), await known(...tags, `W/${now}`), await known("*")]).toEqual([
    304, 304, 304,
  ]);
});

test("tags repeat for a seed, over two runs and after a reset", async () => {
  const options = { clock: "2026-01-01T00:00:00Z", random: 1, seed: SEED };
  await using emulator = await startEmulator(options);
  await using other = await startEmulator(options);
  const first = await tagsOf(emulator, 2);
  expect(new Set(first).size).toBe(3);
  expect(await tagsOf(other, 2)).toEqual(first);
  await emulator.reset();
  await emulator.seed(SEED);
  expect(await tagsOf(emulator, 2)).toEqual(first);
});

test("what is written after a snapshot was put back has positions that no client knows", async () => {
  await using emulator = await startEmulator();
  const position = async () => {
    const body = { crdt: { encoding: "yjs-v1", documents: { user: { state_vector: "AA==" } } } };
    const text = await (await ask(emulator, "POST /api/sync", { body })).text();
    return /"epoch":"([^"]*)","seq":(\d+)/.exec(text)?.slice(1).join(" ");
  };
  const write = (content: string) =>
    ask(emulator, "POST /v1/memories", { body: { content, layer: "user", key: "k" } });
  await write("1");
  await emulator.snapshots.save("s");
  const seen = new Set<string | undefined>();
  for (let round = 0; round < 3; round++) {
    await write(`round ${round}`);
    seen.add(await position());
    await emulator.snapshots.restore("s");
  }
  expect(seen.size).toBe(3);
});
