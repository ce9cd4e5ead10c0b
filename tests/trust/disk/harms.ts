import { Database } from "bun:sqlite";
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";

const PAGE = 4096;

/** One way in which a disk or a person harms a database that nobody has open. */
export interface Harm {
  readonly name: string;
  /** Whether all that the machine had saved can still be read. */
  readonly readable: boolean;
  readonly harm: (path: string, random: () => number) => void;
}

/** Overwrites one page with noise; the first is 0. */
export function spoilPage(path: string, page: number, random: () => number): void {
  const noise = Uint8Array.from({ length: PAGE }, () => Math.floor(random() * 256));
  const file = openSync(path, "r+");
  writeSync(file, noise, 0, PAGE, page * PAGE);
  closeSync(file);
}

function pagesOf(path: string): number {
  const file = openSync(path, "r");
  const { size } = fstatSync(file);
  closeSync(file);
  return Math.floor(size / PAGE);
}

/** Changes one bit of a row of the log, as a disk does: its page stays a sound one. */
export function flipBit(path: string, random: () => number): void {
  flipBits(path, random, (rows) => rows.slice(Math.floor(random() * rows.length)).slice(0, 1));
}

/** Changes one bit of every row. */
export function flipEveryRow(path: string, random: () => number): void {
  flipBits(path, random, (rows) => rows);
}

function flipBits(
  path: string,
  random: () => number,
  choose: (rows: readonly Row[]) => readonly Row[],
): void {
  using database = new Database(path);
  database.exec("PRAGMA busy_timeout = 5000");
  const change = database.transaction(() => {
    using select = database.query<Row, []>("select rowid, payload from updates");
    using update = database.query("update updates set payload = ? where rowid = ?");
    for (const { rowid, payload } of choose(select.all())) {
      const at = Math.floor(random() * payload.length);
      payload[at] = (payload[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      update.run(payload, rowid);
    }
  });
  change.immediate();
}

interface Row {
  readonly rowid: number;
  readonly payload: Uint8Array;
}

function removeAll(path: string): void {
  for (const part of ["", "-wal", "-shm"]) {
    if (existsSync(`${path}${part}`)) rmSync(`${path}${part}`);
  }
}

export const HARMS: readonly Harm[] = [
  { name: "the first page", readable: true, harm: (path, random) => spoilPage(path, 0, random) },
  {
    name: "a page",
    readable: false,
    harm(path, random) {
      spoilPage(path, 1 + Math.floor(random() * (pagesOf(path) - 1)), random);
    },
  },
  {
    name: "the end",
    readable: false,
    harm(path, random) {
      truncateSync(path, Math.floor((0.2 + 0.7 * random()) * pagesOf(path) * PAGE));
    },
  },
  { name: "everything, the name stayed", readable: false, harm: (path) => truncateSync(path, 0) },
  { name: "everything", readable: false, harm: removeAll },
  { name: "a bit of a row", readable: true, harm: flipBit },
];
