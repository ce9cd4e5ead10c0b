import { join } from "node:path";
import { call, startEmulator, urlIn } from "../emulator.ts";
import type { ReadLoad } from "../load/read-load.ts";
import type { Programs } from "../programs.ts";
import { type Row, verdictOf } from "../row.ts";
import { mebibytes, median, times, whole } from "../sample.ts";

const ROUNDS = 7;
const SECONDS = "2";
const CONNECTIONS = "32";
const MEMORIES = 50;
const PATH = "/v1/memories";
const TOKEN = "mst_dev_bench";
const ACCOUNT = "acct_dev_bench";
const PROJECT = "proj_bench";
const SHARE_MIN = 0.8;

/** Answers a second to a list of 50 memories, beside the least that could answer the same. */
export const read: Row = {
  name: "read",
  async run({ programs, folder }) {
    const dir = await folder();
    const emulator = await startEmulator(programs, dir);
    await call(
      { ...emulator, token: TOKEN },
      "POST",
      `/v1/projects/${PROJECT}/sync`,
      fiftyMemories(),
    );
    const args = [join(dir, "emulator.db"), ACCOUNT, PROJECT];
    const bare = urlIn((await programs.start("bare/read-server.ts", args)).line);
    const own: number[] = [];
    const limit: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const there = await load(programs, bare);
      const here = await load(programs, emulator.url);
      if (here.body !== there.body) throw new Error("the two servers answer different bytes");
      limit.push(there.perSecond);
      own.push(here.perSecond);
    }
    const share = median(own.map((each, round) => each / (limit[round] ?? each)));
    const figure =
      `${whole(median(own))} a second, ${times(share)} a bare Bun.serve with one prepared ` +
      `statement (${whole(median(limit))})`;
    return {
      figures: [
        { figure, target: "≥ 0.80 × bare", verdict: verdictOf(share >= SHARE_MIN) },
        { figure: "no peer yet", target: "≥ 5 × json-server, Prism", verdict: "not judged" },
      ],
      notes: [
        `${MEMORIES} memories, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s ` +
          "each, in turn; the ratio is the median of the rounds'. The emulator holds " +
          `${mebibytes(emulator.residentBytes())} afterwards.`,
      ],
    };
  },
};

/** Of the size that notes have: some 140 characters. */
function fiftyMemories() {
  const memories = Array.from({ length: MEMORIES }, (_, index) => ({
    key: `note-${index}`,
    value:
      `Decision ${index}: the importer reads each file once, keeps its line endings, and `.repeat(
        2,
      ),
  }));
  return { memories };
}

function load(programs: Programs, url: string): Promise<ReadLoad> {
  return programs.run<ReadLoad>("load/read-load.ts", [url, TOKEN, PATH, CONNECTIONS, SECONDS]);
}
