import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadDatabase } from "./database-text.ts";
import { HomeCommands } from "./home-state.ts";

/** What is made beside a database that is opened, for reading too. */
const SIDE_FILE = /(-wal|-shm|\.gate)$/;

/** Commands that would read, write or run a home. */
const COMMANDS = [
  ["up"],
  ["get", "key-user"],
  ["list", "--json"],
  ["set", "--layer", "user", "key-user", "of an older version"],
  ["rm", "--layer", "user", "key-user"],
  ["doc", "--project", "proj_released"],
  ["conflicts"],
] as const;

/** All that an older version says of such a home. */
const NEWER_HOME =
  /^memsync: \S+ can't be opened: the database was written by a newer memsync \([^\n]+\n$/;

/** What the command line of an older version made of a home. */
export interface OlderAttempt {
  readonly command: string;
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Every file of the home has the bytes that it had, and there is no other. */
  readonly untouched: boolean;
}

/**
 * Runs `memsync` on a home like the one whose database is `sql`, but for a step of a version to
 * come that was made in it.
 */
export async function tryNewerHome(
  sql: string,
  memsync?: readonly string[],
): Promise<readonly OlderAttempt[]> {
  using home = new HomeCommands(memsync);
  const path = join(home.home, "memsync.db");
  loadDatabase(sql, path);
  const database = new Database(path);
  database.exec("PRAGMA journal_mode = WAL");
  database.run("insert into schema_migrations values ('daemon-9999-of-tomorrow')");
  database.close();
  const before = filesOf(home.home);
  const attempts: OlderAttempt[] = [];
  for (const command of COMMANDS) {
    const ended = await home.spawn(...command).ended();
    const untouched = Bun.deepEquals(filesOf(home.home), before);
    attempts.push({ command: command[0], ...ended, untouched });
  }
  return attempts;
}

/** It says so and changes nothing; with `--json` as JSON, too. */
export function expectRefused({ command, status, stdout, stderr, untouched }: OlderAttempt): void {
  expect({ command, status, untouched }).toEqual({ command, status: 1, untouched: true });
  expect(stderr).toMatch(NEWER_HOME);
  const said = stderr.replace(/^memsync: /, "").trimEnd();
  const given = stdout === "" ? undefined : (JSON.parse(stdout) as unknown);
  const failure = { error: { code: expect.any(String), message: said } };
  expect(given).toEqual(command === "list" ? failure : undefined);
}

/** The bytes of a folder's files by their names. */
function filesOf(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder).filter((name) => !SIDE_FILE.test(name));
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(folder, name)).toString("base64")]),
  );
}
