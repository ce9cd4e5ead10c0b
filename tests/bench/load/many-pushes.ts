import { HocuspocusPusher, type Pusher, SyncPusher } from "./pushers.ts";

const CLIENTS_MAX = 256;
const ROUNDS_MAX = 100;
const PUSHES_MAX = 1000;

/** What a run of this program prints: acknowledged updates a second, by round. */
export interface ManyPushes {
  readonly own: readonly number[];
  readonly bare: readonly number[];
  /** Empty without a peer. */
  readonly peer: readonly number[];
}

// Many clients that write to a project each: to this project's server, to a bare one, and to a
// peer's in turn.
const [url = "", token = "", clients = "1", rounds = "1", count = "1", ...rest] =
  process.argv.slice(2);
const [bareUrl = "", peerUrl, peerToken = ""] = rest;
const pushes = Math.min(Number(count), PUSHES_MAX);
const found = await pushInTurn(Math.min(Number(rounds), ROUNDS_MAX));
process.stdout.write(`${JSON.stringify(found)}\n`);

async function pushInTurn(roundCount: number): Promise<ManyPushes> {
  const own = await openEach((project) => SyncPusher.open(url, token, project));
  const bare = await openEach((project) => SyncPusher.open(bareUrl, token, project));
  const peer =
    peerUrl === undefined
      ? undefined
      : await openEach((document) => HocuspocusPusher.open(peerUrl, peerToken, document));
  const perSecond = { own: [] as number[], bare: [] as number[], peer: [] as number[] };
  for (let round = 0; round < roundCount; round++) {
    if (peer && round % 2 === 1) perSecond.peer.push(await pushAll(peer));
    perSecond.own.push(await pushAll(own));
    if (peer && round % 2 === 0) perSecond.peer.push(await pushAll(peer));
    perSecond.bare.push(await pushAll(bare));
  }
  for (const pusher of [...own, ...bare, ...(peer ?? [])]) pusher.close();
  return perSecond;
}

async function openEach(open: (name: string) => Promise<Pusher>): Promise<Pusher[]> {
  const length = Math.min(Number(clients), CLIENTS_MAX);
  return await Promise.all(Array.from({ length }, (_, at) => open(`proj_bench_${at}`)));
}

/** Acknowledged updates a second, all clients writing all the time. */
async function pushAll(pushers: readonly Pusher[]): Promise<number> {
  for (const pusher of pushers) pusher.prepare(pushes);
  const startedAt = performance.now();
  await Promise.all(pushers.map((pusher) => pusher.push()));
  return (pushers.length * pushes) / ((performance.now() - startedAt) / 1000);
}
