import { expect } from "bun:test";
import { cp, rm } from "node:fs/promises";
import type { EmulatorProcess } from "../support/emulator-process.ts";
import { type Lab, scenario } from "../support/lab.ts";
import { accountForLines } from "../support/line-accounts.ts";
import type { Machine } from "../support/machine.ts";
import { seededRandom } from "../support/random.ts";
import { fileHistory, memoryChanges } from "../support/real-data.ts";
import { FILE, readFollowed, saveSomehow, untilEqual } from "../support/replay.ts";
import { waitFor } from "../support/wait-for.ts";

const HISTORY = fileHistory("mock-server+mockserver.AGENTS.md.jsonl");

interface Cluster {
  readonly emulator: EmulatorProcess;
  readonly data: string;
  readonly a: Machine;
  readonly b: Machine;
}

/** Two machines on an emulator that keeps its data in a folder. */
async function startCluster(lab: Lab): Promise<Cluster> {
  const data = lab.git.path("data");
  const emulator = await lab.emulator(data);
  const files = { ".gitignore": FILE, "README.md": "" };
  const [a, b] = await lab.twoMachines(emulator.account("pro"), files);
  await Promise.all([a.up(), b.up()]);
  return { emulator, data, a, b };
}

async function untilAllEqual({ a, b }: Cluster): Promise<void> {
  await waitFor("both machines to hold the same memories", async () => {
    await Promise.all([a.syncOnce(), b.syncOnce()]);
    return Bun.deepEquals(await memoriesOf(a), await memoriesOf(b));
  });
  await untilEqual([{ a: a.folder, b: b.folder }], a, b);
}

async function memoriesOf(machine: Machine): Promise<Record<string, string>> {
  const memories = await machine.list();
  return Object.fromEntries(memories.map(({ key, value }) => [key, value]).sort());
}

scenario("a server killed midway and started again loses nobody's work", async (lab) => {
  const cluster = await startCluster(lab);
  const { emulator, a, b } = cluster;
  const random = seededRandom(7);
  const half = Math.floor(HISTORY.versions.length / 2);
  for (const version of HISTORY.versions.slice(0, half)) {
    await saveSomehow(a.folder, version, random);
    await a.syncOnce();
  }
  const killed = emulator.end("SIGKILL");
  for (const [i, version] of HISTORY.versions.slice(half).entries()) {
    await saveSomehow(a.folder, version, random);
    await b.memsync("set", `from-b-${i}`, `written while the server was away, ${i}`);
    await a.syncOnce();
  }
  await killed;
  await emulator.again();
  await untilAllEqual(cluster);
  expect(await readFollowed(b.folder)).toBe(HISTORY.versions.at(-1) ?? "");
  expect(await a.list()).toHaveLength(HISTORY.versions.length - half);
});

scenario("a server killed again and again under load ends with everything", async (lab) => {
  const cluster = await startCluster(lab);
  const { emulator, a, b } = cluster;
  const seed = 20;
  const random = seededRandom(seed);
  const changes = memoryChanges().filter(({ op }) => op === "set");
  for (const [i, change] of changes.entries()) {
    const machine = random() < 0.5 ? a : b;
    const value = change.op === "set" ? change.value : "";
    await machine.ask("POST", "/v1/memories", {
      key: `${i} ${change.key}`,
      content: value,
      project_id: (await machine.projectOf()).id,
    });
    if (random() < 0.15) {
      await emulator.end("SIGKILL");
      await emulator.again();
    }
  }
  await untilAllEqual(cluster);
  expect(await a.list()).toHaveLength(changes.length);
});

scenario("a server put back to an older copy gets everything again", async (lab) => {
  const cluster = await startCluster(lab);
  const { emulator, data, a, b } = cluster;
  await saveSomehow(a.folder, "# One\n\nfrom a\n", seededRandom(1));
  await a.memsync("set", "before", "1");
  await untilAllEqual(cluster);
  await emulator.end();
  await cp(data, `${data}-copy`, { recursive: true });
  await emulator.again();
  await saveSomehow(b.folder, "# One\n\nfrom a\n\nfrom b\n", seededRandom(1));
  await b.memsync("set", "after", "2");
  await a.memsync("rm", "before");
  await untilAllEqual(cluster);
  await emulator.end();
  await rm(data, { recursive: true });
  await cp(`${data}-copy`, data, { recursive: true });
  await emulator.again();
  await a.memsync("set", "later", "3");
  await untilAllEqual(cluster);
  expect(await readFollowed(a.folder)).toBe("# One\n\nfrom a\n\nfrom b\n");
  const keys = (await b.list()).map(({ key }) => key);
  expect(keys.sort()).toEqual(["after", "later"]);
});

