import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { median, quantile } from "../sample.ts";
import { Connection, requestOf } from "./connection.ts";

const SECONDS_MAX = 60;
const READ_EVERY_MS = 10;
/** A p99 of 600 writes in a quarter of a minute is their sixth worst, not the second. */
const WRITE_EVERY_MS = 25;

/** Durations in milliseconds. */
export interface Waited {
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
}

/** What a run of this program prints: what an account waited for that asks now and then. */
export interface QuietLoad {
  readonly reads: Waited;
  readonly writes: Waited;
}

const [url = "", token = "", seconds = "1"] = process.argv.slice(2);
const durationMs = Math.min(Number(seconds), SECONDS_MAX) * 1000;
const [reads, writes] = await Promise.all([
  askEvery(READ_EVERY_MS, () => requestOf({ url, token }, "GET", "/v1/projects")),
  askEvery(WRITE_EVERY_MS, (at) => {
    const body = JSON.stringify({ layer: "user", key: "k", content: `${at}` });
    return requestOf({ url, token }, "POST", "/v1/memories", body);
  }),
]);
const load: QuietLoad = { reads, writes };
process.stdout.write(`${JSON.stringify(load)}\n`);

async function askEvery(everyMs: number, requestAt: (at: number) => Uint8Array): Promise<Waited> {
  const connection = await Connection.open(url);
  const tookMs: number[] = [];
  const until = performance.now() + durationMs;
  for (let at = 0; performance.now() < until; at++) {
    const answer = await connection.ask(requestAt(at));
    if (answer.status !== 200) throw new Error(`a request was answered ${answer.status}`);
    // What it takes to open the connection and to compile the query is none of the others' doing.
    if (at > 0) tookMs.push(answer.tookMs);
    await delay(realWorld, everyMs);
  }
  connection.close();
  return { p50: median(tookMs), p99: quantile(tookMs, 0.99), slowest: quantile(tookMs, 1) };
}
