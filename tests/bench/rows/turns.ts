import { call, startWatchedEmulator, type WatchedEmulator } from "../emulator.ts";
import type { QuietLoad } from "../load/quiet-account.ts";
import { notes } from "../notes.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { ms } from "../sample.ts";

const SECONDS = "10";
const HOT = "mst_dev_hot";
const QUIET = "mst_dev_quiet";
const MEMORIES = 10_000;
const ROUNDS = 3;
const READERS = 100;
const TURN_MS_MAX = 20;
const UPDATE_BYTES = 63 * 1024 * 1024;

/** How long others wait at most, whatever one account does that its plan allows. */
export const turns: Row = {
  name: "turns",
  async run(bench) {
    const emulator = await startWatchedEmulator(bench.programs, await bench.folder());
    const hot = { url: emulator.url, token: HOT };
    const sync = "/v1/projects/proj_large/sync";
    await call(hot, "POST", sync, { memories: notes(MEMORIES) });
    const documents = { project: { update: "AAEC".repeat(UPDATE_BYTES / 4) } };
    const exchange = { crdt: { encoding: "yjs-v1", documents } };
    const again = (work: () => Promise<unknown>) => async () => {
      for (let round = 0; round < ROUNDS; round++) await work();
    };
    const list = "/v1/memories?project_id=proj_large";
    const key = (round: number) => ({ memories: [{ key: "a", value: `${round}` }] });
    let round = 0;
    return {
      figures: [
        await figureOf(
          emulator,
          "exchanges of 63 MiB",
          again(() => call(hot, "POST", sync, exchange)),
        ),
        await figureOf(
          emulator,
          `lists of ${MEMORIES} memories, each after a write`,
          again(async () => {
            await call(hot, "POST", sync, key(round++));
            await call(hot, "GET", list);
          }),
        ),
        await figureOf(
          emulator,
          `${READERS} that ask for that list at once`,
          again(async () => {
            await call(hot, "POST", sync, key(round++));
            const readers = Array.from({ length: READERS }, () => call(hot, "GET", list));
            await Promise.all(readers);
          }),
        ),
        await figureOf(emulator, `two accounts' worth of syncs of ${MEMORIES}`, () =>
          overwrite(bench, emulator),
        ),
      ],
      notes: [
        "each after a first one, in which code is compiled; of the processor by the loop's own " +
          "thread alone, and by the clock, to which all adds that this machine does besides.",
      ],
    };
  },
};

/** What `fair` does, seen from the server. */
async function overwrite({ programs }: Bench, { url }: WatchedEmulator): Promise<void> {
  const hot = await programs.start("load/hot-account.ts", [url, HOT, "2", String(MEMORIES)]);
  await programs.run<QuietLoad>("load/quiet-account.ts", [url, QUIET, SECONDS]);
  await hot.stop();
}

async function figureOf(
  emulator: WatchedEmulator,
  what: string,
  work: () => Promise<void>,
): Promise<Figure> {
  await work();
  await emulator.forgetTurns();
  await work();
  const { ranMs, tookMs } = emulator.longestTurns();
  return {
    figure: `${what}: the longest turn ${ms(ranMs)} of the processor, ${ms(tookMs)} by the clock`,
    target: `no turn over ${TURN_MS_MAX} ms`,
    verdict: verdictOf(ranMs <= TURN_MS_MAX),
  };
}
