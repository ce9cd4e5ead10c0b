import { ReplicaDocument } from "../../../shared/replica/document.ts";
import { encodeExchangeRequest, parseExchangeAnswer } from "../../../shared/wire/exchange.ts";
import type { Position } from "../../../shared/wire/position.ts";
import { randomUint32 } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { openCommitLog } from "../bare/commit-log.ts";
import { median, quantile } from "../sample.ts";
import { Connection, requestOf } from "./connection.ts";

const ROUNDS_MAX = 50;
const PUSHES_MAX = 1000;
const KEYS = 50;

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
  const replica = new Replica();
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

/** Where the document stands after a push; it was new to the server in full. */
function positionIn(status: number, body: string): Position {
  const answered = status === 200 && parseExchangeAnswer(JSON.parse(body)).documents.project;
  if (!answered || !("seq" in answered) || answered.reset || answered.missing) {
    throw new Error(`a push was not taken: ${status} ${body}`);
  }
  return { epoch: answered.epoch, seq: answered.seq };
}

/** A client's own replica: each write overwrites one of its memories. */
class Replica {
  readonly #document = new ReplicaDocument([], randomUint32(realWorld));
  #last: Uint8Array = new Uint8Array();
  #writes = 0;

  constructor() {
    this.#document.ydoc.on("update", (update: Uint8Array) => {
      this.#last = update;
    });
  }

  /** The update of one changed memory. */
  write(): Uint8Array {
    const key = `note-${this.#writes % KEYS}`;
    const value = `Decision ${this.#writes++}: the importer reads each file once, and no more.`;
    this.#document.setEntry("memories", key, value, { now: Date.now() });
    return this.#last;
  }
}
