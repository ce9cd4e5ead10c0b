import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { COLLAPSED_BY, readRecorded, UNFINISHED, WORSE_BY, worseThanRecorded } from "./check.ts";
import { compileInto } from "./compiled.ts";
import { machineLine } from "./machine.ts";
import { svgOf } from "./plot.ts";
import { Programs } from "./programs.ts";
import type { Row, RowResult } from "./row.ts";
import { backlog } from "./rows/backlog.ts";
import { before } from "./rows/before.ts";
import { bounded } from "./rows/bounded.ts";
import { bulk } from "./rows/bulk.ts";
import { cli } from "./rows/cli.ts";
import { crowd } from "./rows/crowd.ts";
import { delta } from "./rows/delta.ts";
import { emulator } from "./rows/emulator.ts";
import { fair } from "./rows/fair.ts";
import { first } from "./rows/first.ts";
import { fragments } from "./rows/fragments.ts";
import { grow } from "./rows/grow.ts";
import { growth } from "./rows/growth.ts";
import { history } from "./rows/history.ts";
import { idle } from "./rows/idle.ts";
import { limits } from "./rows/limits.ts";
import { live } from "./rows/live.ts";
import { mcp } from "./rows/mcp.ts";
import { opened } from "./rows/opened.ts";
import { page } from "./rows/page.ts";
import { postgres } from "./rows/postgres.ts";
import { push } from "./rows/push.ts";
import { pushOne } from "./rows/push-one.ts";
import { read } from "./rows/read.ts";
import { sessions } from "./rows/sessions.ts";
import { sized } from "./rows/sized.ts";
import { start } from "./rows/start.ts";
import { turns } from "./rows/turns.ts";
import { type Finished, markdownOf } from "./table.ts";

const ROWS: readonly Row[] = [
  start,
  read,
  emulator,
  limits,
  push,
  pushOne,
  bulk,
  fair,
  turns,
  bounded,
  live,
  delta,
  first,
  backlog,
  idle,
  grow,
  growth,
  page,
  cli,
  mcp,
  history,
  crowd,
  fragments,
  sessions,
  before,
  postgres,
  sized,
  opened,
];
/** One word for all that docs/scale.md tells, and its plot. */
const SCALE = { name: "scale", rows: [before, postgres, sized, opened], plot: "docs/scale.svg" };
const NAMES = [...ROWS, SCALE].map((row) => row.name).join("|");
/** Those that have a short form. */
const SHORT_ROWS: readonly Row[] = [start, read, push, pushOne, bulk, growth];
/** In a short run a row counts as collapsed only if it was so each time. */
const SHORT_TRIES = 3;
const OPTIONS = "[--writes N] [--seconds N] [--compiled] [--check | --short] [--plot FILE]";
const USAGE = `usage: npm run bench -- [${NAMES}]... ${OPTIONS}`;
const SHORT_USAGE = `--short is for ${SHORT_ROWS.map((row) => row.name).join(", ")}`;
const LIVE_WRITES = 60;
const IDLE_SECONDS = 600;

interface Options {
  readonly rows: readonly Row[];
  readonly writes: number;
  readonly seconds: number;
  /** The compiled binary is measured instead of the sources. */
  readonly compiled: boolean;
  /** Ratios that got so many times worse than recorded are named, and fail the run. */
  readonly worseBy: number | undefined;
  /** Few rounds, beside bare programs alone. */
  readonly short: boolean;
  /** Where to draw what was measured at several sizes. */
  readonly plot: string | undefined;
}

/** Throws for what it doesn't know. */
function parseOptions(args: readonly string[]): Options {
  const rows: Row[] = [];
  let writes = LIVE_WRITES;
  let seconds = IDLE_SECONDS;
  let compiled = false;
  let worseBy: number | undefined;
  let short = false;
  let plot: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const row = ROWS.find((each) => each.name === args[at]);
    const isCount = /^[1-9]\d{0,3}$/.test(args[at + 1] ?? "");
    if (row) rows.push(row);
    else if (args[at] === SCALE.name) {
      rows.push(...SCALE.rows);
      plot ??= join(import.meta.dir, "../..", SCALE.plot);
    } else if (args[at] === "--writes" && isCount) writes = Number(args[++at]);
    else if (args[at] === "--seconds" && isCount) seconds = Number(args[++at]);
    else if (args[at] === "--compiled") compiled = true;
    else if (args[at] === "--check") worseBy ??= WORSE_BY;
    else if (args[at] === "--short") [short, worseBy] = [true, COLLAPSED_BY];
    else if (args[at] === "--plot" && args[at + 1]) plot = args[++at];
    else throw new Error(USAGE);
  }
  const all = short ? SHORT_ROWS : ROWS;
  if (short && rows.some((row) => !SHORT_ROWS.includes(row))) throw new Error(SHORT_USAGE);
  const chosen = rows.length === 0 ? all : rows;
  return { rows: chosen, writes, seconds, compiled, worseBy, short, plot };
}

/**
 * Runs a row in folders of its own; ends all that it started and removes all that it wrote. A row
 * that fails is missed, and the others go on.
 */
async function runRow(row: Row, { writes, seconds, compiled, short }: Options): Promise<RowResult> {
  const folders: string[] = [];
  const folder = async () => {
    const made = await mkdtemp(join(tmpdir(), "memsync-bench-"));
    folders.push(made);
    return made;
  };
  const programs = new Programs(compiled ? await compileInto(await folder()) : undefined);
  try {
    return await row.run({ programs, folder, writes, seconds, short });
  } catch (thrown) {
    const figure = `not finished: ${messageOf(thrown)}`;
    return { figures: [{ figure, target: UNFINISHED, verdict: "MISSED" }], notes: [] };
  } finally {
    await programs.stopAll();
    for (const made of folders) await rm(made, { recursive: true, force: true });
  }
}

/** A short row that looks collapsed is run again: others may have been busy just then. */
async function runPatiently(row: Row, options: Options): Promise<RowResult> {
  const tries = options.short ? SHORT_TRIES : 1;
  let result = await runRow(row, options);
  for (let again = 1; again < tries && isWorse({ row, result }, options); again++) {
    process.stderr.write(`${row.name}, again …\n`);
    result = await runRow(row, options);
  }
  return result;
}

function isWorse(finished: Finished, { worseBy }: Options): boolean {
  return worseBy !== undefined && worseThanRecorded([finished], recorded, worseBy).length > 0;
}

const options = parseOptions(process.argv.slice(2));
const recorded = await readRecorded();
const machine = machineLine();
const finished: Finished[] = [];
for (const row of options.rows) {
  process.stderr.write(`${row.name} …\n`);
  finished.push({ row, result: await runPatiently(row, options) });
}
process.stdout.write(markdownOf(machine, finished));
const charts = finished.flatMap(({ result }) => result.charts ?? []);
if (options.plot !== undefined) await Bun.write(options.plot, svgOf(charts));
const { worseBy } = options;
const worse = worseBy === undefined ? [] : worseThanRecorded(finished, recorded, worseBy);
for (const line of worse) process.stderr.write(`${line}\n`);
if (worse.length > 0) process.exitCode = 1;