scenario(
  "a server put back and written to until its log is as long again is found out",
  async (lab) => {
    const cluster = await startCluster(lab);
    const { emulator, data, a, b } = cluster;
    await a.memsync("set", "before", "1");
    await saveSomehow(a.folder, "# One\n", seededRandom(1));
    await untilAllEqual(cluster);
    await emulator.end();
    await cp(data, `${data}-copy`, { recursive: true });
    await emulator.again();
    await b.memsync("set", "after", "2");
    await a.memsync("rm", "before");
    await saveSomehow(b.folder, "# One\n\nfrom b\n", seededRandom(1));
    await untilAllEqual(cluster);
    const { id } = await a.projectOf();
    await Promise.all([a.down(), b.down()]);
    const reached = await seqOf(emulator, id);
    await emulator.end();
    await rm(data, { recursive: true });
    await cp(`${data}-copy`, data, { recursive: true });
    await emulator.again();
    for (let at = 0; (await seqOf(emulator, id)) < reached + 3; at++) await write(emulator, id, at);
    await Promise.all([a.up(), b.up()]);
    await untilAllEqual(cluster);
    expect(await readFollowed(a.folder)).toBe("# One\n\nfrom b\n");
    const memories = await memoriesOf(b);
    expect(Object.keys(memories)).toEqual(["after", "elsewhere"]);
    await waitFor("the server to have the same", async () => {
      const project = await ask(emulator, "GET", `/api/projects/${id}`);
      const { memories: there } = project as { memories: { key: string; value: string }[] };
      const all = Object.fromEntries(there.map(({ key, value }) => [key, value]).sort());
      return Bun.deepEquals(all, memories);
    });
  },
);

async function ask(emulator: EmulatorProcess, method: string, path: string, body?: object) {
  const response = await fetch(`${emulator.url}${path}`, {
    method,
    headers: { authorization: "Bearer mst_dev_pro" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return await response.json();
}

/** Somebody writes through the published interface alone. */
async function write(emulator: EmulatorProcess, project: string, at: number): Promise<void> {
  const memories = [{ key: "elsewhere", value: `${at}` }];
  await ask(emulator, "POST", `/api/projects/${project}/sync`, { memories });
}

/** How long the server's log of a project is. */
async function seqOf(emulator: EmulatorProcess, project: string): Promise<number> {
  const crdt = { encoding: "yjs-v1", documents: { project: { state_vector: "AA==" } } };
  const answer = await ask(emulator, "POST", `/api/projects/${project}/sync`, { crdt });
  return (answer as { crdt: { documents: { project: { seq: number } } } }).crdt.documents.project
    .seq;
}

scenario("an emptied server gets everything again from the machines", async (lab) => {
  const cluster = await startCluster(lab);
  const { emulator, data, a, b } = cluster;
  const start = "# Start\n";
  await saveSomehow(a.folder, start, seededRandom(1));
  await untilAllEqual(cluster);
  await emulator.end("SIGKILL");
  await rm(data, { recursive: true });
  const ofA = `${start}\nof a\n`;
  const ofB = `${start}\nof b\n`;
  await saveSomehow(a.folder, ofA, seededRandom(1));
  await saveSomehow(b.folder, ofB, seededRandom(1));
  await Promise.all([a.syncOnce(), b.syncOnce()]);
  await emulator.again();
  await untilAllEqual(cluster);
  const merged = await readFollowed(a.folder);
  expect(accountForLines(merged, [start, ofA], [start, ofB])).toEqual({ lost: [], invented: [] });
  await waitFor("the server to have it, too", async () => {
    const { id } = await a.projectOf();
    const response = await fetch(`${emulator.url}/api/projects/${id}`, {
      headers: { Authorization: "Bearer mst_dev_pro" },
    });
    const project = (await response.json()) as { claude_md_content?: string };
    return project.claude_md_content === merged;
  });
});
