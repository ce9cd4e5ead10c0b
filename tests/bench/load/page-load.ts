import { encodeExchangeRequest } from "../../../shared/wire/exchange.ts";
import { usageOf } from "../../support/process-figures.ts";
import { median } from "../sample.ts";
import { Connection, requestOf } from "./connection.ts";
import { ReplicaWriter } from "./replica-writer.ts";

const ROUNDS_MAX = 1000;
/** Rounds in which code is compiled and caches fill. */
const WARM_ROUNDS = 30;
const PAGE = 20;

/** What a run of this program prints: milliseconds for each page. */
export interface PageLoad {
  readonly took: number;
  /** Of the processor, by all of the server's threads. */
  readonly ran: number;
}

// A page of a list that somebody has just written to, so that none is kept from before. What the
// writes take is measured by themselves, and taken off.
const [url = "", token = "", project = "", pid = "", rounds = "1"] = process.argv.slice(2);
const connection = await Connection.open(url);
const writer = new ReplicaWriter();
const count = Math.min(Number(rounds), ROUNDS_MAX);
await run(WARM_ROUNDS, true);
const writes = await run(count, false);
const both = await run(count, true);
const ran = (both.ranMs - writes.ranMs) / count;
process.stdout.write(`${JSON.stringify({ took: median(both.tookMs), ran } satisfies PageLoad)}\n`);
process.exit();

async function run(times: number, asks: boolean) {
  const before = usageOf(Number(pid)).cpuMs;
  const tookMs: number[] = [];
  for (let round = 0; round < times; round++) {
    const documents = { project: { update: writer.write() } };
    const body = JSON.stringify(encodeExchangeRequest({ documents }));
    await ask(requestOf({ url, token }, "POST", `/api/projects/${project}/sync`, body));
    const path = `/v1/memories?project_id=${project}&limit=${PAGE}`;
    if (asks) tookMs.push(await ask(requestOf({ url, token }, "GET", path)));
  }
  return { tookMs, ranMs: usageOf(Number(pid)).cpuMs - before };
}

async function ask(request: Uint8Array): Promise<number> {
  const { status, tookMs } = await connection.ask(request);
  if (status !== 200) throw new Error(`a request was answered ${status}`);
  return tookMs;
}
