import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHostStore } from "../../server/stores/open-store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { dumpDatabase, loadDatabase } from "./database-text.ts";
import { HomeCommands } from "./home-state.ts";
import { expectRefused, tryNewerHome } from "./newer-home.ts";
import { readServer, type ServerState } from "./server-state.ts";
import { takeOn } from "./take-on.ts";

const CHANGELOG = join(import.meta.dir, "..", "..", "CHANGELOG.md");

const VERSIONS = readdirSync(import.meta.dir).filter((name) => /^\d+\.\d+\.\d+$/.test(name));

const text = (version: string, file: string) =>
  readFileSync(join(import.meta.dir, version, file), "utf8");

test("what each version that the changelog names has kept is here", () => {
  const named = [...readFileSync(CHANGELOG, "utf8").matchAll(/^## (\d+\.\d+\.\d+)/gm)];
  expect(named.map(([, version]) => version ?? "").sort()).toEqual(VERSIONS.sort());
});

test.each(VERSIONS)("a server's database of %s is read in full, and taken on", async (version) => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-released-"));
  const path = join(folder, "server.db");
  loadDatabase(text(version, "server.sql"), path);
  const then = JSON.parse(text(version, "server.json")) as ServerState;
  expect(Object.keys(then.answers).length).toBeGreaterThan(15);
  expect(await readServer(path, then.tokens)).toMatchObject(then);
  // Once more: the first opening has brought it to the present schema.
  expect(await readServer(path, then.tokens)).toMatchObject(then);
  rmSync(folder, { recursive: true });
});

test.each(VERSIONS)("a home's database of %s is read in full, and taken on", async (version) => {
  using home = new HomeCommands();
  await takeOn(home, text(version, "home.sql"), JSON.parse(text(version, "home.json")));
});

test.each(VERSIONS)("a home like those of %s, but newer than this, is refused", async (version) => {
  for (const attempt of await tryNewerHome(text(version, "home.sql"))) {
    expectRefused(attempt);
  }
});

test("a database of a newer version is refused in one sentence and left as it is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-released-"));
  const path = join(folder, "server.db");
  loadDatabase(text(VERSIONS[0] ?? "", "server.sql"), path);
  const database = new Database(path);
  database.run("insert into schema_migrations values ('service-9999-of-tomorrow')");
  database.close();
  const before = dumpDatabase(path);
  await expect(openHostStore(path, realWorld)).rejects.toThrow(
    /^\S+server\.db can't be opened: the database was written by a newer memsync \(it holds the step "service-9999-of-tomorrow"\): [^\n]+$/,
  );
  expect(dumpDatabase(path)).toBe(before);
  rmSync(folder, { recursive: true });
});
