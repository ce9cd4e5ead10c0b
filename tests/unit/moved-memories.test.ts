import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import * as Y from "yjs";
import { listConflicts, type MoveConflict } from "../../cli/local/local-conflicts.ts";
import { moveWrites } from "../../cli/writes/move-memory.ts";
import { settleMove } from "../../cli/writes/settle-move.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox, type InboxWrite } from "../../daemon/inbox/inbox.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { projectId } from "../support/project-id.ts";
import { pick, seededRandom } from "../support/random.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const PROJECT: string = projectId("moved-memories");
const USER = `user/${LOCAL_USER}`;
const GLOBAL = "global";
const PLACES = [PROJECT, USER, GLOBAL];
const KEY = "build";

/** A machine as its commands write: into the inbox, which is taken over at once. */
class Machine {
  /** Of each document the deeds that it has integrated. */
  readonly saw = new Map(PLACES.map((place) => [place, new Set<Deed>()]));
  readonly store: ReplicaStore<DaemonTables>;

  constructor(store: ReplicaStore<DaemonTables>) {
    this.store = store;
  }

  static async start(name: string): Promise<Machine> {
    return new Machine(await openReplica(":memory:", realWorld, { machine: name }));
  }

  async memory(document: string) {
    const all = await readLocalMemories(this.store.reader, document);
    return all.find(({ key }) => key === KEY);
  }

