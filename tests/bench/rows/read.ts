import { join } from "node:path";
import { call, type EmulatorProgram, startRaisedEmulator, urlIn } from "../emulator.ts";
import type { ReadLoad } from "../load/read-load.ts";
import {
  type MemoryList,
  startJsonServer,
  startPrism,
  writeCollection,
  writeDescription,
} from "../mock-servers.ts";
import { besidePeer, type Peer } from "../peers.ts";
import type { Programs } from "../programs.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { mebibytes, median, times, whole } from "../sample.ts";

const ROUNDS = 7;
const SECONDS = "2";
const SHORT = { rounds: 3, seconds: "1" };
const CONNECTIONS = "32";
const MEMORIES = 50;
const ACCOUNT = "acct_dev_bench";
const SHARE_MIN = 0.8;
const PEER_RATIO_MIN = 5;

export const PATH = "/v1/memories";
export const TOKEN = "mst_dev_bench";
export const PROJECT = "proj_bench";

/** Answers a second to a list of 50 memories, beside the least that could answer the same. */
export const read: Row = {
  name: "read",
  async run(bench) {
    const { programs, folder } = bench;
    const dir = await folder();
    const emulator = await startRaisedEmulator(programs, dir);
    const service = { url: emulator.url, token: TOKEN };
    await call(service, "POST", `/v1/projects/${PROJECT}/sync`, fiftyMemories());
    const args = [join(dir, "emulator.db"), ACCOUNT, PROJECT];
    const bare = urlIn((await programs.start("bare/read-server.ts", args)).line);
    const pace = bench.short ? SHORT : { rounds: ROUNDS, seconds: SECONDS };
    const found = await inTurn(programs, [emulator.url + PATH, bare + PATH], pace);
    if (found.bodies.size > 1) throw new Error("the two servers answer different bytes");
    const figure =
      `${whole(found.own)} a second, ${times(found.ratio)} a bare Bun.serve with one prepared ` +
      `statement (${whole(found.other)})`;
    const target = "≥ 0.80 × bare";
    return {
      figures: [
        {
          figure,
          target,
          verdict: verdictOf(found.ratio >= SHARE_MIN),
          ratio: { name: "read beside a bare server", value: found.ratio, better: "higher" },
        },
        ...(bench.short ? [] : await besideMocks(bench, emulator)),
      ],
      notes: [
        `${MEMORIES} memories, authenticated and counted (the plan is raised), ${CONNECTIONS} ` +
          `connections, ${pace.rounds} rounds of ${pace.seconds} s each, in turn; ratios are the ` +
          "medians of the rounds'. json-server has the memories as a collection; Prism serves " +
          "the emulator's own /openapi.json with this answer as its example. The emulator holds " +
          `${mebibytes(emulator.residentBytes())} afterwards.`,
      ],
    };
  },
};

async function besideMocks(bench: Bench, emulator: EmulatorProgram): Promise<readonly Figure[]> {
  const { programs } = bench;
  return [
    ...(await besideMock(bench, emulator, "json-server", async (dir, answer) => {
      writeCollection(dir, answer);
      const { url, stop } = await startJsonServer(programs, dir);
      return { path: `${url}/memories`, stop };
    })),
    ...(await besideMock(bench, emulator, "Prism", async (dir, answer) => {
      const service = { url: emulator.url, token: TOKEN };
      const description = await call(service, "GET", "/openapi.json");
      writeDescription(dir, description, answer);
      const { url, stop } = await startPrism(programs, dir);
      return { path: url + PATH, stop };
    })),
  ];
}

type StartMock = (
  dir: string,
  answer: MemoryList,
) => Promise<{ readonly path: string; readonly stop: Peer["stop"] }>;

function besideMock(
  { programs, folder }: Bench,
  { url }: EmulatorProgram,
  name: string,
  startMock: StartMock,
): Promise<readonly Figure[]> {
  const target = `≥ 5 × ${name}`;
  return besidePeer(target, async () => {
    const answer = await call<MemoryList>({ url, token: TOKEN }, "GET", PATH);
    const { path, stop } = await startMock(await folder(), answer);
    const pace = { rounds: ROUNDS, seconds: SECONDS };
    const { own, other, ratio } = await inTurn(programs, [url + PATH, path], pace);
    await stop();
    const figure = `${whole(own)} a second, ${times(ratio)} ${name} (${whole(other)})`;
    const compared = { name: `read beside ${name}`, value: ratio, better: "higher" } as const;
    return [{ figure, target, verdict: verdictOf(ratio >= PEER_RATIO_MIN), ratio: compared }];
  });
}

/** Medians of answers a second, and of the rounds' ratios. */
interface Compared {
  readonly own: number;
  readonly other: number;
  readonly ratio: number;
  /** What was answered. */
  readonly bodies: ReadonlySet<string>;
}

async function inTurn(
  programs: Programs,
  [ownUrl, otherUrl]: readonly [string, string],
  { rounds, seconds }: typeof SHORT,
): Promise<Compared> {
  const own: number[] = [];
  const other: number[] = [];
  const bodies = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const there = await load(programs, otherUrl, seconds);
    const here = await load(programs, ownUrl, seconds);
    other.push(there.perSecond);
    own.push(here.perSecond);
    bodies.add(there.body).add(here.body);
  }
  const ratio = median(own.map((each, round) => each / (other[round] ?? each)));
  return { own: median(own), other: median(other), ratio, bodies };
}

/** Of the size that notes have: some 140 characters. */
export function fiftyMemories() {
  const memories = Array.from({ length: MEMORIES }, (_, index) => ({
    key: `note-${index}`,
    value:
      `Decision ${index}: the importer reads each file once, keeps its line endings, and `.repeat(
        2,
      ),
  }));
  return { memories };
}

async function load(programs: Programs, address: string, seconds: string): Promise<ReadLoad> {
  const { origin, pathname } = new URL(address);
  const args = [origin, TOKEN, pathname, CONNECTIONS, seconds];
  const found = await programs.run<ReadLoad>("load/read-load.ts", args);
  if (found.status !== 200) throw new Error(`${address} answered ${found.status}`);
  return found;
}
