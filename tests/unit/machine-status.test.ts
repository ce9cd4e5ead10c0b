import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import { type Home, homeOf } from "../../daemon/home/home.ts";
import { damagedHomeIds, HomeId, readHomeId } from "../../daemon/home/home-id.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readMachineStatus } from "../../daemon/status/machine-status.ts";
import { watchForCopies } from "../../daemon/sync/copied-home.ts";
import { asAccountId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { putHome } from "../../shared/replica/log/homes.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { address } from "../support/stored.ts";
import { createTestWorld } from "../support/test-world.ts";
import { waitFor } from "../support/wait-for.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(30_000);

const DAY_MS = 24 * 3_600_000;
const world = createTestWorld();
let folder: string;
let home: Home;
let store: ReplicaStore<DaemonTables>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "memsync-names-"));
  home = homeNamed("home");
  writeFileSync(home.machine, "debian\n");
  store = await openReplica(home.database, world);
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

function homeNamed(name: string): Home {
  const made = homeOf({ MEMSYNC_HOME: join(folder, name) });
  mkdirSync(made.dir);
  return made;
}

/** A home says in a document that it has a name. */
async function say(of: string, name: string, { at = world.now(), document = "a" } = {}) {
  await store.write(async (context) => {
    const open = await context.open(address(document));
    putHome(open.document, { home: of, name, at, clients: [] });
  });
}

const codeOf = async (now = world.now()) => (await readMachineStatus(store.reader, home, now)).code;

test("another home of this one's name is told, with where this one's name is written", async () => {
  new HomeId(home, world);
  await say("other", "laptop");
  expect(await codeOf()).toBeNull();
  await say("other", "debian");
  const { name, code, note } = await readMachineStatus(store.reader, home, world.now());
  expect([name, code]).toEqual(["debian", "name-twice"]);
  expect(note).toContain(`\`echo NAME > ${home.machine}\` gives this one another`);
  // It may have been this home itself.
  expect(note).toContain("another home has this name");
  expect(note).toContain("before it was restored from a copy, nothing is to be done");
});

test("the command that is told works where the home's path has a quote", async () => {
  const quoted = homeNamed("it's home");
  writeFileSync(quoted.machine, "debian\n");
  new HomeId(quoted, world);
  await say("other", "debian");
  const { note } = await readMachineStatus(store.reader, quoted, world.now());
  const [, command = ""] = /`(.*)`/.exec(note ?? "") ?? [];
  Bun.spawnSync(["sh", "-c", command.replace("NAME", "laptop")]);
  expect(readFileSync(quoted.machine, "utf8")).toBe("laptop\n");
});

test("a home counts with the name that it said last, in whatever document", async () => {
  new HomeId(home, world);
  await say("other", "debian", { document: "a", at: 2000 });
  await say("other", "laptop", { document: "b", at: 3000 });
  expect(await codeOf(4000)).toBeNull();
  await say("other", "debian", { document: "c", at: 3500 });
  expect(await codeOf(4000)).toBe("name-twice");
});

test("this home itself, one that is long gone, and any where this one has no id are not told", async () => {
  await say("other", "debian");
  expect(await codeOf()).toBeNull();
  const { current } = new HomeId(home, world);
  expect(await codeOf(world.now() + 29 * DAY_MS)).toBe("name-twice");
  expect(await codeOf(world.now() + 30 * DAY_MS)).toBeNull();
  await say("other", "laptop");
  await say(current, "debian");
  expect(await codeOf()).toBeNull();
});

test("of several homes of the name the one that said it last decides whether it is told", async () => {
  new HomeId(home, world);
  await say("other", "debian", { document: "a", at: 0 });
  await say("gone", "debian", { document: "a", at: DAY_MS });
  await say("other", "debian", { document: "b", at: 40 * DAY_MS });
  expect(await codeOf(41 * DAY_MS)).toBe("name-twice");
});

test("another name in the file settles it at once here", async () => {
  new HomeId(home, world);
  await say("other", "debian");
  writeFileSync(home.machine, "laptop\n");
  expect(await codeOf()).toBeNull();
});

test("a home keeps its id, and one whose file was damaged gets another and tells of it", async () => {
  const { current } = new HomeId(home, world);
  expect(new HomeId(home, world).current).toBe(current);
  expect(readHomeId(home)).toBe(current);
  writeFileSync(home.identity, "");
  expect(readHomeId(home)).toBeUndefined();
  const { current: another } = new HomeId(home, world);
  expect(another).not.toBe(current);
  expect(new HomeId(home, world).current).toBe(another);
  expect(await codeOf()).toBe("id-anew");
});

test("what stood in place of a home's id is kept, until its user deletes it", async () => {
  writeFileSync(home.identity, "half an i");
  new HomeId(home, world);
  const [file = "", ...others] = damagedHomeIds(home);
  expect([readFileSync(file, "utf8"), others]).toEqual(["half an i", []]);
  const { note } = await readMachineStatus(store.reader, home, world.now());
  const [, command = ""] = /`(.*)`/.exec(note ?? "") ?? [];
  Bun.spawnSync(["sh", "-c", command]);
  expect(await codeOf()).toBeNull();
});