  async set(document: string, value: string): Promise<void> {
    await this.save([await this.#write(document, value)]);
  }

  async rm(document: string): Promise<void> {
    await this.save([await this.#write(document, undefined)]);
  }

  async #write(document: string, value: string | undefined): Promise<InboxWrite> {
    const seen = (await this.memory(document))?.seen ?? [];
    return { kind: "memory", document, key: KEY, value, seen, writtenAt: now() };
  }

  async move(from: string, to: string): Promise<void> {
    const memory = await this.memory(from);
    if (!memory) throw new Error(`${from} has none`);
    const account = LOCAL_ACCOUNT;
    const place = { document: from, account };
    const target = { document: to, account };
    await this.save(moveWrites({ memory, place, target }, now()));
  }

  async save(writes: readonly InboxWrite[]): Promise<void> {
    await this.store.write(async ({ db }) => {
      for (const write of writes) await appendToInbox(db, write);
    });
    await drainInbox(this.store);
  }

  /** Takes one document of another machine in. */
  async hear(other: Machine, name: string): Promise<void> {
    const address = { owner: LOCAL_ACCOUNT, name };
    const update = await other.store.write(async (context) => {
      return Y.encodeStateAsUpdate((await context.open(address)).document.ydoc);
    });
    await this.store.write(async (context) => {
      expect((await context.open(address)).applyUpdate(update).kind).toBe("admitted");
    });
    for (const deed of other.saw.get(name) ?? []) this.saw.get(name)?.add(deed);
  }

  async moves(): Promise<MoveConflict[]> {
    const all = await listConflicts(this.store.reader);
    return all.flatMap((each) => (each.kind === "move" ? [each] : []));
  }

  /** What each of the conflicts offers, and where the memory stands. */
  async shown() {
    const conflicts = (await listConflicts(this.store.reader)).map((each) => {
      if (each.kind !== "move") return each.kind;
      return each.moved.outcomes.map(({ standing }) => standing?.document.layer ?? "deleted");
    });
    const standing: string[] = [];
    for (const place of PLACES) {
      const memory = await this.memory(place);
      if (memory) standing.push(`${memory.layer}: ${memory.value}`);
    }
    return { conflicts, standing };
  }

  async settle(number: number | undefined): Promise<void> {
    const [conflict] = await this.moves();
    if (!conflict) throw new Error("there is no such conflict");
    const chosen = number === undefined ? undefined : conflict.moved.outcomes[number - 1];
    await this.save(settleMove(conflict, chosen, now()));
  }
}

/** What somebody did to a document. */
interface Deed {
  readonly does: "write" | "rm" | "move";
  readonly document: string;
  /** Of a move: what it wrote in its other document. */
  readonly value: string | undefined;
  readonly to?: string;
  readonly saw: ReadonlySet<Deed>;
}

let time: number;
let machines: Machine[];

function now(): number {
  time += 1;
  return time;
}

async function meet(places: readonly string[] = PLACES): Promise<void> {
  for (let round = 0; round < 2; round++) {
    for (const name of places) {
      for (const one of machines) {
        for (const other of machines) if (one !== other) await one.hear(other, name);
      }
    }
  }
}

function threeMachines(): [Machine, Machine, Machine] {
  const [a, b, c] = machines;
  if (!a || !b || !c) throw new Error("three are started");
  return [a, b, c];
}

async function expectEverywhere(shown: Awaited<ReturnType<Machine["shown"]>>): Promise<void> {
  for (const machine of machines) expect(await machine.shown()).toEqual(shown);
}

beforeEach(async () => {
  time = 1000;
  machines = await Promise.all(["a", "b", "c"].map(Machine.start));
  await machines[0]?.set(PROJECT, "base");
  await meet();
});

afterEach(async () => {
  await Promise.all(machines.map(({ store }) => store.close()));
});

test("a memory that one deletes and another moves is told, whichever document comes first", async () => {
  const [a, b, c] = threeMachines();
  await a.rm(PROJECT);
  await b.move(PROJECT, USER);
  await meet([USER]);
  await meet([PROJECT]);
  await expectEverywhere({ conflicts: [["user", "deleted"]], standing: ["user: base"] });
  const [first, ...others] = await Promise.all(machines.map((each) => each.moves()));
  for (const other of others)
    expect(other.map(({ id }) => id)).toEqual((first ?? []).map(({ id }) => id));
  expect(first?.[0]?.moved.outcomes.map(({ machine }) => machine)).toEqual(["b", "a"]);
  await c.settle(1);
  await meet();
  await expectEverywhere({ conflicts: [], standing: ["user: base"] });
});

test("where the deletion is chosen, the memory goes from where it was moved to", async () => {
  const [a, b] = threeMachines();
  await b.move(PROJECT, USER);
  await a.rm(PROJECT);
  await meet();
  await a.settle(2);
  expect(await a.shown()).toEqual({ conflicts: [], standing: [] });
  await meet();
  await expectEverywhere({ conflicts: [], standing: [] });
});

test("what was written and then moved is told like what was moved alone", async () => {
  const [a, b] = threeMachines();
  await a.rm(PROJECT);
  await b.set(PROJECT, "edit");
  await b.move(PROJECT, USER);
  await meet();
  await expectEverywhere({ conflicts: [["user", "deleted"]], standing: ["user: edit"] });
});

test("a memory that is moved to two layers is told, and stays in the one that is chosen", async () => {
  for (const [choice, standing] of [
    [1, ["global: base"]],
    [2, ["user: base"]],
    [undefined, ["user: base", "global: base"]],
  ] as const) {
    const [a, b] = threeMachines();
    await a.move(PROJECT, USER);
    await b.move(PROJECT, GLOBAL);
    await meet();
    const both = ["user: base", "global: base"];
    await expectEverywhere({ conflicts: [["global", "user"]], standing: both });
    await a.settle(choice);
    await meet();
    await expectEverywhere({ conflicts: [], standing: [...standing] });
    for (const place of [USER, GLOBAL]) if (await a.memory(place)) await a.rm(place);
    await a.set(PROJECT, "base");
    await meet();
    await expectEverywhere({ conflicts: [], standing: ["project: base"] });
  }
});

test("a memory is followed to where it was moved on, or deleted", async () => {
  const [a, b] = threeMachines();
  await a.rm(PROJECT);
  await b.move(PROJECT, USER);
  await b.move(USER, GLOBAL);
  await meet();
  await expectEverywhere({ conflicts: [["global", "deleted"]], standing: ["global: base"] });
  await a.settle(1);
  await a.move(GLOBAL, PROJECT);
  await meet();
  await expectEverywhere({ conflicts: [], standing: ["project: base"] });
  await a.move(PROJECT, USER);
  await b.move(PROJECT, GLOBAL);
  await b.rm(GLOBAL);
  await meet();
  await expectEverywhere({ conflicts: [["user", "deleted"]], standing: ["user: base"] });
});

test("a deletion of a layer's memory and a move into the project are told, too", async () => {
  const [a, b] = threeMachines();
  await a.move(PROJECT, USER);
  await meet();
  await a.rm(USER);
  await b.move(USER, PROJECT);
  await meet();
  await expectEverywhere({ conflicts: [["project", "deleted"]], standing: ["project: base"] });
});

test("different choices at once are that question again, and no other one", async () => {
  for (const [choice, standing] of [
    [1, ["user: base"]],
    [2, []],
    [undefined, ["user: base"]],
  ] as const) {
    const [a, b, c] = threeMachines();
    await a.rm(PROJECT);
    await b.move(PROJECT, USER);
    await meet();
    await a.settle(1);
    await b.settle(2);
    await meet();
    await expectEverywhere({ conflicts: [["user", "deleted"]], standing: ["user: base"] });
    await c.settle(choice);
    expect(await c.shown()).toEqual({ conflicts: [], standing: [...standing] });
    await meet();
    await expectEverywhere({ conflicts: [], standing: [...standing] });
    if (await a.memory(USER)) await a.rm(USER);
    await a.set(PROJECT, "base");
    await meet();
  }
});

test("a memory that was moved to two layers, of which two machines choose one each, is told once", async () => {
  for (const [choice, standing] of [
    [1, ["global: base"]],
    [2, ["user: base"]],
    [undefined, ["user: base", "global: base"]],
  ] as const) {
    const [a, b, c] = threeMachines();
    await a.move(PROJECT, USER);
    await b.move(PROJECT, GLOBAL);
    await meet();
    await a.settle(1);
    await b.settle(2);
    await meet();
    const both = ["user: base", "global: base"];
    await expectEverywhere({ conflicts: [["global", "user"]], standing: both });
    await c.settle(choice);
    await meet();
    await expectEverywhere({ conflicts: [], standing: [...standing] });
    for (const place of [USER, GLOBAL]) if (await a.memory(place)) await a.rm(place);
    await a.set(PROJECT, "base");
    await meet();
  }
});

test("a deletion by somebody who chose nothing is told beside different choices", async () => {
  const [a, b, c] = threeMachines();
  await a.move(PROJECT, USER);
  await b.move(PROJECT, GLOBAL);
  await meet();
  await a.settle(1);
  await b.settle(2);
  await c.rm(USER);
  await meet();
  for (const machine of machines) {
    const { conflicts, standing } = await machine.shown();
    expect(conflicts).toContainEqual(["global", "user"]);
    expect(conflicts).toContain("deletion");
    expect(standing).toEqual(["user: base", "global: base"]);
  }
});

test("nothing is told where nobody disagrees, nor of a later memory of that key", async () => {
  const [a, b] = threeMachines();
  await a.move(PROJECT, USER);
  await b.move(PROJECT, USER);
  await meet();
  await expectEverywhere({ conflicts: [], standing: ["user: base"] });
  await a.move(USER, PROJECT);
  await meet();
  await a.rm(PROJECT);
  await b.move(PROJECT, USER);
  await meet();
  // Deleted where it was moved to by somebody who has seen it there.
  await a.rm(USER);
  await meet();
  await expectEverywhere({ conflicts: [], standing: [] });
  await b.set(USER, "another one");
  await meet();
  await expectEverywhere({ conflicts: [], standing: ["user: another one"] });
});

test("what nobody has settled outlives any number of later deletions", async () => {
  const [a, b] = threeMachines();
  await a.rm(PROJECT);
  await b.move(PROJECT, USER);
  await meet();
  const writes = Array.from({ length: 600 }, (_, at): InboxWrite[] => {
    const write = {
      kind: "memory",
      document: PROJECT,
      key: `key ${at}`,
      writtenAt: now(),
    } as const;
    return [
      { ...write, value: "v", seen: [] },
      { ...write, value: undefined, seen: [] },
    ];
  });
  await a.save(writes.flat());
  await meet();
  await expectEverywhere({ conflicts: [["user", "deleted"]], standing: ["user: base"] });
});

const SEEDS = Array.from({ length: 30 }, (_, at) => 2000 + at);

test.each(SEEDS)("no deletion is undone by a move untold (seed %d)", async (seed) => {
  const random = seededRandom(seed);
  const deeds: Deed[] = [];
  const note = (machine: Machine, deed: Omit<Deed, "saw">) => {
    const own = machine.saw.get(deed.document) ?? new Set();
    const noted = { ...deed, saw: new Set(own) };
    own.add(noted);
    deeds.push(noted);
  };
  for (let at = 0; at < 30; at++) {
    const [one, other] = [pick(random, machines), pick(random, machines)];
    const place = pick(random, PLACES);
    const drawn = random();
    if (drawn < 0.4) {
      if (one !== other) await one.hear(other, place);
      continue;
    }
    const memory = await one.memory(place);
    if (!memory || drawn < 0.55) {
      if (place !== PROJECT && drawn < 0.7) continue;
      const value = `${at}`;
      await one.set(place, value);
      note(one, { does: "write", document: place, value });
    } else if (drawn < 0.75) {
      await one.rm(place);
      note(one, { does: "rm", document: place, value: undefined });
    } else {
      const to = pick(
        random,
        PLACES.filter((each) => each !== place),
      );
      if (await one.memory(to)) continue;
      await one.move(place, to);
      note(one, { does: "write", document: to, value: memory.value });
      note(one, { does: "move", document: place, value: memory.value, to });
    }
  }
  await meet();
  const [a] = threeMachines();
  const conflicts = await listConflicts(a.store.reader);
  for (const machine of machines) {
    const all = await listConflicts(machine.store.reader);
    expect(all.map(({ id }) => id).sort()).toEqual(conflicts.map(({ id }) => id).sort());
  }
  const isStanding = (deed: Deed) => !deeds.some(({ saw }) => saw.has(deed));
  const left = deeds.filter((deed) => deed.does !== "write" && isStanding(deed));
  for (const moved of left.filter(({ does }) => does === "move")) {
    const there = await a.memory(moved.to ?? "");
    const isContested = left.some(
      ({ document, to }) => document === moved.document && to !== moved.to,
    );
    if (!isContested || there?.value !== moved.value) continue;
    const told = conflicts.filter(({ document }) => document.name === moved.document);
    expect(told.map(({ kind }) => kind)).not.toEqual([]);
  }
});
