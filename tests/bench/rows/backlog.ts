import { type CountingProxy, type Exchange, startCountingProxy } from "../counting-proxy.ts";
import { startEmulator, startRaisedEmulator } from "../emulator.ts";
import { type Machine, saveMemory, startMachine } from "../machine-program.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { ms, whole } from "../sample.ts";

const EDITS = 10_000;
const PROJECTS = 50;
const KEYS = 50;
const SAVES_AT_ONCE = 32;
const TOKEN = "mst_dev_bench";
const REQUESTS_MAX = 60;
const MS_MAX = 5000;

/** What was written while the service was away, sent when it is back. */
export const backlog: Row = {
  name: "backlog",
  async run(bench) {
    const raised = await comeBack(bench, "raised");
    const planned = await comeBack(bench, "plan");
    return {
      figures: [judged(raised), unjudged(planned)],
      notes: [
        `${whole(EDITS)} saves at the gateway over ${PROJECTS} projects in step before, ` +
          `the service away; from its return, told by \`memsync sync\`, to the service's ` +
          "acknowledgement of all. Requests are all that the daemon makes, the live socket's " +
          "handshake among them. " +
          "By the plan: an account that has made no request in the last minute, on Pro.",
      ],
    };
  },
};

interface Return extends Exchange {
  /** Undefined: not everything was acknowledged by the deadline. */
  readonly tookMs: number | undefined;
}

function judged({ requests, limited, tookMs = Number.POSITIVE_INFINITY }: Return): Figure {
  const met = requests <= REQUESTS_MAX && limited === 0 && tookMs <= MS_MAX;
  return {
    figure: `${requests} requests, ${ms(tookMs)}, ${limited} times 429`,
    target: `raised quota: ≤ ${REQUESTS_MAX} requests, ≤ 5 s, never a 429`,
    verdict: verdictOf(met),
  };
}

function unjudged({ requests, limited, tookMs }: Return): Figure {
  const time = tookMs === undefined ? "not in step by the deadline" : ms(tookMs);
  return {
    figure: `by the plan: ${requests} requests, ${time}, ${limited} times 429`,
    target: "within the plan's pace, never a 429",
    verdict: "not judged",
  };
}

async function comeBack(bench: Bench, quota: "raised" | "plan"): Promise<Return> {
  const { programs, folder } = bench;
  const data = await folder();
  const before = await startRaisedEmulator(programs, data, "off");
  const proxy = await startCountingProxy(before.url);
  const service = { url: proxy.url, token: TOKEN };
  const ids = Array.from({ length: PROJECTS }, (_, at) => `proj_backlog_${at}`);
  const machine = await startMachine(programs, await folder(), await folder(), service, ids);
  for (const id of ids) await machine.link(await folder(), id);
  await machine.sync();
  await proxy.stop();
  await before.stop();
  await saveAll(machine, ids);
  const after =
    quota === "raised"
      ? await startRaisedEmulator(programs, data)
      : await startEmulator(programs, data, "on");
  return await inStep(machine, await startCountingProxy(after.url, proxy.port));
}

async function saveAll(machine: Machine, ids: readonly string[]): Promise<void> {
  const saves = Array.from({ length: EDITS }, (_, at) => at).values();
  const saveOn = async () => {
    for (const at of saves) {
      const project = ids[at % PROJECTS] ?? "";
      const key = `note-${Math.floor(at / PROJECTS) % KEYS}`;
      await saveMemory(machine, project, key, `Decision ${at}, taken while the service was away.`);
    }
  };
  await Promise.all(Array.from({ length: SAVES_AT_ONCE }, saveOn));
}

async function inStep(machine: Machine, proxy: CountingProxy): Promise<Return> {
  try {
    const startedAt = performance.now();
    const synced = await machine.sync().then(
      () => true,
      () => false,
    );
    const tookMs = synced ? performance.now() - startedAt : undefined;
    const exchange = proxy.take();
    if (!exchange) throw new Error("a machine asked for nothing");
    return { ...exchange, tookMs };
  } finally {
    await machine.stop();
    await proxy.stop();
  }
}
