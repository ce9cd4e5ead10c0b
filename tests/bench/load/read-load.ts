import { Connection, requestOf, type TimedAnswer } from "./connection.ts";

/** Nothing here goes on for longer, or asks more often, whatever the server does. */
const SECONDS_MAX = 10;
const REQUESTS_MAX = 1_000_000;

/** What a run of this program prints. */
export interface ReadLoad {
  readonly requests: number;
  readonly perSecond: number;
  /** Status and body of the last answer; all of them had this status and length. */
  readonly status: number;
  readonly body: string;
}

const [url = "", token = "", path = "", connections = "1", seconds = "1"] = process.argv.slice(2);
const load = await readFor(Number(connections), Math.min(Number(seconds), SECONDS_MAX));
process.stdout.write(`${JSON.stringify(load)}\n`);

async function readFor(count: number, durationSeconds: number): Promise<ReadLoad> {
  const request = requestOf({ url, token }, "GET", path);
  const opened = await Promise.all(Array.from({ length: count }, () => Connection.open(url)));
  const first = await opened[0]?.ask(request);
  if (!first) throw new Error("no connection was asked for");
  const startedAt = performance.now();
  const until = startedAt + durationSeconds * 1000;
  let requests = 0;
  await Promise.all(
    opened.map((connection) => {
      return new Promise<void>((resolve) => {
        const next = (answer: TimedAnswer) => {
          assertAlike(answer, first);
          requests += 1;
          if (requests >= REQUESTS_MAX || performance.now() >= until) resolve();
          else connection.send(request, next);
        };
        connection.send(request, next);
      });
    }),
  );
  const perSecond = requests / ((performance.now() - startedAt) / 1000);
  for (const connection of opened) connection.close();
  return { requests, perSecond, status: first.status, body: first.body.toString() };
}

function assertAlike(answer: TimedAnswer, first: TimedAnswer): void {
  if (answer.status !== first.status || answer.body.length !== first.body.length) {
    throw new Error(`an answer differs: ${answer.status} with ${answer.body.length} bytes`);
  }
}
