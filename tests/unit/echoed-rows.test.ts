import { afterEach, expect, test } from "bun:test";
import * as Y from "yjs";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { echoIn } from "../../daemon/home/outgoing.ts";
import { LIMITS } from "../../shared/limits.ts";
import { listTextConflicts } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { seedText } from "../../shared/replica/document/seed.ts";
import { nameMachine } from "../../shared/replica/log/machines.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { projectId } from "../support/project-id.ts";
import { seededRandom } from "../support/random.ts";
import { type Machine, SyncCluster } from "../support/sync-cluster.ts";

const NOW = 1000;
const CALLS_MAX = 50;

const CONTENT = "# Rules\n\none\nmoved\ntwo\nthree\n";
const DELETED = "# Rules\n\none\ntwo\nthree\n";
const MOVED = "# Rules\n\none\ntwo\nthree\nmoved\n";

const opened: SyncCluster[] = [];

afterEach(async () => {
  for (const cluster of opened.splice(0)) await cluster.stop();
});

/** Two machines that the service has answered, and that have each written there. */
async function startTwo() {
  const cluster = new SyncCluster(seededRandom(1));
  opened.push(cluster);
  await cluster.startNamed(["mover", "deleter"]);
  const [mover, deleter] = cluster.machines;
  if (!mover || !deleter) throw new Error("there are two machines");
  await remember(mover, "first", "1");
  await remember(deleter, "second", "2");
  await settle(mover, deleter, mover);
  return { cluster, mover, deleter };
}

/** The same, and both have the text. */
async function startWithText() {
  const two = await startTwo();
  await save(two.deleter, CONTENT);
  await settle(two.deleter, two.mover);
  return two;
}

async function settle(...machines: readonly Machine[]): Promise<void> {
  for (const machine of machines) {
    let calls = 0;
    while (!(await machine.sync("none"))) {
      calls += 1;
      if (calls > CALLS_MAX) throw new Error("it comes to no end");
    }
  }
}

function remember(machine: Machine, key: string, value: string): Promise<void> {
  return machine.edit(({ document }) => {
    document.setEntry("memories", key, { value, now: NOW });
  });
}

function save(machine: Machine, text: string): Promise<void> {
  return machine.edit(({ document }) => document.setContent(text, NOW));
}

/** As a machine does that finds this file where the document never had a text. */
function seed(machine: Machine, name: string): Promise<void> {
  return machine.edit(({ document }) => {
    const client = seedText(document, CONTENT);
    nameMachine(document, client, { name, home: name, now: NOW });
  });
}

/** The texts of each conflict, as a machine has them. */
function told(machine: Machine): Promise<string[][]> {
  return machine.read(({ document }) =>
    listTextConflicts(document).map(({ versions }) => versions.map(({ text }) => text).sort()),
  );
}

const KEPT_AND_DELETED = [["", "moved\n"]];

test("what two machines wrote alike is no echo: a line that one moves and the other deletes is told", async () => {
  const { mover, deleter } = await startTwo();
  await seed(mover, "mover");
  await seed(deleter, "deleter");
  await settle(deleter);
  await save(deleter, DELETED);
  await settle(deleter);
  await save(mover, MOVED);
  await settle(mover, mover, deleter);
  expect(await told(mover)).toEqual(KEPT_AND_DELETED);
  expect(await told(deleter)).toEqual(KEPT_AND_DELETED);
});

test("the whole document is no echo: a line that one moves and the other deletes is told", async () => {
  const { cluster, mover, deleter } = await startWithText();
  await save(deleter, DELETED);
  await settle(deleter);
  for (let version = 0; version < 20; version++) {
    await remember(
      deleter,
      "second",
      String.fromCharCode(97 + version).repeat(LIMITS.memoryValueBytes / 2),
    );
    await settle(deleter);
  }
  await cluster.sweepService();
  await save(mover, MOVED);
  await settle(mover, mover, deleter);
  expect(await told(mover)).toEqual(KEPT_AND_DELETED);
  expect(await told(deleter)).toEqual(KEPT_AND_DELETED);
});

test("of what is sent after a lost answer nothing is an echo: the line is told", async () => {
  const { mover, deleter } = await startWithText();
  await save(mover, `${CONTENT}four\n`);
  expect(await mover.sync("lose answer")).toBeFalse();
  await save(deleter, DELETED);
  await settle(deleter);
  await save(mover, `${MOVED}four\n`);
  await settle(mover, mover, deleter);
  expect(await told(mover)).toEqual(KEPT_AND_DELETED);
  expect(await told(deleter)).toEqual(KEPT_AND_DELETED);
});

test("a line that was taken away before a lost answer and put elsewhere after it is nobody else's matter", async () => {
  const { mover, deleter } = await startWithText();
  await save(mover, DELETED);
  expect(await mover.sync("lose answer")).toBeFalse();
  await remember(deleter, "second", "news");
  await settle(deleter);
  await save(mover, MOVED);
  await settle(mover, mover, deleter);
  expect(await told(mover)).toEqual([]);
  expect(await told(deleter)).toEqual([]);
});

