import { Connection, requestOf, type TimedAnswer } from "./connection.ts";

/** Nothing here goes on for longer, or asks more often, whatever the servers do. */
const ROUNDS_MAX = 400;
const ROUND_MS_MAX = 2000;

/** What a run of this program prints: answers a second by round, of each server. */
export interface InTurn {
  readonly one: readonly number[];
  readonly other: readonly number[];
}

// Reads from two servers in short turns, so that whatever else the machine does hits both alike.
const [oneUrl = "", otherUrl = "", token = "", path = "", connections = "1", ...rest] =
  process.argv.slice(2);
const [rounds = "1", roundMs = "1"] = rest;
const inTurn = await readInTurn(
  Math.min(Number(rounds), ROUNDS_MAX),
  Math.min(Number(roundMs), ROUND_MS_MAX),
);
process.stdout.write(`${JSON.stringify(inTurn)}\n`);

async function readInTurn(roundCount: number, durationMs: number): Promise<InTurn> {
  const [one, other] = [await open(oneUrl), await open(otherUrl)];
  const found: { one: number[]; other: number[] } = { one: [], other: [] };
  for (let round = 0; round < roundCount; round++) {
    if (round % 2 === 0) found.one.push(await read(one, durationMs));
    found.other.push(await read(other, durationMs));
    if (round % 2 === 1) found.one.push(await read(one, durationMs));
  }
  for (const connection of [...one.connections, ...other.connections]) connection.close();
  return found;
}

interface Opened {
  readonly connections: readonly Connection[];
  readonly request: Uint8Array;
}

async function open(url: string): Promise<Opened> {
  const request = requestOf({ url, token }, "GET", path);
  const opening = Array.from({ length: Number(connections) }, () => Connection.open(url));
  return { connections: await Promise.all(opening), request };
}

/** Answers a second, all connections asking all the time. */
async function read({ connections, request }: Opened, durationMs: number): Promise<number> {
  let answers = 0;
  const startedAt = performance.now();
  const until = startedAt + durationMs;
  await Promise.all(
    connections.map((connection) => {
      return new Promise<void>((resolve) => {
        const next = ({ status }: TimedAnswer) => {
          if (status !== 200) throw new Error(`a server answered ${status}`);
          answers += 1;
          if (performance.now() >= until) resolve();
          else connection.send(request, next);
        };
        connection.send(request, next);
      });
    }),
  );
  return answers / ((performance.now() - startedAt) / 1000);
}
