import { expect, test } from "bun:test";
import { sql } from "kysely";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { HostRemoval } from "../../server/accounts/host-removal.ts";
import { TokenWatch } from "../../server/accounts/token-watch.ts";
import { deleteTokens, deleteUser } from "../../server/stores/account-store.ts";
import { openHostStore } from "../../server/stores/open-store.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { createTestWorld } from "../support/test-world.ts";

const TOKEN = {
  account: "acme",
  name: "a",
  scope: "read",
  projects: null,
  expiresAt: null,
} as const;

test("tokens that are made, revoked, and removed with others in their place, and users, are noticed", async () => {
  const world = createTestWorld("watch");
  const host = await openHostStore(":memory:", world);
  const admin = new HostAdmin(host.database, world);
  const removal = new HostRemoval(host.database, world, async () => false);
  await admin.createAccount("acme", "team");
  let changes = 0;
  const onChange = () => {
    changes += 1;
  };
  const watch = new TokenWatch({ db: host.database.reader, world, log: silentLog, onChange });
  await watch.start();
  const noticed = async () => {
    const before = changes;
    world.advance(1001);
    await new Promise<void>((resolve) => world.defer(resolve));
    return changes - before;
  };

  expect(await noticed()).toBe(0);
  await admin.createToken({ ...TOKEN, user: "ann" });
  const { id } = await admin.createToken({ ...TOKEN, user: "bob" });
  expect(await noticed()).toBe(1);
  await admin.revokeToken(id);
  expect(await noticed()).toBe(1);
  // As many tokens as before, of the same moment, and as many revoked.
  await removal.removeUser(await removal.getUser("acme", "ann"));
  await admin.createToken({ ...TOKEN, user: "ann" });
  expect(await noticed()).toBe(1);
  // A served database's user goes some seconds after its tokens.
  const gone = await removal.getUser("acme", "bob");
  await host.database.write((db) => deleteTokens(db, { user: gone.id }, world.now()));
  expect(await noticed()).toBe(1);
  await host.database.write((db) => deleteUser(db, gone.id));
  expect(await noticed()).toBe(1);
  expect(await noticed()).toBe(0);
  await watch.stop();
  await host.close();
});

test("an outage has one line in the log, however long it is", async () => {
  const world = createTestWorld("watch");
  const host = await openHostStore(":memory:", world);
  const told: object[] = [];
  const log: Log = { ...silentLog, error: (fields) => void told.push(fields) };
  const watch = new TokenWatch({ db: host.database.reader, world, log, onChange: () => {} });
  await watch.start();
  const rename = (from: string, to: string) =>
    host.database.write((db) =>
      sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(db),
    );
  const looks = async (count: number) => {
    for (let at = 0; at < count; at++) {
      world.advance(1001);
      await new Promise<void>((resolve) => world.defer(resolve));
    }
    return told.length;
  };
  for (const outage of [1, 2]) {
    await rename("removed_tokens", "gone");
    expect(await looks(5)).toBe(outage);
    await rename("gone", "removed_tokens");
    expect(await looks(2)).toBe(outage);
  }
  await watch.stop();
  await host.close();
});
