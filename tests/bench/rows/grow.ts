import { Database } from "bun:sqlite";
import { copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { HAS_REAL_DATA } from "../../support/real-data.ts";
import { growHome } from "../load/grow-load.ts";
import type { GrownPeer } from "../load/grow-peer.ts";
import type { Loaded } from "../load/grown-home.ts";
import { type NoteKind, noteValues } from "../load/note-values.ts";
import { besidePeer, startPeer } from "../peers.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { mebibytes, median, ms, times, whole } from "../sample.ts";

const WRITES = 100_000;
/** Random words need fewer: each key's history is full after 100 overwrites. */
const RANDOM_WRITES = 20_000;
const FRESH_WRITES = 200;
const STARTS = 5;
const SIZE_RATIO_MAX = 4;
const LOAD_MS_MAX = 150;
const MEMORY_RATIO_MAX = 2;
const TOKEN = "grow";
const PEER_DOCUMENT = "grown";
const PEER_DEADLINE_MS = 600_000;
const PEER_TARGET = "beside Hocuspocus's stored document";

/** A home after 100,000 overwrites of 100 keys by two writers in turn, beside a fresh one. */
export const grow: Row = {
  name: "grow",
  async run(bench) {
    const kind = HAS_REAL_DATA ? "real" : "random";
    const grown = await growIn(bench, kind, WRITES);
    const fresh = await growIn(bench, kind, FRESH_WRITES);
    const loads = [await loadOften(bench, grown.path), await loadOften(bench, fresh.path)] as const;
    const peer = await besidePeer(PEER_TARGET, () => besideHocuspocus(bench, kind, grown));
    const random = kind === "real" ? [await worstCase(bench)] : [];
    return {
      figures: [...sizeFigures(grown, kind), ...loadFigures(...loads), ...peer, ...random],
      notes: notesOf(grown, kind),
    };
  },
};

/** A home's database after some writes and a sweep. Sizes are in bytes. */
interface GrownHome {
  readonly path: string;
  readonly liveBytes: number;
  readonly size: number;
  /** Without the revisions. */
  readonly bareSize: number;
  /** Compressed or not, as they are stored. */
  readonly revisions: { readonly count: number; readonly bytes: number };
  readonly perWriteMs: number;
}

async function growIn({ folder }: Bench, kind: NoteKind, writes: number): Promise<GrownHome> {
  const dir = await folder();
  const path = join(dir, "grown.db");
  const startedAt = performance.now();
  const { liveBytes } = await growHome(path, writes, noteValues(kind));
  const perWriteMs = (performance.now() - startedAt) / writes;
  const bareSize = bareSizeOf(path, join(dir, "bare.db"));
  const size = statSync(path).size;
  return { path, liveBytes, size, bareSize, revisions: revisionsIn(path), perWriteMs };
}

function revisionsIn(path: string): GrownHome["revisions"] {
  const database = new Database(path, { readonly: true });
  const sums = `select sum(count) as count, sum(bytes) as bytes from (
    select count(*) as count, sum(octet_length(value)) as bytes from revisions union all
    select sum(count), sum(octet_length(payload)) from revision_packs)`;
  const found = database.query(sums).get() as GrownHome["revisions"];
  database.close();
  return found;
}

/** What a copy of the file takes without its revisions. */
function bareSizeOf(path: string, copy: string): number {
  copyFileSync(path, copy);
  const database = new Database(copy);
  database.exec("DELETE FROM revisions; DELETE FROM revision_packs; VACUUM");
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return statSync(copy).size;
}

function sizeFigures(home: GrownHome, kind: NoteKind): Figure[] {
  const { liveBytes, size, bareSize } = home;
  const [ratio, bareRatio] = [size / liveBytes, bareSize / liveBytes];
  const isReal = kind === "real";
  return [
    {
      figure: `${times(ratio)} the live text (${whole(liveBytes)} bytes), ${historyOf(home)}`,
      target: "database ≤ 4 × the live text",
      verdict: isReal ? verdictOf(ratio <= SIZE_RATIO_MAX) : "not judged",
      ...(isReal && {
        ratio: { name: "grow: database beside the live text", value: ratio, better: "lower" },
      }),
    },
    {
      figure: `${times(bareRatio)} the live text without the revisions`,
      target: "the same, history aside: ≤ 4 ×",
      verdict: verdictOf(bareRatio <= SIZE_RATIO_MAX),
      ...(isReal && {
        ratio: {
          name: "grow: without revisions beside the live text",
          value: bareRatio,
          better: "lower",
        },
      }),
    },
  ];
}

function historyOf({ revisions, liveBytes }: GrownHome): string {
  const { count, bytes } = revisions;
  return (
    `with ${whole(count)} revisions kept, which alone are ${times(bytes / liveBytes)} it ` +
    `(${whole(bytes / count)} bytes each)`
  );
}

function loadFigures(grown: OftenLoaded, fresh: OftenLoaded): Figure[] {
  const memory = grown.residentBytes / fresh.residentBytes;
  return [
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
  ];
}

/** The same overwrites, by two of its clients, of a map in one of its documents. */
async function besideHocuspocus(
  { programs, folder }: Bench,
  kind: NoteKind,
  grown: GrownHome,
): Promise<readonly Figure[]> {
  const path = join(await folder(), "hocuspocus.db");
  const peer = await startPeer(programs, "hocuspocus-server.mjs", [path, TOKEN]);
  const args = [peer.url, TOKEN, PEER_DOCUMENT, kind, String(WRITES)];
  const { liveBytes } = await programs.run<GrownPeer>("load/grow-peer.ts", args, PEER_DEADLINE_MS);
  if (liveBytes !== grown.liveBytes) throw new Error("the peer was given something else");
  // At its end it stores what it has not yet.
  await peer.stop();
  const stored = peerDocument(path);
  const [own, compressed] = ownDocument(grown.path).map((bytes) => times(bytes / liveBytes));
  const figure =
    `its document is ${times(stored / liveBytes)} the live text and its database ` +
    `${times(statSync(path).size / liveBytes)}, without any history; our document is ${own}, ` +
    `${compressed} as it is stored`;
  return [{ figure, target: PEER_TARGET, verdict: "not judged" }];
}

function peerDocument(path: string): number {
  using database = new Database(path, { readonly: true });
  const sql = "select octet_length(data) as bytes from documents where name = ?";
  const row = database.query<{ bytes: number }, [string]>(sql).get(PEER_DOCUMENT);
  if (!row) throw new Error("the peer has stored nothing");
  return row.bytes;
}

/** Bytes of a home's one document, and of that as it is stored. */
function ownDocument(path: string): readonly [number, number] {
  using database = new Database(path, { readonly: true });
  const sql = "select bytes, octet_length(payload) as stored from snapshots";
  const row = database.query<{ bytes: number; stored: number }, []>(sql).get();
  if (!row) throw new Error("a swept home has a snapshot");
  return [row.bytes, row.stored];
}

async function worstCase(bench: Bench): Promise<Figure> {
  const home = await growIn(bench, "random", RANDOM_WRITES);
  return {
    figure: `${times(home.size / home.liveBytes)} for words in random order, ${historyOf(home)}`,
    target: "none: the worst case, which nobody writes",
    verdict: "not judged",
  };
}

interface OftenLoaded {
  readonly tookMs: number;
  readonly residentBytes: number;
}

async function loadOften({ programs }: Bench, path: string): Promise<OftenLoaded> {
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

function notesOf({ perWriteMs }: GrownHome, kind: NoteKind): string[] {
  const real =
    "Values are successive versions of real notes (files cut by sections to 0.5 to 5.5 KB, and " +
    "memories), with other words for each key; where a note's history ends, its key becomes the " +
    "next note.";
  return [
    `A home's database, ${whole(WRITES)} durable commits of ${ms(perWriteMs)}, the two writers ` +
      "in turn on each key; all acknowledged, then a sweep. " +
      (kind === "real" ? real : "Values are words in random order: no real ones are here.") +
      ` The fresh replica has had ${FRESH_WRITES}. Loads are medians of ${STARTS} processes. ` +
      "Hocuspocus got the same values by two clients and keeps no history; the home of random " +
      `words has had ${whole(RANDOM_WRITES)} overwrites.`,
  ];
}
