import { encodeExchangeRequest } from "../../../shared/wire/exchange.ts";
import type { Position } from "../../../shared/wire/position.ts";
import { openCommitLog } from "../bare/commit-log.ts";
import { median, quantile } from "../sample.ts";
import { Connection, requestOf } from "./connection.ts";
import { positionIn } from "./pushers.ts";
import { ReplicaWriter } from "./replica-writer.ts";

const ROUNDS_MAX = 50;
const PUSHES_MAX = 1000;

/** Durations of one round, in milliseconds. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

/** What a run of this program prints, by round. */
export interface PushLoad {
  readonly pushes: readonly Spread[];
  readonly commits: readonly Spread[];
}

const [url = "", token = "", project = "", path = "", rounds = "1", count = "1"] =
  process.argv.slice(2);
const load = await pushAndCommit(
  Math.min(Number(rounds), ROUNDS_MAX),
  Math.min(Number(count), PUSHES_MAX),
);
process.stdout.write(`${JSON.stringify(load)}\n`);

/** Rounds of pushes, each round followed by as many bare commits of rows of the same size. */
async function pushAndCommit(roundCount: number, pushCount: number): Promise<PushLoad> {
  const connection = await Connection.open(url);
  const replica = new ReplicaWriter();
  const commit = openCommitLog(path);
  const pushes: Spread[] = [];
  const commits: Spread[] = [];
  let position: Position | undefined;
  for (let round = 0; round < roundCount; round++) {
    const updates = Array.from({ length: pushCount }, () => replica.write());
    const tookMs: number[] = [];
    for (const update of updates) {
      const documents = { project: { ...(position && { position }), update } };
      const body = JSON.stringify(encodeExchangeRequest({ documents }));
      const sync = requestOf({ url, token }, "POST", `/api/projects/${project}/sync`, body);
      const answer = await connection.ask(sync);
      position = positionIn(answer.status, answer.body.toString());
      tookMs.push(answer.tookMs);
    }
    pushes.push(spreadOf(tookMs));
    commits.push(spreadOf(updates.map(commit)));
  }
  connection.close();
  return { pushes, commits };
}

function spreadOf(tookMs: readonly number[]): Spread {
  return { p50: median(tookMs), p99: quantile(tookMs, 0.99) };
}
