import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { UNFINISHED, worseThanRecorded } from "./check.ts";
import { compileInto } from "./compiled.ts";
import { machineLine } from "./machine.ts";
import { Programs } from "./programs.ts";
import type { Row, RowResult } from "./row.ts";
import { backlog } from "./rows/backlog.ts";
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
import { history } from "./rows/history.ts";
import { idle } from "./rows/idle.ts";
import { limits } from "./rows/limits.ts";
import { live } from "./rows/live.ts";
import { mcp } from "./rows/mcp.ts";
import { push } from "./rows/push.ts";
import { pushOne } from "./rows/push-one.ts";
import { read } from "./rows/read.ts";
import { sessions } from "./rows/sessions.ts";
import { start } from "./rows/start.ts";
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
  bounded,
  live,
  delta,
  first,
  backlog,
  idle,
  grow,
  cli,
  mcp,
  history,
  crowd,
  fragments,
  sessions,
];
const NAMES = ROWS.map((row) => row.name).join("|");
const OPTIONS = "[--writes N] [--seconds N] [--compiled] [--check]";
const USAGE = `usage: npm run bench -- [${NAMES}]... ${OPTIONS}`;
const LIVE_WRITES = 60;
const IDLE_SECONDS = 600;

interface Options {
  readonly rows: readonly Row[];
  readonly writes: number;
  readonly seconds: number;
  /** The compiled binary is measured instead of the sources. */
  readonly compiled: boolean;
  /** Ratios that got worse than recorded are named, and fail the run. */
  readonly check: boolean;
}

/** Throws for what it doesn't know. */
function parseOptions(args: readonly string[]): Options {
  const rows: Row[] = [];
  let writes = LIVE_WRITES;
  let seconds = IDLE_SECONDS;
  let compiled = false;
  let check = false;
  for (let at = 0; at < args.length; at++) {
    const row = ROWS.find((each) => each.name === args[at]);
    const isCount = /^[1-9]\d{0,3}$/.test(args[at + 1] ?? "");
    if (row) rows.push(row);
    else if (args[at] === "--writes" && isCount) writes = Number(args[++at]);
    else if (args[at] === "--seconds" && isCount) seconds = Number(args[++at]);
    else if (args[at] === "--compiled") compiled = true;
    else if (args[at] === "--check") check = true;
    else throw new Error(USAGE);
  }
  return { rows: rows.length === 0 ? ROWS : rows, writes, seconds, compiled, check };
}

/**
 * Runs a row in folders of its own; ends all that it started and removes all that it wrote. A row
 * that fails is missed, and the others go on.
 */
async function runRow(row: Row, { writes, seconds, compiled }: Options): Promise<RowResult> {
  const folders: string[] = [];
  const folder = async () => {
    const made = await mkdtemp(join(tmpdir(), "memsync-bench-"));
    folders.push(made);
    return made;
  };
  const programs = new Programs(compiled ? await compileInto(await folder()) : undefined);
  try {
    return await row.run({ programs, folder, writes, seconds });
  } catch (thrown) {
    const figure = `not finished: ${messageOf(thrown)}`;
    return { figures: [{ figure, target: UNFINISHED, verdict: "MISSED" }], notes: [] };
  } finally {
    await programs.stopAll();
    for (const made of folders) await rm(made, { recursive: true, force: true });
  }
}

const options = parseOptions(process.argv.slice(2));
const machine = machineLine();
const finished: Finished[] = [];
for (const row of options.rows) {
  process.stderr.write(`${row.name} …\n`);
  finished.push({ row, result: await runRow(row, options) });
}
process.stdout.write(markdownOf(machine, finished));
const worse = options.check ? worseThanRecorded(finished) : [];
for (const line of worse) process.stderr.write(`${line}\n`);
if (worse.length > 0) process.exitCode = 1;
