import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Need } from "./needs.ts";

const [PROGRAMS] = [...new Bun.Glob("*/bin/pg_basebackup").scanSync("/usr/lib/postgresql")]
  .sort()
  .slice(-1)
  .map((found) => join("/usr/lib/postgresql", found, ".."));

/** PostgreSQL's own programs; the package of npm has neither base backups nor `psql`. */
export const POSTGRES_PROGRAMS: Need = {
  isMet: PROGRAMS !== undefined,
  missing: "Debian's package postgresql is not installed",
};

/** PostgreSQL does not run as root. */
const NOBODY = 65_534;

/**
 * Clusters below one folder, which whoever runs a database makes by commands. Their sockets are in
 * that folder, by their ports.
 */
export class PostgresFolders implements Disposable {
  readonly #as = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  readonly #folder = mkdtempSync(join(tmpdir(), "memsync-standby-"));
  readonly #variables: Readonly<Record<string, string>>;

  /** `names`: variables of the commands, each the path of a folder. */
  constructor(readonly names: readonly string[]) {
    chmodSync(this.#folder, 0o755);
    if (this.#as.uid !== undefined) chownSync(this.#folder, NOBODY, NOBODY);
    this.#variables = Object.fromEntries(names.map((name) => [name, this.path(name)]));
  }

  path(name: string): string {
    return join(this.#folder, name.toLowerCase());
  }

  /** A superuser's address of a database, by which programs of PostgreSQL find it, too. */
  address(name: string, database = "memsync"): string {
    const host = encodeURIComponent(this.#folder);
    return `postgres://memsync:memsync@localhost:${this.#port(name)}/${database}?host=${host}`;
  }

  #port(name: string): number {
    return 5432 + this.names.indexOf(name);
  }

  /** Runs commands as whom the clusters belong to; what they start is the cluster `name`. */
  run(name: string, commands: string, variables: Readonly<Record<string, string>> = {}): void {
    const { PATH = "" } = process.env;
    const { status } = spawnSync("sh", ["-euc", commands], {
      ...this.#as,
      cwd: this.#folder,
      // A server that is started here outlives the shell, and must not hold its pipes.
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        PATH: `${PROGRAMS}:${PATH}`,
        LC_ALL: "C",
        PGPORT: `${this.#port(name)}`,
        ...this.#variables,
        ...variables,
      },
    });
    if (status !== 0) throw new Error(`${commands} ended with ${status}`);
  }

  [Symbol.dispose](): void {
    // Who still ends would write into what is being removed.
    const stop = 'pg_ctl stop --mode immediate --wait --silent --pgdata "$each" || true';
    this.run("", `for each in *; do test ! -f "$each/postmaster.pid" || ${stop}; done`);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
