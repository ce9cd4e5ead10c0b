import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { backUp } from "../../server/backup/back-up.ts";
import { restore } from "../../server/backup/restore.ts";
import { isServed } from "../../server/stores/host-lock.ts";
import { openHostDatabase, openHostStore } from "../../server/stores/open-store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { failureOf } from "../support/failure.ts";

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "memsync-host-lock-")));
  mkdirSync(join(folder, "data"));
  mkdirSync(join(folder, "elsewhere"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);
const open = (name: string) => openHostStore(at(name), realWorld);

test("a database is served once, whatever link it is named by", async () => {
  symlinkSync(at("data"), at("linked-folder"));
  symlinkSync(at("data/host.db"), at("elsewhere/link.db"));
  const names = ["data/host.db", "linked-folder/host.db", "elsewhere/link.db"];
  await (await open("data/host.db")).close();
  for (const first of names) {
    const host = await open(first);
    for (const second of names) {
      expect(await isServed(at(second))).toBe(true);
      expect(String(await failureOf(() => open(second)))).toContain("is served by another");
    }
    await host.close();
    for (const second of names) expect(await isServed(at(second))).toBe(false);
  }
});

test("a database that is made through a linked folder has the lock of its real one", async () => {
  symlinkSync(at("data"), at("linked-folder"));
  const host = await open("linked-folder/host.db");
  expect(String(await failureOf(() => open("data/host.db")))).toContain("is served by another");
  expect(statSync(at("data/host.db")).mode & 0o777).toBe(0o600);
  await host.close();
});

test("a link to nothing is no place for a database", async () => {
  symlinkSync(at("data/gone.db"), at("elsewhere/link.db"));
  const failure = String(await failureOf(() => open("elsewhere/link.db")));
  expect(failure).toContain("is a link to a file that is not there");
  expect(existsSync(at("data/gone.db"))).toBe(false);
});

test("a database with a second hard link is neither served, administered nor copied", async () => {
  await (await open("data/host.db")).close();
  linkSync(at("data/host.db"), at("elsewhere/second.db"));
  for (const name of ["data/host.db", "elsewhere/second.db"]) {
    const doings = [
      () => open(name),
      () => openHostDatabase(at(name)),
      () => backUp({ database: at(name), file: at("copy"), force: false, world: realWorld }),
    ];
    for (const doing of doings) {
      expect(String(await failureOf(doing))).toContain("has another name (a hard link)");
    }
  }
  rmSync(at("elsewhere/second.db"));
  await (await open("data/host.db")).close();
});

test("a restore through a link replaces what the link leads to", async () => {
  symlinkSync(at("data/host.db"), at("elsewhere/link.db"));
  const first = await open("data/host.db");
  await new HostAdmin(first.database, realWorld).createAccount("acme", "team");
  await first.close();
  await backUp({
    database: at("elsewhere/link.db"),
    file: at("copy"),
    force: false,
    world: realWorld,
  });
  const restored = await restore({
    file: at("copy"),
    database: at("elsewhere/link.db"),
    world: realWorld,
  });
  expect(lstatSync(at("elsewhere/link.db")).isSymbolicLink()).toBe(true);
  expect(readlinkSync(at("elsewhere/link.db"))).toBe(at("data/host.db"));
  expect(restored.setAside).toStartWith(at("data/host.db.before-restore-"));
  await (await open("data/host.db")).close();
});

test("a restore that was cut off between its two names can be made again", async () => {
  await (await open("data/host.db")).close();
  const database = at("data/host.db");
  await backUp({ database, file: at("copy"), force: false, world: realWorld });
  linkSync(database, `${database}.before-restore-of-then`);
  await restore({ file: at("copy"), database, world: realWorld });
  await (await open("data/host.db")).close();
});
