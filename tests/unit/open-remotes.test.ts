import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeOf } from "../../daemon/home/home.ts";
import { LOCAL_USER } from "../../daemon/home/local-account.ts";
import { EMBEDDED } from "../../daemon/home/remote.ts";
import { setTokenPlace } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { Keyring, KeyringResult } from "../../daemon/remotes/keyring.ts";
import { OpenRemotes } from "../../daemon/remotes/open-remotes.ts";
import { addRemote } from "../../daemon/remotes/remote-book.ts";
import { TokenStore } from "../../daemon/remotes/token-store.ts";
import { unavailableService } from "../../daemon/remotes/unavailable-service.ts";
import { failureBy } from "../../daemon/service/failure.ts";
import { silentLog } from "../../shared/log.ts";
import { userDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { waitFor } from "../support/wait-for.ts";

const ENVIRONMENT = { url: undefined, token: undefined };
const A_MINUTE_MS = 60_000;

let folder = "";
let world: DrivenWorld;
let store: ReplicaStore<DaemonTables>;
let remotes: OpenRemotes;
let isLocked = true;
let asked = 0;
let isEmbeddedBroken = false;

/** A keyring that a person has to unlock. */
const keyring: Keyring = {
  get: async (): Promise<KeyringResult> => {
    asked++;
    return isLocked ? { kind: "failed" } : { kind: "done", value: "mst_dev_me" };
  },
  set: async () => ({ kind: "failed" }),
  delete: async () => ({ kind: "failed" }),
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "memsync-open-remotes-"));
  world = createDrivenWorld();
  store = await openTestReplica(join(folder, "memsync.db"), world);
  isLocked = true;
  isEmbeddedBroken = false;
  remotes = new OpenRemotes({
    store,
    world,
    log: silentLog,
    environment: ENVIRONMENT,
    tokens: new TokenStore({ home: homeOf({ MEMSYNC_HOME: folder }), world, keyring }),
    openEmbedded: async () => {
      if (isEmbeddedBroken) throw new Error("no room");
      return unavailableService(EMBEDDED, failureBy({ code: "no-answer" }));
    },
    links: () => [],
    onContact: () => {},
  });
  await store.write(async (context) => {
    for (const name of ["a", "b"]) {
      const url = `http://127.0.0.1:1/${name}`;
      const { account } = await addRemote(
        context,
        { world, environment: ENVIRONMENT },
        { name, url },
      );
      await setTokenPlace(context.db, name, "keyring");
      const { document } = await context.open(userDocument(account, LOCAL_USER));
      document.setEntry("memories", "key", { value: "value", now: context.now });
    }
  });
});

afterEach(async () => {
  await remotes.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** The names of the remotes whose service may be called. */
function callable(): string[] {
  return remotes.list().flatMap(({ remote, service }) => (service.openLive ? [remote.name] : []));
}

test("every remote whose token the keyring did not give is opened once it does", async () => {
  await remotes.refresh();
  expect(callable()).toEqual([]);
  world.advance(A_MINUTE_MS);
  await remotes.refresh();
  isLocked = false;
  world.advance(2 * A_MINUTE_MS);
  await waitFor("both to be opened", async () => callable().length === 2);
});

test("a locked keyring is asked ever more rarely, and at once where a person syncs", async () => {
  await remotes.refresh();
  asked = 0;
  for (let minute = 0; minute < 60; minute++) {
    world.advance(A_MINUTE_MS);
    await remotes.refresh();
  }
  // Both remotes after 1, 3, 7, 15 and 31 minutes.
  expect(asked).toBe(10);
  isLocked = false;
  await remotes.syncNow();
  expect([asked, callable().length]).toEqual([12, 2]);
  await remotes.syncNow();
  expect(asked).toBe(12);
});

test("a remote that could not be opened anew is opened later", async () => {
  await remotes.refresh();
  const serviceOf = () => remotes.list().find(({ remote }) => remote.name === EMBEDDED)?.service;
  const former = serviceOf();
  isEmbeddedBroken = true;
  await expect(remotes.refresh([EMBEDDED])).rejects.toThrow("no room");
  world.advance(A_MINUTE_MS);
  await remotes.refresh();
  isEmbeddedBroken = false;
  world.advance(A_MINUTE_MS);
  await waitFor("it to be opened", async () => serviceOf() !== former);
});