test("a move whose answer was lost is no conflict when it comes back", async () => {
  const { mover, deleter } = await startWithText();
  await save(mover, MOVED);
  expect(await mover.sync("lose answer")).toBeFalse();
  await remember(deleter, "second", "news");
  await settle(deleter);
  await settle(mover, mover, deleter);
  expect(await told(mover)).toEqual([]);
  expect(await told(deleter)).toEqual([]);
});

const ADDED = `${CONTENT}first rule\nsecond rule\nthird rule\n`;

/** What two machines make of one line that the service has. */
const SECOND: Record<string, readonly [mine: string, theirs: string]> = {
  "that both mend unlike": ["second rule, mine\n", "second rule, theirs\n"],
  "that another deletes": ["second rule, mine\n", ""],
  "that another mends and this machine deletes": ["", "second rule, theirs\n"],
};

for (const [what, [mine, theirs]] of Object.entries(SECOND)) {
  for (const answer of ["none", "lose answer"] as const) {
    const heard = answer === "none" ? "was heard" : "was lost";
    test(`a line ${what} is told where the answer to it ${heard}`, async () => {
      const { mover, deleter } = await startWithText();
      await save(mover, ADDED);
      expect(await mover.sync(answer)).toBe(answer === "none");
      await settle(deleter);
      await save(deleter, ADDED.replace("second rule\n", theirs));
      await settle(deleter);
      await save(mover, ADDED.replace("second rule\n", mine));
      await settle(mover, mover, deleter);
      expect(await told(mover)).toEqual([[mine, theirs].sort()]);
      expect(await told(deleter)).toEqual([[mine, theirs].sort()]);
    });
  }
}

test("a line that both mend alike after a lost answer stands once and is not told", async () => {
  const { mover, deleter } = await startWithText();
  await save(mover, ADDED);
  expect(await mover.sync("lose answer")).toBeFalse();
  await settle(deleter);
  const mended = ADDED.replace("second rule", "second rule, mended");
  await save(deleter, mended);
  await settle(deleter);
  await save(mover, mended);
  await settle(mover, mover, deleter);
  expect(await told(mover)).toEqual([]);
  for (const each of [mover, deleter]) {
    expect(await each.read(({ document }) => document.content())).toBe(mended);
  }
});
test("what is sent again after lost answers is not told where others have deleted something else", async () => {
  const { mover, deleter } = await startWithText();
  await save(mover, ADDED);
  await mover.sync("lose answer");
  await settle(deleter);
  await save(deleter, ADDED.replace("moved\n", ""));
  await settle(deleter);
  await save(mover, ADDED.replace("second rule", "second rule, mine"));
  expect(await mover.sync("lose answer")).toBeFalse();
  await settle(mover, mover, deleter);
  expect(await told(mover)).toEqual([]);
  expect(await told(deleter)).toEqual([]);
});

test("a line that both delete or mend alike while answers are lost is not told", async () => {
  for (const alike of ["", "second rule, mended\n"]) {
    const { mover, deleter } = await startWithText();
    await save(mover, ADDED);
    await mover.sync("lose answer");
    await settle(deleter);
    await save(deleter, ADDED.replace("second rule\n", alike));
    await settle(deleter);
    await save(mover, ADDED.replace("second rule\n", alike));
    expect(await mover.sync("lose answer")).toBeFalse();
    await settle(mover, mover, deleter);
    expect(await told(mover)).toEqual([]);
    expect(await told(deleter)).toEqual([]);
    for (const each of [mover, deleter]) {
      const text = await each.read(({ document }) => document.content());
      expect(text).toBe(ADDED.replace("second rule\n", alike));
    }
  }
});

test("a save in the very millisecond behind what came from others is somebody's edit", async () => {
  const store = await openReplica(":memory:", createDrivenWorld(), { machine: "mover" });
  const address = { owner: LOCAL_ACCOUNT, name: projectId("moment") };
  const write = (change: (open: OpenDocument) => unknown) =>
    store.write(async (context) => void change(await context.open(address)));
  await write(({ document }) => document.setContent(CONTENT, NOW));
  const others = new ReplicaDocument([], 7);
  others.setEntry("memories", "first", { value: "1", now: NOW });
  await write((open) => open.applyUpdate(Y.encodeStateAsUpdate(others.ydoc)));
  await write(({ document }) => document.setContent(DELETED, NOW));
  const deleted = await store.write(async (context) => {
    const { id, document } = await context.open(address);
    const update = Y.encodeStateAsUpdate(document.ydoc);
    return (await echoIn(context.db, id, { ackedSeq: 0, update }))?.putInOrder;
  });
  expect(deleted).toEqual(new Map());
  await store.close();
});