test("a home whose id can't be read says so, and draws no other", () => {
  mkdirSync(home.identity);
  expect(() => readHomeId(home)).toThrow("EISDIR");
  expect(() => new HomeId(home, world)).toThrow("EISDIR");
  expect(readdirSync(home.dir)).not.toContain("identity.new");
});

const globalOf = (owner: string) => ({ owner: asAccountId(owner), name: "global" });

/** A replica of a home, which watches for copies of it. */
async function openAs(of: Home) {
  const homeId = new HomeId(of, world);
  const replica = await openReplica(of.database, world, {
    machine: "debian",
    homeId: () => homeId.current,
  });
  const stop = watchForCopies({ store: replica, homeId, log: silentLog });
  const write = (key: string, owner = "acct") =>
    replica.write(async (context) => {
      const { document } = await context.open(globalOf(owner));
      document.setEntry("memories", key, { value: "x", now: context.now });
    });
  const whole = (owner = "acct") =>
    replica.write(async (context) => {
      const open = await context.open(globalOf(owner));
      return Y.encodeStateAsUpdate(open.document.ydoc);
    });
  /** All in one commit. */
  const receiveAll = (updates: Readonly<Record<string, Uint8Array>>) =>
    replica.write(async (context) => {
      for (const [owner, update] of Object.entries(updates)) {
        (await context.open(globalOf(owner))).applyUpdate(update);
      }
    });
  const receive = (update: Uint8Array, owner = "acct") => receiveAll({ [owner]: update });
  const close = async () => {
    stop();
    await replica.close();
  };
  const status = () => readMachineStatus(replica.reader, of, world.now());
  return { homeId, write, whole, receive, receiveAll, status, close };
}

test("of a home and its copy each gets an id of its own once it hears of the other, and both are told", async () => {
  const [one, other] = [homeNamed("one"), homeNamed("other")];
  new HomeId(one, world);
  copyFileSync(one.identity, other.identity);
  for (const each of [one, other]) writeFileSync(each.machine, "debian\n");
  const [a, b] = [await openAs(one), await openAs(other)];
  const { current: shared } = a.homeId;
  expect(b.homeId.current).toBe(shared);
  await a.write("a");
  await b.write("b");
  const [ofA, ofB] = [await a.whole(), await b.whole()];
  await a.receive(ofB);
  await b.receive(ofA);
  await waitFor("both to have other ids", () => {
    return ![a, b].some(({ homeId }) => homeId.current === shared);
  });
  expect(a.homeId.current).not.toBe(b.homeId.current);
  expect(readHomeId(one)).toBe(a.homeId.current);
  for (const each of [a, b]) expect((await each.status()).code).toBe("name-twice");
  for (const each of [a, b]) await each.close();
});

test("a home that has two replicas of a document is no copy of itself", async () => {
  const a = await openAs(homeNamed("one"));
  const { current } = a.homeId;
  await a.write("k", "first");
  await a.receive(await a.whole("first"), "second");
  await a.write("l", "second");
  await a.receive(await a.whole("second"), "first");
  // What was asked by then has been looked at, and told: some writes share a commit.
  for (let turn = 0; turn < 2; turn++) await a.whole();
  expect(a.homeId.current).toBe(current);
  expect((await a.status()).code).toBeNull();
  await a.close();
});

test("a home hears of its copy in whichever document of a commit that is", async () => {
  const [one, other] = [homeNamed("one"), homeNamed("other")];
  new HomeId(one, world);
  copyFileSync(one.identity, other.identity);
  const [a, b] = [await openAs(one), await openAs(other)];
  const { current } = a.homeId;
  await a.write("k", "first");
  await b.write("l", "third");
  // The first one is of a replica of its own, and says nothing of a copy.
  await a.receiveAll({ second: await a.whole("first"), third: await b.whole("third") });
  await waitFor("another id", () => a.homeId.current !== current);
  for (const each of [a, b]) await each.close();
});

test("a home whose database was made anew knows its own past, and still a copy's record", async () => {
  const one = homeNamed("one");
  writeFileSync(one.machine, "debian\n");
  const before = await openAs(one);
  const { current } = before.homeId;
  await before.write("a");
  const past = await before.whole();
  await before.close();
  for (const end of ["", "-wal", "-shm"]) rmSync(one.database + end, { force: true });
  world.advance(1);
  const after = await openAs(one);
  await after.receive(past);
  await after.write("b");
  // What was asked by then has been looked at, and told.
  await after.whole();
  expect(after.homeId.current).toBe(current);
  expect((await after.status()).code).toBeNull();

  const other = homeNamed("other");
  copyFileSync(one.identity, other.identity);
  const copy = await openAs(other);
  await copy.receive(past);
  world.advance(1);
  await copy.write("c");
  await after.receive(await copy.whole());
  await waitFor("another id", () => after.homeId.current !== current);
  for (const each of [copy, after]) await each.close();
});
