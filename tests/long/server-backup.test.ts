import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { scenario } from "../support/lab.ts";
import { RUNTIMES, ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

async function put(url: string, token: string, key: string, content: string): Promise<void> {
  const response = await fetch(`${url}/v1/memories`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ key, content, layer: "global" }),
  });
  if (response.status !== 200) throw new Error(`${key} was answered ${response.status}`);
}

async function keysAt(url: string, token: string): Promise<string[]> {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/v1/memories`, { headers });
  const { memories } = (await response.json()) as { memories: { key: string }[] };
  return memories.map(({ key }) => key);
}

/** Writers that do not stop until they are told to; each key is noted once it is acknowledged. */
function writeWithoutEnd(url: string, token: string, writers: number) {
  const acknowledged: string[] = [];
  let stopped = false;
  const write = async (writer: number) => {
    for (let at = 0; !stopped; at++) {
      await put(url, token, `w${writer}-${at}`, `value ${at} `.padEnd(300, "x"));
      acknowledged.push(`w${writer}-${at}`);
    }
  };
  const done = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const stop = async () => {
    stopped = true;
    await done;
  };
  return { acknowledged, stop };
}

for (const runtime of RUNTIMES) {
  test(`on ${runtime}, a backup of a server under load holds all that was acknowledged`, async () => {
    await using folder = await ServerFolder.create(runtime);
    const token = await folder.token();
    const server = await folder.server("--log-level", "warn");
    const load = writeWithoutEnd(server.url, token, 8);
    await waitFor("a few hundred writes", () => load.acknowledged.length > 300);
    const before = [...load.acknowledged];
    const said = await folder.memsync("server", "backup", "copy.db");
    expect(said).toMatch(/^backed up to \S+copy\.db \(\d+ bytes\)$/);
    const after = load.acknowledged.length;
    await load.stop();
    await server.process.end("SIGTERM");
    expect(statSync(folder.path("copy.db")).mode & 0o777).toBe(0o600);

    expect(await folder.memsync("server", "restore", "copy.db")).toContain("is kept at ");
    const restored = await folder.server();
    const keys = new Set(await keysAt(restored.url, token));
    expect(before.filter((key) => !keys.has(key))).toEqual([]);
    expect(after).toBeGreaterThan(before.length);
    expect(keys.size).toBeLessThan(load.acknowledged.length);
  });
}

scenario("after a restore daemons bring back what the backup had not", async (lab) => {
  await using folder = await ServerFolder.create();
  const token = await folder.token();
  const server = await folder.server("--log-level", "warn");
  const project = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", project, { url: server.url, token });
  await machine.up();
  await machine.memsync("set", "--layer", "user", "before", "in the backup");
  await machine.syncOnce();
  await folder.memsync("server", "backup", "copy.db");
  for (let at = 0; at < 5; at++) {
    await machine.memsync("set", "--layer", "user", `after-${at}`, "after the backup");
  }
  await machine.memsync("rm", "--layer", "user", "before");
  await machine.syncOnce();
  await waitFor("all of it to be at the server", async () => {
    return (await keysAt(server.url, token)).length === 5;
  });
  await server.process.end("SIGTERM");
  await folder.memsync("server", "restore", "copy.db");
  const again = await folder.server("--log-level", "warn", "--port", `${server.port}`);
  expect(await keysAt(again.url, token)).toEqual(["before"]);
  const expected = Array.from({ length: 5 }, (_, at) => `after-${at}`);
  await waitFor("the server to have it again", async () => {
    await machine.syncOnce();
    return Bun.deepEquals((await keysAt(again.url, token)).sort(), expected);
  });
  expect((await machine.list()).map(({ key }) => key).sort()).toEqual(expected);
});

test("a backup takes no other file's place unless it is told to", async () => {
  await using folder = await ServerFolder.create();
  await folder.token();
  const refused = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await folder.run(["server", ...args]);
    expect([status, stdout]).toEqual([1, ""]);
    return stderr;
  };
  writeFileSync(folder.path("mine"), "precious");
  expect(await refused("backup", "mine")).toContain("is there already: choose another name");
  expect(readFileSync(folder.path("mine"), "utf8")).toBe("precious");
  await folder.memsync("server", "backup", "mine", "--force");
  const database = readFileSync(folder.database);
  for (const name of ["memsync-server.db", "memsync-server.db-wal", "memsync-server.db.lock"]) {
    expect(await refused("backup", name, "--force")).toContain("belongs to the database itself");
  }
  writeFileSync(folder.path("other.db-wal"), "");
  expect(await refused("backup", "other.db")).toContain("of another database");
  expect(await refused("backup", "nowhere/copy.db")).toEndWith(
    "nowhere/copy.db: there is no such file or folder\n",
  );
  expect(await refused("backup", "x", "--database-url", "sqlite:none.db")).toContain(
    "there is no database",
  );
  expect(readFileSync(folder.database).equals(database)).toBe(true);
  expect(readdirSync(folder.folder).filter((name) => name.includes("partial"))).toEqual([]);
});

test("what is no sound backup of a server is not restored, and nothing is changed", async () => {
  await using folder = await ServerFolder.create();
  await folder.token();
  await folder.memsync("server", "backup", "good.db");
  const database = readFileSync(folder.database);
  const refused = async (file: string) => {
    const { status, stdout, stderr } = await folder.run(["server", "restore", file]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^memsync: [^\n]+\n$/);
    expect(readFileSync(folder.database).equals(database)).toBe(true);
    return stderr;
  };
  const sql = (name: string, ...statements: readonly string[]) => {
    const { Database } = require("bun:sqlite") as typeof import("bun:sqlite");
    const opened = new Database(folder.path(name));
    for (const statement of statements) opened.run(statement);
    opened.close();
  };
  expect(await refused("nowhere.db")).toContain("there is no backup at");
  writeFileSync(folder.path("text"), "no database ".repeat(1000));
  expect(await refused("text")).toContain("can't be read as a database");
  writeFileSync(folder.path("empty"), "");
  expect(await refused("empty")).toContain("is not a database of a memsync server");
  sql("home.db", "create table schema_migrations (name text)");
  sql(
    "home.db",
    "insert into schema_migrations values ('replica-0001-documents'), ('daemon-0001')",
  );
  expect(await refused("home.db")).toContain("is not a database of a memsync server");
  writeFileSync(folder.path("newer.db"), readFileSync(folder.path("good.db")));
  sql("newer.db", "insert into schema_migrations values ('service-9999-of-tomorrow')");
  expect(await refused("newer.db")).toContain("was written by a newer memsync");
  const damaged = Buffer.from(readFileSync(folder.path("good.db")));
  damaged.fill(0x5a, 4096 * 5, 4096 * 9);
  writeFileSync(folder.path("damaged.db"), damaged);
  expect(await refused("damaged.db")).toContain("is damaged");
  writeFileSync(folder.path("used.db"), readFileSync(folder.path("good.db")));
  writeFileSync(folder.path("used.db-wal"), "x");
  expect(await refused("used.db")).toContain("a database in use");
  const server = await folder.server();
  const { status, stderr } = await folder.run(["server", "restore", "good.db"]);
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/a server runs on \S+: stop it first/),
  ]);
  await server.process.end("SIGTERM");
  expect(readdirSync(folder.folder).filter((name) => /restoring|before/.test(name))).toEqual([]);
});

test("a token that was revoked after the backup stays revoked", async () => {
  await using folder = await ServerFolder.create();
  const token = await folder.token();
  const kept = await folder.token("acme", "--name", "kept");
  await folder.memsync("server", "backup", "copy.db");
  const listed = JSON.parse(await folder.memsync("server", "token", "list", "--json"));
  const { id } = listed.find((each: { name: string }) => each.name === "token");
  await folder.memsync("server", "token", "revoke", id);
  const said = await folder.memsync("server", "restore", "copy.db");
  expect(said).toContain("tokens revoked since the backup stay revoked: 1");
  const server = await folder.server();
  const statusOf = async (bearer: string) =>
    (await fetch(`${server.url}/v1/memories`, { headers: { Authorization: `Bearer ${bearer}` } }))
      .status;
  expect([await statusOf(token), await statusOf(kept)]).toEqual([401, 200]);
});

test("a removed account's tokens stay ended, whichever backup is put back", async () => {
  await using folder = await ServerFolder.create();
  const token = await folder.token("gone");
  const kept = await folder.token("kept");
  await folder.memsync("server", "backup", "first.db");
  await folder.memsync("server", "backup", "second.db");
  await folder.memsync("server", "account", "rm", "gone", "--yes");
  for (const copy of ["second.db", "first.db"]) {
    await folder.memsync("server", "restore", copy);
    const server = await folder.server();
    const statusOf = async (bearer: string) =>
      (await fetch(`${server.url}/v1/memories`, { headers: { Authorization: `Bearer ${bearer}` } }))
        .status;
    expect([copy, await statusOf(token), await statusOf(kept)]).toEqual([copy, 401, 200]);
    await server.process.end("SIGTERM");
  }
});

test("a database that is damaged or missing is replaced, and what is left of it is kept", async () => {
  await using folder = await ServerFolder.create();
  const token = await folder.token();
  await folder.memsync("server", "backup", "copy.db");
  writeFileSync(folder.database, "what a bad disk left");
  writeFileSync(`${folder.database}-wal`, "and its log");
  const { set_aside: aside } = JSON.parse(
    await folder.memsync("server", "restore", "copy.db", "--json"),
  );
  expect(readFileSync(aside, "utf8")).toBe("what a bad disk left");
  expect(readFileSync(`${aside}-wal`, "utf8")).toBe("and its log");
  expect(existsSync(`${folder.database}-wal`)).toBe(false);
  const elsewhere = ["--database-url", "sqlite:other.db"];
  await folder.memsync("server", "restore", "copy.db", ...elsewhere);
  const server = await folder.server(...elsewhere);
  expect(await keysAt(server.url, token)).toEqual([]);
});
