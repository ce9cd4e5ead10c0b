import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "../../cli/place/environment.ts";
import { findEmbedded, moveEmbedded } from "../../cli/writes/move-embedded.ts";
import { changeRemotes, listRemotesOf } from "../../cli/writes/remote-changes.ts";
import { saveMemory } from "../../cli/writes/save.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";

const home = mkdtempSync(join(tmpdir(), "memsync-move-embedded-"));
const env = readEnvironment({ MEMSYNC_HOME: home });

afterAll(() => rmSync(home, { recursive: true }));

const USER = { layer: "user", document: `user/${LOCAL_USER}` } as const;
const GLOBAL = { layer: "global", document: "global" } as const;

async function save({ layer, document }: typeof USER | typeof GLOBAL, key: string) {
  const place = { layer, document, account: LOCAL_ACCOUNT, remote: undefined };
  await saveMemory(env, place, { key, value: `value of ${key}` });
}

async function holdings(): Promise<Record<string, object>> {
  const remotes = await listRemotesOf(env);
  return Object.fromEntries(remotes.map(({ name, memories }) => [name, memories]));
}

test("what comes into global once nothing was there to ask about is not moved", async () => {
  await save(USER, "mine");
  const url = "https://team.example.com";
  const { remote } = await changeRemotes(env, { op: "add", name: "team", url });
  const embedded = await findEmbedded(env);
  if (!embedded) throw new Error("a memory was saved there");
  expect(embedded.memories).toEqual({ user: 1, global: 0 });
  await save(GLOBAL, "late");
  const said: string[] = [];
  const tell = (line: string) => said.push(line);
  await moveEmbedded(env, embedded, { remote, all: true, yes: true, tell });
  expect(await holdings()).toEqual({
    embedded: { user: 0, global: 1 },
    team: { user: 1, global: 0 },
  });
  expect(said[0]).toBe("moved 1 memory of the layer user");
  expect(said[1]).toStartWith("1 memory of the layer global stays in the embedded service; ");
});
