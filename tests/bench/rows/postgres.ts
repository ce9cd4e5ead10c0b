import type { AccountsAsked, AccountsLoad, Target } from "../load/many-accounts.ts";
import { newAccounts, newDatabase, newFile, startCounting, startServer } from "../postgres.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { ms, times, whole } from "../sample.ts";

const ACCOUNTS = 64;
const ROUNDS = 4;
const PUSHES = 15;
const SINGLE = 150;
const SERVERS = 4;
const DEADLINE_MS = 300_000;

/** Servers on PostgreSQL beside one on a file, and beside bare SQL on the same PostgreSQL. */
export const postgres: Row = {
  name: "postgres",
  async run(bench) {
    const server = await startCounting();
    try {
      const load = await measure(bench, await newDatabase(server, "bench"));
      return {
        figures: figuresOf(load),
        notes: [
          `${ACCOUNTS} accounts with one update under way each; ${ROUNDS} rounds of ${PUSHES} ` +
            "updates of each, in turn with the others; medians. `limits` are off. Plain SQL: one " +
            "row of the same size with its own commit, on 16 connections, or on one. PostgreSQL, " +
            "all servers and the load share the machine's cores.",
        ],
      };
    } finally {
      process.kill(server.pid, "SIGQUIT");
    }
  },
};

async function measure(bench: Bench, database: string): Promise<AccountsLoad> {
  const file = await newFile(bench);
  const inFile = await newAccounts(file, ACCOUNTS);
  const tokens = await newAccounts(database, ACCOUNTS);
  const urls: string[] = [];
  for (let at = 0; at < SERVERS; at++) urls.push(await startServer(bench, database));
  const [first = ""] = urls;
  const targets: readonly Target[] = [
    {
      name: "sqlite",
      urls: [await startServer(bench, `sqlite:${file}`)],
      tokens: inFile,
      keeps: true,
    },
    { name: "one", urls: [first], tokens, keeps: true },
    { name: "four", urls, tokens, keeps: false },
    { name: "kept", urls, tokens, keeps: true },
  ];
  const asked: AccountsAsked = {
    targets,
    plain: database,
    rounds: ROUNDS,
    pushes: PUSHES,
    single: SINGLE,
  };
  const args = [JSON.stringify(asked)];
  return await bench.programs.run<AccountsLoad>("load/many-accounts.ts", args, DEADLINE_MS);
}

function figuresOf({ perSecond, single, reads, told }: AccountsLoad): Figure[] {
  const rate = (name: string) => perSecond[name] ?? Number.NaN;
  const p50 = (of: AccountsLoad["single"], name: string) => of[name]?.p50 ?? Number.NaN;
  const atLeast = (what: string, value: number, target: number, of: string): Figure => ({
    figure: `${what}, ${times(value)} ${of}`,
    target: `≥ ${target} × ${of}`,
    verdict: verdictOf(value >= target),
  });
  const own = `push: ${whole(rate("one"))} a second`;
  const one = p50(single, "one");
  const hint = p50(told, "four");
  const bare = p50(single, "plain");
  return [
    atLeast(own, rate("one") / rate("sqlite"), 0.5, `SQLite (${whole(rate("sqlite"))})`),
    atLeast(own, rate("one") / rate("plain"), 0.35, `plain SQL (${whole(rate("plain"))})`),
    {
      figure: `push-one: p50 ${ms(one)}, ${times(one / bare)} plain SQL (${ms(bare)})`,
      target: "p50 ≤ 3 × a bare INSERT … COMMIT",
      verdict: verdictOf(one <= 3 * bare),
    },
    atLeast(
      `read: ${whole(reads.one ?? 0)} a second`,
      (reads.one ?? 0) / (reads.sqlite ?? 1),
      0.5,
      `SQLite (${whole(reads.sqlite ?? 0)})`,
    ),
    {
      figure:
        `told at another server: p50 ${ms(hint)} (p99 ${ms(told.four?.p99 ?? 0)}), ` +
        `${times(hint / p50(told, "one"))} that at the same one (${ms(p50(told, "one"))})`,
      target: "p50 ≤ 3 × at one server, p99 ≤ 25 ms",
      verdict: verdictOf(hint <= 3 * p50(told, "one") && (told.four?.p99 ?? 0) <= 25),
    },
    atLeast(
      `four servers, calls at random: ${whole(rate("four"))} a second`,
      rate("four") / rate("one"),
      0.8,
      "one server",
    ),
    atLeast(
      `four servers, each account at one: ${whole(rate("kept"))} a second`,
      rate("kept") / rate("one"),
      0.9,
      "one server",
    ),
  ];
}
