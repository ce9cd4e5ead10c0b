import type { FillAsked, Filled } from "../load/fill-accounts.ts";
import {
  newAccounts,
  newDatabase,
  newFile,
  startCounting,
  startServerProgram,
} from "../postgres.ts";
import { type Bench, type Row, verdictOf } from "../row.ts";
import { mebibytes, times } from "../sample.ts";

const PROJECTS = 1000;
const ACCOUNTS = 100;
/** The second one finds all of them there. */
const ROUNDS = 2;
const WITHIN_MS = 100_000;
const DEADLINE_MS = 120_000;
const RATIO_MAX = 1.1;

/** Bytes that a server holds when it is ready, and when 1,000 projects were written at it. */
interface Memory {
  readonly idle: number;
  readonly used: number;
}

/** The memory of a server of 1,000 projects, on a file and on a PostgreSQL. */
export const opened: Row = {
  name: "opened",
  async run(bench) {
    const server = await startCounting();
    try {
      const file = await measure(bench, `sqlite:${await newFile(bench)}`);
      const shared = await measure(bench, await newDatabase(server, "opened"));
      const ratio = shared.used / file.used;
      const said = ({ idle, used }: Memory) => `${mebibytes(used)} (${mebibytes(idle)} idle)`;
      return {
        figures: [
          {
            figure:
              `${PROJECTS} projects: ${said(shared)} on PostgreSQL, ${times(ratio)} that on a ` +
              `file, ${said(file)}`,
            target: `≤ ${RATIO_MAX} × SQLite`,
            verdict: verdictOf(ratio <= RATIO_MAX),
          },
        ],
        notes: [
          `${PROJECTS} projects of ${ACCOUNTS} accounts, each with 20 memories and a document of ` +
            `2 KB, are synced ${ROUNDS} times, 32 at once. Of their documents a server keeps 512 ` +
            "in memory, or 64 MiB. Resident bytes of the server's process alone.",
        ],
      };
    } finally {
      process.kill(server.pid, "SIGQUIT");
    }
  },
};

async function measure(bench: Bench, database: string): Promise<Memory> {
  const tokens = await newAccounts(database.replace(/^sqlite:/, ""), ACCOUNTS);
  const { program, url } = await startServerProgram(bench, database);
  const idle = program.residentBytes();
  for (let round = 0; round < ROUNDS; round++) {
    const fill: FillAsked = { urls: [url], tokens, from: 0, to: PROJECTS, withinMs: WITHIN_MS };
    const args = [JSON.stringify(fill)];
    const { reached } = await bench.programs.run<Filled>(
      "load/fill-accounts.ts",
      args,
      DEADLINE_MS,
    );
    if (reached < PROJECTS) throw new Error(`only ${reached} projects were written`);
  }
  return { idle, used: program.residentBytes() };
}
