import { afterEach, beforeEach, expect, test } from "bun:test";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { PLAIN_POSITION, writePosition } from "../../daemon/home/positions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { NameKeeper } from "../../daemon/sync/name-keeper.ts";
import { silentLog } from "../../shared/log.ts";
import type { Reason } from "../../shared/reasons.ts";
import { homesIn, putHome } from "../../shared/replica/log/homes.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { Position } from "../../shared/wire/position.ts";
import { projectId } from "../support/project-id.ts";
import { createTestWorld } from "../support/test-world.ts";

const SHOP = projectId("shop");
const ADDRESS = { owner: LOCAL_ACCOUNT, name: SHOP };
const SERVICE = "service";
const REMOTE = { epoch: "e", seq: 1 };

const world = createTestWorld();
let machine: string;
let store: ReplicaStore<DaemonTables>;
let keeper: NameKeeper;

beforeEach(async () => {
  machine = "debian";
  store = await openReplica(":memory:", world, { machine: () => machine, homeId: "here" });
  keeper = new NameKeeper({ store, log: silentLog, serviceOf: () => SERVICE });
});
afterEach(() => store.close());

async function write(): Promise<void> {
  await store.write(async (context) => {
    const { document } = await context.open(ADDRESS);
    document.setEntry("memories", "build", { value: "make", now: context.now });
  });
}

async function answered(remote: Position, refused?: Reason): Promise<void> {
  await store.write(async (context) => {
    const { id: documentId } = await context.open(ADDRESS);
    const position = { remote, ackedSeq: 1, refused };
    await writePosition(context.db, SERVICE, { documentId, position });
  });
}

/** What homes are called in the document, and how many rows it has. */
async function look() {
  await keeper.look([SHOP, "own"], LOCAL_ACCOUNT);
  return await store.write(async (context) => {
    const open = await context.open(ADDRESS);
    return [open.head.seq, ...homesIn(open.document).map(({ name }) => name)];
  });
}

test("a new name is said in one row, without anything else that is written", async () => {
  await write();
  await answered(REMOTE);
  expect(await look()).toEqual([1, "debian"]);
  machine = "laptop";
  expect(await look()).toEqual([2, "laptop"]);
  expect(await look()).toEqual([2, "laptop"]);
  machine = "debian";
  expect(await look()).toEqual([3, "debian"]);
});

test("nothing is said where this home has said nothing", async () => {
  await store.write((context) => context.open(ADDRESS));
  await answered(REMOTE);
  expect(await look()).toEqual([0]);
});

test("nothing is said to a service that has not answered, refuses the document, or is plain", async () => {
  await write();
  machine = "laptop";
  expect(await look()).toEqual([1, "debian"]);
  await answered(PLAIN_POSITION);
  expect(await look()).toEqual([1, "debian"]);
  await answered(REMOTE, { code: "token-forbids" });
  expect(await look()).toEqual([1, "debian"]);
});

test("two homes of one id do not answer each other forever", async () => {
  await write();
  await answered(REMOTE);
  machine = "laptop";
  expect(await look()).toEqual([2, "laptop"]);
  await store.write(async (context) => {
    const { document } = await context.open(ADDRESS);
    putHome(document, { home: "here", name: "debian", at: world.now() + 1, clients: [] });
    machine = "debian";
  });
  machine = "laptop";
  expect(await look()).toEqual([3, "debian"]);
});
