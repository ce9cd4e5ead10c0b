import { type GenericPlans, genericPlans } from "../generic-plans.ts";
import type { FillAsked, Filled } from "../load/fill-accounts.ts";
import type { Cost, SizedAsked, SizedLoad } from "../load/sized-load.ts";
import type { Chart } from "../plot.ts";
import { ask, newAccounts, newDatabase, startCounting, startServer } from "../postgres.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { ms, times, whole } from "../sample.ts";

const ACCOUNTS = 2000;
const SERVERS = 3;
/** Five seconds' worth, so that a round of looks falls into each. */
const CALLS = 2000;
/** Of each kind of request besides. */
const EACH = 100;
/** Empty, a tenth, all, and all once more. */
const SIZES = [
  { projects: 0, machines: 0 },
  { projects: 1000, machines: 100 },
  { projects: 10_000, machines: 1000 },
  // The same again: what is larger then grows by itself.
  { projects: 10_000, machines: 1000 },
] as const;
/** A slow machine gets as far as it comes. */
const FILL_MS = 120_000;
const DEADLINE_MS = 400_000;
const RATIO_MAX = 1.5;
const RECKONED = 100;
/** The tables that projects and what is written fill. All others keep a row an account, or one. */
const FILLED =
  /^(memories|updates|snapshots|epochs|texts|documents|(long_)?metadata|revision(s|_packs))$/;
/** By so much a table that nothing fills may be larger after the same load again: a few pages. */
const GROWN_MAX = 128 * 1024;

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
      const database = await newDatabase(server, "sized");
      const measured = await measure(bench, database);
      const plans = await genericPlans(database);
      return {
        figures: [...figuresOf(measured), plansFigure(plans), growthFigure(measured)],
        charts: chartsOf(measured),
        notes: [
          `${ACCOUNTS} accounts, whose projects are spread as by Zipf, on ${SERVERS} servers; ` +
            "each project has 20 memories and a document of 2 KB. Filling ends after " +
            `${FILL_MS / 1000} s a step. ${CALLS} pushes and polls of one project, one by one, ` +
            "with the machines' live sockets open. `limits` are off: with them each call has the " +
            "five statements of its charge besides, which calls of one tick share. Statements " +
            "include those of the looks that sockets cause every five seconds.",
          `projects of accounts: ${await spreadOf(database)}`,
          ...measured.slice(1, -1).map((each) => `bytes a project: ${bytesOf(measured, each)}`),
          ...measured.slice(1, -1).map(requestsOf),
          ...plans.whole.map((each) => `read from one end to the other: ${each}`),
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
  const { programs } = bench;
  let [reached, wanted] = [0, 0];
  for (const { projects, machines } of SIZES) {
    if (projects > wanted) {
      const fill: FillAsked = { urls, tokens, from: reached, to: projects, withinMs: FILL_MS };
      const args = [JSON.stringify(fill)];
      ({ reached } = await programs.run<Filled>("load/fill-accounts.ts", args, DEADLINE_MS));
      wanted = projects;
    }
    await ask(database, "CHECKPOINT");
    const load: SizedAsked = { urls, tokens, database, machines, calls: CALLS, each: EACH };
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
  const [first, last] = [measured[0], measured.at(-2)];
  if (!first || !last) throw new Error("nothing was measured");
  return (total(last) - total(first)) / Math.max(1, last.projects);
}

function bytesOf(measured: readonly Measured[], at: Measured): string {
  const [first] = measured;
  const each = [...at.tables].map(([name, bytes]) => {
    const grown = bytes - (first?.tables.get(name) ?? 0);
    return [name, grown / Math.max(1, at.projects)] as const;
  });
  const told = each
    .filter(([, bytes]) => bytes >= 1)
    .map(([name, bytes]) => `${name} ${whole(bytes)}`);
  const rest = each.filter(([, bytes]) => bytes < 1).map(([name]) => name);
  return `at ${whole(at.projects)}: ${told.join(", ")}; none: ${rest.join(", ")}`;
}

/** How many projects the accounts with most of them have. */
async function spreadOf(database: string): Promise<string> {
  const rows = await ask<{ projects: number }>(
    database,
    `SELECT count(*)::int AS projects FROM documents WHERE name LIKE 'proj%'
      GROUP BY owner ORDER BY 1 DESC`,
  );
  const counts = rows.map(({ projects }) => projects);
  const sum = (of: readonly number[]) => of.reduce((all, each) => all + each, 0);
  const first = (of: number) => `${((100 * sum(counts.slice(0, of))) / sum(counts)).toFixed(0)} %`;
  return (
    `${counts.length} of ${whole(ACCOUNTS)} have any; the first has ${first(1)}, ` +
    `the first ten ${first(10)}, the first hundred ${first(100)} ` +
    "(account k has log(1 + 1/k) / log(accounts) of them, which is Zipf's law with exponent 1)"
  );
}

function requestsOf({ projects, requests }: Measured): string {
  const said = ([name, { p50, statements, wal }]: [string, Cost]) =>
    `${name} ${ms(p50)}, ${statements.toFixed(1)}, ${whole(wal)}`;
  const each = Object.entries(requests).map(said);
  return `p50, statements and bytes of WAL at ${whole(projects)} projects: ${each.join("; ")}`;
}

function plansFigure({ planned, whole: read }: GenericPlans): Figure {
  return {
    figure: `${planned} statements planned for any values; ${read.length} read a large table whole`,
    target: "index scans only",
    verdict: verdictOf(read.length === 0),
  };
}

/** After the same load again, tables that nothing is to fill are as large as before. */
function growthFigure(measured: readonly Measured[]): Figure {
  const [once, twice] = measured.slice(-2);
  const grown = [...(twice?.tables ?? [])]
    .filter(([name]) => !FILLED.test(name))
    .map(([name, bytes]) => [name, bytes - (once?.tables.get(name) ?? 0)] as const)
    .filter(([, bytes]) => bytes > 0);
  const told = grown.map(([name, bytes]) => `${name} by ${whole(bytes)} bytes`).join(", ");
  return {
    figure: `after the same load again these tables are larger: ${told || "none"}`,
    target: `nothing grows but sizes (each ≤ ${whole(GROWN_MAX)} bytes)`,
    verdict: verdictOf(grown.every(([, bytes]) => bytes <= GROWN_MAX)),
  };
}

function figuresOf(measured: readonly Measured[]): Figure[] {
  const [empty] = measured;
  if (!empty) throw new Error("nothing was measured");
  const each = measured.slice(0, -1).map(({ projects, machines, push, poll, bare }): Figure => {
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
  const grown = measured.slice(1, -1);
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
