import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { writePosition } from "../../daemon/home/positions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { FactsKeeper } from "../../daemon/manifests/facts-keeper.ts";
import type { JsonValue } from "../../shared/json.ts";
import { silentLog } from "../../shared/log.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { projectId } from "../support/project-id.ts";

const SHOP = projectId("shop");
const SERVICE = "service";
const TEN_MINUTES_MS = 10 * 60_000;

let dir: string;
let world: DrivenWorld;
let store: ReplicaStore<DaemonTables>;
let keeper: FactsKeeper;

beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "memsync-facts-")));
  world = createDrivenWorld();
  store = await openReplica(":memory:", world);
  keeper = begin();
});
afterEach(async () => {
  await keeper.settled();
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

function begin(): FactsKeeper {
  return new FactsKeeper({
    store,
    world,
    log: silentLog,
    links: () => [{ dir, projectId: SHOP, name: "shop", write: false }],
    accountOf: () => LOCAL_ACCOUNT,
    serviceOf: () => SERVICE,
  });
}

const inDocument = <Result>(change: (open: Awaited<ReturnType<typeof opened>>) => Result) =>
  store.write(async (context) => {
    const open = await opened(context);
    const result = change(open);
    await context.flush(open);
    return result;
  });
type Context = Parameters<Parameters<ReplicaStore<DaemonTables>["write"]>[0]>[0];
const opened = (context: Context) => context.open({ owner: LOCAL_ACCOUNT, name: SHOP });

async function set(key: string, value: JsonValue | undefined): Promise<void> {
  await inDocument(({ document }) => {
    if (value === undefined) document.deleteEntry("metadata", key);
    else document.setEntry("metadata", key, { value, now: world.now() });
  });
}

const said = () =>
  inDocument(({ document: { metadata } }) =>
    ["language", "framework"].map((key) => metadata.get(key)[0]?.value),
  );

/** The service has taken what was written here. */
async function acknowledge(): Promise<void> {
  await inDocument(({ document }) => {
    document.setEntry("memories", "build", { value: "make", now: world.now() });
  });
  const id = await inDocument((open) => open.id);
  const position = { remote: { epoch: "e", seq: 1 }, ackedSeq: 1000, refused: undefined };
  await store.write(({ db }) => writePosition(db, SERVICE, { documentId: id, position }));
}

async function look(): Promise<void> {
  world.advance(TEN_MINUTES_MS);
  await keeper.look([SHOP]);
}

function manifest(dependencies: object): void {
  writeFileSync(join(dir, "package.json"), JSON.stringify({ dependencies }));
}

test("nothing is filled in before the service has taken something of this machine", async () => {
  manifest({ hono: "4" });
  await inDocument(() => undefined);
  await look();
  expect(await said()).toEqual([undefined, undefined]);
  await acknowledge();
  await look();
  expect(await said()).toEqual(["JavaScript", "Hono"]);
});

test("what a person has set or removed stays, also after a restart", async () => {
  manifest({ hono: "4" });
  await acknowledge();
  await set("language", "Bun");
  await look();
  expect(await said()).toEqual(["Bun", "Hono"]);
  await set("framework", undefined);
  keeper = begin();
  await look();
  manifest({ express: "5" });
  await look();
  expect(await said()).toEqual(["Bun", undefined]);
});

test("what was filled in follows the manifest, when that changes here", async () => {
  manifest({ hono: "4" });
  await acknowledge();
  await look();
  // Another machine has another version of the manifest, and changes nothing by that.
  manifest({ express: "5" });
  keeper = begin();
  await look();
  expect(await said()).toEqual(["JavaScript", "Hono"]);
  manifest({ fastify: "5" });
  await look();
  expect(await said()).toEqual(["JavaScript", "Fastify"]);
});

test("a manifest that .memsyncignore names is not read", async () => {
  manifest({ hono: "4" });
  writeFileSync(join(dir, ".memsyncignore"), "package.json\n");
  await acknowledge();
  await look();
  expect(await said()).toEqual([undefined, undefined]);
});
