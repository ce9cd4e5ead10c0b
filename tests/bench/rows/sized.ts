import type { FillAsked, Filled } from "../load/fill-accounts.ts";
import type { SizedAsked, SizedLoad } from "../load/sized-load.ts";
import type { Chart } from "../plot.ts";
import { ask, newAccounts, newDatabase, startCounting, startServer } from "../postgres.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { ms, times, whole } from "../sample.ts";

const ACCOUNTS = 2000;
const SERVERS = 3;
/** Five seconds' worth, so that a round of looks falls into each. */
const CALLS = 2000;
/** Empty, a tenth, and all. */
const SIZES = [
  { projects: 0, machines: 0 },
  { projects: 1000, machines: 100 },
  { projects: 10_000, machines: 1000 },
] as const;
/** A slow machine gets as far as it comes. */
const FILL_MS = 120_000;
const DEADLINE_MS = 400_000;
const RATIO_MAX = 1.5;
const RECKONED = 100;

/** What was measured at one size. */
interface Measured extends SizedLoad {
  readonly projects: number;
  readonly machines: number;
  /** Bytes of each table with its indices. */
  readonly tables: ReadonlyMap<string, number>;
}

/** What a call takes, and a project, in a PostgreSQL that others fill. */
export const sized: Row = {
  name: "sized",
  async run(bench) {
    const server = await startCounting();
    try {
      const measured = await measure(bench, await newDatabase(server, "sized"));
      return {
        figures: figuresOf(measured),
        charts: chartsOf(measured),
        notes: [
          `${ACCOUNTS} accounts, whose projects are spread as by Zipf, on ${SERVERS} servers; ` +
            "each project has 20 memories and a document of 2 KB. Filling ends after " +
            `${FILL_MS / 1000} s a step. ${CALLS} pushes and polls of one project, one by one, ` +
            "with the machines' live sockets open. `limits` are off: with them each call has the " +
            "five statements of its charge besides, which calls of one tick share. Statements " +
            "include those of the looks that sockets cause every five seconds.",
          `bytes a project: ${bytesOf(measured)}`,
        ],
      };
    } finally {
      process.kill(server.pid, "SIGQUIT");
    }
  },
};

async function measure(bench: Bench, database: string): Promise<Measured[]> {
  const tokens = await newAccounts(database, ACCOUNTS);
  const urls: string[] = [];
  for (let at = 0; at < SERVERS; at++) urls.push(await startServer(bench, database));
  const measured: Measured[] = [];
  let reached = 0;
  for (const { projects, machines } of SIZES) {
    const fill: FillAsked = { urls, tokens, from: reached, to: projects, withinMs: FILL_MS };
    const { programs } = bench;
    const filled = programs.run<Filled>(
      "load/fill-accounts.ts",
      [JSON.stringify(fill)],
      DEADLINE_MS,
    );
    ({ reached } = await filled);
    await ask(database, "CHECKPOINT");
    const load: SizedAsked = { urls, tokens, database, machines, calls: CALLS };
    const args = [JSON.stringify(load)];
    const found = await bench.programs.run<SizedLoad>("load/sized-load.ts", args, DEADLINE_MS);
    measured.push({ ...found, projects: reached, machines, tables: await tablesOf(database) });
  }
  return measured;
}

async function tablesOf(database: string): Promise<ReadonlyMap<string, number>> {
  const rows = await ask<{ name: string; bytes: string }>(
    database,
    `SELECT relname AS name, pg_total_relation_size(relid) AS bytes FROM pg_stat_user_tables
    ORDER BY 2 DESC`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

const total = ({ tables }: Measured) => [...tables.values()].reduce((sum, each) => sum + each, 0);

function perProject(measured: readonly Measured[]): number {
  const [first, last] = [measured[0], measured.at(-1)];
  if (!first || !last) throw new Error("nothing was measured");
  return (total(last) - total(first)) / Math.max(1, last.projects);
}

function bytesOf(measured: readonly Measured[]): string {
  const [first, last] = [measured[0], measured.at(-1)];
  const each = [...(last?.tables ?? [])].map(([name, bytes]) => {
    const grown = bytes - (first?.tables.get(name) ?? 0);
    return [name, Math.round(grown / Math.max(1, last?.projects ?? 1))] as const;
  });
  const large = each.filter(([, bytes]) => bytes > 50);
  return large.map(([name, bytes]) => `${name} ${whole(bytes)}`).join(", ");
}

function figuresOf(measured: readonly Measured[]): Figure[] {
  const [empty] = measured;
  if (!empty) throw new Error("nothing was measured");
  const each = measured.map(({ projects, machines, push, poll, bare }): Figure => {
    const ratio = push.p50 / empty.push.p50;
    return {
      figure:
        `${whole(projects)} projects, ${whole(machines)} machines: a push p50 ${ms(push.p50)}, ` +
        `${times(ratio)} an empty one's and ${times(push.p50 / bare)} a bare commit's in turn ` +
        `(${ms(bare)}), ${push.statements.toFixed(1)} statements, ` +
        `${whole(push.wal)} bytes of WAL; a poll ${ms(poll.p50)}, ` +
        `${poll.statements.toFixed(1)} statements, ${whole(poll.wal)} bytes`,
      target: `push p50 ≤ ${RATIO_MAX} × empty`,
      verdict: verdictOf(ratio <= RATIO_MAX),
    };
  });
  const bytes = perProject(measured);
  return [
    ...each,
    {
      figure:
        `${whole(bytes)} bytes a project; ${RECKONED} × as many (1,000,000) are ` +
        `${whole((bytes * 1_000_000) / 1e9)} GB`,
      target: "none",
      verdict: "not judged",
    },
  ];
}

function chartsOf(measured: readonly Measured[]): Chart[] {
  const grown = measured.filter(({ projects }) => projects > 0);
  const last = grown.at(-1)?.projects ?? 1;
  const bytes = perProject(measured);
  const points = (value: (each: Measured) => number) =>
    grown.map((each) => [each.projects, value(each)] as const);
  const reckoned = [last, last * RECKONED].map((size) => [size, (size * bytes) / 1e6] as const);
  return [
    {
      title: "Time by projects",
      sizes: "projects",
      unit: "ms",
      series: [
        { name: "push", points: points(({ push }) => push.p50) },
        { name: "poll", points: points(({ poll }) => poll.p50) },
      ],
    },
    {
      title: "Disk by projects",
      sizes: "projects",
      unit: "MB",
      series: [
        { name: "measured", points: points((each) => total(each) / 1e6) },
        { name: "reckoned", points: reckoned },
      ],
    },
  ];
}
