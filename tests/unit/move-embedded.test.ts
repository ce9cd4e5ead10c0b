import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "../../cli/place/environment.ts";
import { byHolder } from "../../cli/writes/by-holder.ts";
import { findEmbedded, moveEmbedded } from "../../cli/writes/move-embedded.ts";
import { changeRemotes, listRemotesOf } from "../../cli/writes/remote-changes.ts";
import { saveMemory } from "../../cli/writes/save.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import { EMBEDDED } from "../../daemon/home/remote.ts";
import { listRemotes } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { getRemote } from "../../daemon/remotes/remote-view.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";

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
  await moveEmbedded(env, embedded, { remote, all: true, yes: true, ofAnother: false, tell });
  expect(await holdings()).toEqual({
    embedded: { user: 0, global: 1 },
    team: { user: 1, global: 0 },
  });
  expect(said[0]).toBe("moved 1 memory of the layer user");
  expect(said[1]).toStartWith("1 memory of the layer global stays in the embedded service; ");
});

test("a project with what is private stays whole, and the others are moved", async () => {
  const [kept, free] = [projectId("kept"), projectId("free")];
  const values = new Map<ProjectId, string>([
    [kept, PLANTED.github],
    [free, "fine"],
  ]);
  const byDaemon = () => Promise.reject(new Error("no daemon runs"));
  const alone = (store: ReplicaStore<DaemonTables>) =>
    store.write(async (context) => {
      const { account } = getRemote(await listRemotes(context.db), EMBEDDED);
      for (const [project, value] of values) {
        const { document } = await context.open(projectDocument(account, project));
        document.setEntry("memories", "note", { value, now: context.now });
      }
    });
  const url = "https://team.example.com";
  const { remote } = await changeRemotes(env, { op: "add", name: "team", url });
  await byHolder(env.home, { byDaemon, alone });
  const embedded = await findEmbedded(env);
  if (!embedded) throw new Error("two projects are there");
  const said: string[] = [];
  const tell = (line: string) => said.push(line);
  const { projects } = await moveEmbedded(env, embedded, {
    remote,
    all: true,
    yes: true,
    ofAnother: false,
    tell,
  });
  expect(projects).toEqual([free]);
  expect(said.at(-1)).toStartWith("1 project stays in the embedded service; ");
});
