import { encodeExchangeRequest } from "../../../shared/wire/exchange.ts";
import { LIVE_PROJECTS_MAX } from "../../../shared/wire/live.ts";
import type { Position } from "../../../shared/wire/position.ts";
import { connectLive, type LiveClient } from "../../support/live-client.ts";
import { median } from "../sample.ts";
import { Connection, requestOf } from "./connection.ts";
import type { GrowthLoad } from "./growth-asked.ts";
import { positionIn } from "./pushers.ts";
import { ReplicaWriter } from "./replica-writer.ts";

const ROUNDS_MAX = 100;
/** Rounds in which code is compiled and caches fill. */
const WARM_ROUNDS = 3;
/** Handshakes at a time. */
const SOCKETS_AT_ONCE = 50;

// One machine that pushes changes of one memory into a project, and asks for what one asks for
// after each: so nothing that was kept of an answer is of use.
const [url = "", token = "", project = "", projects = "1", machines = "0", rounds = "1"] =
  process.argv.slice(2);
const base = { url, token };
const tookMs: Record<keyof GrowthLoad, number[]> = {
  push: [],
  pull: [],
  told: [],
  list: [],
  page: [],
  search: [],
  handshake: [],
};
await askFor(Math.min(Number(rounds), ROUNDS_MAX) + WARM_ROUNDS);
const load = Object.fromEntries(
  Object.entries(tookMs).map(([name, all]) => [name, median(all.slice(WARM_ROUNDS))]),
);
process.stdout.write(`${JSON.stringify(load)}\n`);
// Sockets that are closed in order wait for their peer.
process.exit();

async function askFor(roundCount: number): Promise<void> {
  const connection = await Connection.open(url);
  const writer = new ReplicaWriter();
  // One more connects in each round, and an account may have so many.
  const live = await openLive(Math.max(Number(machines) - 1, 1));
  const timed = async (name: keyof typeof tookMs, request: Uint8Array) => {
    const answer = await connection.ask(request);
    if (answer.status !== 200) throw new Error(`${name} was answered ${answer.status}`);
    tookMs[name].push(answer.tookMs);
    return answer.body;
  };
  let position: Position | undefined;
  for (let round = 0; round < roundCount; round++) {
    const before = position;
    const told = Promise.all(live.map((each) => each.next()));
    const startedAt = performance.now();
    const pushed = await timed("push", exchangeOf({ position, update: writer.write() }));
    await told;
    tookMs.told.push(performance.now() - startedAt);
    position = positionIn(200, pushed.toString());
    await timed("pull", exchangeOf({ position: before ?? position }));
    const list = `/v1/memories?project_id=${project}`;
    await timed("list", requestOf(base, "GET", list));
    await timed("page", requestOf(base, "GET", `${list}&limit=20`));
    await timed("search", requestOf(base, "GET", `${list}&q=needle&limit=20`));
    tookMs.handshake.push(await handshake());
  }
}

function exchangeOf(document: { position?: Position | undefined; update?: Uint8Array }) {
  const { position, update } = document;
  const documents = { project: { ...(position && { position }), ...(update && { update }) } };
  const body = JSON.stringify(encodeExchangeRequest({ documents }));
  return requestOf(base, "POST", `/api/projects/${project}/sync`, body);
}

/** A socket that has subscribed to as many projects as one may. */
async function handshake(): Promise<number> {
  const count = Math.min(Number(projects), LIVE_PROJECTS_MAX);
  const named = Array.from({ length: count }, (_, at) => `proj_grow_${at}`);
  const startedAt = performance.now();
  const socket = await subscribed(named);
  const took = performance.now() - startedAt;
  socket[Symbol.dispose]();
  return took;
}

async function openLive(count: number): Promise<LiveClient[]> {
  const opened: LiveClient[] = [];
  while (opened.length < count) {
    const some = Math.min(SOCKETS_AT_ONCE, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: some }, () => subscribed([project])))));
  }
  return opened;
}

async function subscribed(named: readonly string[]): Promise<LiveClient> {
  const socket = await connectLive(url, token);
  socket.send(JSON.stringify({ type: "subscribe", project_ids: named }));
  await socket.next();
  return socket;
}
