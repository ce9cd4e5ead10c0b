import { Database } from "bun:sqlite";
import { copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { growHome } from "../load/grow-load.ts";
import type { Loaded } from "../load/grown-home.ts";
import { type Bench, type Row, verdictOf } from "../row.ts";
import { mebibytes, median, ms, times, whole } from "../sample.ts";

const WRITES = 100_000;
const FRESH_WRITES = 200;
const STARTS = 5;
const SEED = 20_260_101;
const SIZE_RATIO_MAX = 4;
const LOAD_MS_MAX = 150;
const MEMORY_RATIO_MAX = 2;

/** A home after 100,000 overwrites of 100 keys by two writers in turn, beside a fresh one. */
export const grow: Row = {
  name: "grow",
  async run(bench) {
    const dir = await bench.folder();
    const [path, freshPath] = [join(dir, "grown.db"), join(dir, "fresh.db")];
    const startedAt = performance.now();
    const { liveBytes } = await growHome(path, WRITES, SEED);
    const perWriteMs = (performance.now() - startedAt) / WRITES;
    await growHome(freshPath, FRESH_WRITES, SEED);
    const size = statSync(path).size;
    const history = historyOf(path);
    const bare = bareSize(path, join(dir, "bare.db"));
    const [grown, fresh] = [await loadOften(bench, path), await loadOften(bench, freshPath)];
    const memory = grown.residentBytes / fresh.residentBytes;
    const [ratio, bareRatio] = [size / liveBytes, bare / liveBytes];
    return {
      figures: [
        {
          figure:
            `${times(ratio)} the live text (${whole(liveBytes)} bytes), with ` +
            `${whole(history.count)} revisions kept, which alone are ` +
            `${times(history.bytes / liveBytes)} it`,
          target: "database ≤ 4 × the live text",
          verdict: verdictOf(ratio <= SIZE_RATIO_MAX),
        },
        {
          figure: `${times(bareRatio)} the live text without the revisions`,
          target: "the same, history aside: ≤ 4 ×",
          verdict: verdictOf(bareRatio <= SIZE_RATIO_MAX),
        },
        {
          figure: `loaded in ${ms(grown.tookMs)} (a fresh one in ${ms(fresh.tookMs)})`,
          target: "load ≤ 150 ms",
          verdict: verdictOf(grown.tookMs <= LOAD_MS_MAX),
        },
        {
          figure:
            `${times(memory)} the memory of a fresh replica ` +
            `(${mebibytes(grown.residentBytes)} and ${mebibytes(fresh.residentBytes)})`,
          target: "resident memory ≤ 2 × a fresh replica's",
          verdict: verdictOf(memory <= MEMORY_RATIO_MAX),
        },
      ],
      notes: [
        `A home's database, ${whole(WRITES)} durable commits of ${ms(perWriteMs)}, values of ` +
          "0.5 to 5.5 KB, the two writers in turn on each key; all acknowledged, then a sweep. " +
          `The fresh replica has had ${FRESH_WRITES}. Loads are medians of ${STARTS} processes. ` +
          "The target's peer, Hocuspocus's stored document, comes later.",
      ],
    };
  },
};

function historyOf(path: string): { readonly count: number; readonly bytes: number } {
  const database = new Database(path, { readonly: true });
  const sums = "SELECT count(*) AS count, sum(octet_length(value)) AS bytes FROM revisions";
  const found = database.query(sums).get() as { count: number; bytes: number };
  database.close();
  return found;
}

/** What a copy of the file takes without its revisions. */
function bareSize(path: string, copy: string): number {
  copyFileSync(path, copy);
  const database = new Database(copy);
  database.exec("DELETE FROM revisions; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return statSync(copy).size;
}

async function loadOften({ programs }: Bench, path: string) {
  const tookMs: number[] = [];
  const residentBytes: number[] = [];
  for (let start = 0; start < STARTS; start++) {
    const program = await programs.start("load/grown-home.ts", [path]);
    tookMs.push((JSON.parse(program.line) as Loaded).tookMs);
    residentBytes.push(program.residentBytes());
    await program.stop();
  }
  return { tookMs: median(tookMs), residentBytes: median(residentBytes) };
}
