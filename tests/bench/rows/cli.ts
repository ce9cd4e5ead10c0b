import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startEmulator } from "../emulator.ts";
import { startMachine } from "../machine-program.ts";
import { installBundles, installLauncher } from "../npm-command.ts";
import { besidePeer, peerCommand } from "../peers.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { median, ms, quantile, times } from "../sample.ts";

const ROUNDS = 31;
const PEER_ROUNDS = 15;
const TOKEN = "mst_dev_bench";
const VALUE = "npm run build, never make";
const UP_MS_MAX = 40;
const DOWN_MS_MAX = 60;
const LAUNCHED_MS_MAX = 60;
const P90 = 0.9;

/** A way to start the command. */
interface Way {
  readonly name: string;
  readonly command: readonly string[];
  /** At most so many milliseconds with the daemon, and without; undefined: nobody said. */
  readonly target?: { readonly up: number; readonly down: number };
}

/** The whole process of `memsync get`. */
export const cli: Row = {
  name: "cli",
  async run(bench) {
    const { programs, folder } = bench;
    const emulator = await startEmulator(programs, await folder());
    const [home, dir] = [await folder(), await folder()];
    const service = { url: emulator.url, token: TOKEN };
    const machine = await startMachine(programs, home, dir, service, []);
    const environment = { MEMSYNC_HOME: home };
    await programs.time(["set", "build", VALUE], environment, dir);
    const ways = await waysToStart(bench);
    const up = await getInTurn(bench, ways, environment, dir);
    await machine.stop();
    const down = await getInTurn(bench, ways, environment, dir);
    return {
      figures: [
        ...ways.map((way, at) => figureOf(way, "with the daemon", way.target?.up, up, at)),
        ...ways.map((way, at) => figureOf(way, "without", way.target?.down, down, at)),
        ...(await besidePeer("server-memory beside it", () => besideServerMemory(bench))),
      ],
      notes: [
        `medians of ${ROUNDS} processes of each way in turn, from start to exit, and of their ` +
          "ratios to the first way's beside them; server-memory's is from its start to its " +
          "answer to one call of `open_nodes`, after the protocol's greeting. `--compiled` " +
          "measures the ways in which a package starts `memsync`.",
      ],
    };
  },
};

/** From source, or in each way in which the npm package starts the command. */
async function waysToStart({ programs, folder }: Bench): Promise<Way[]> {
  const { binary } = programs;
  if (binary === undefined) return [{ name: "from source", command: programs.memsync() }];
  const ways: Way[] = [
    {
      name: "the binary, as npm installs it",
      command: [binary],
      target: { up: UP_MS_MAX, down: DOWN_MS_MAX },
    },
  ];
  const launcher = await installLauncher(await folder(), binary);
  if (launcher !== undefined) {
    ways.push({
      name: "npm without install scripts: Node, then the binary",
      command: ["node", launcher],
      target: { up: LAUNCHED_MS_MAX, down: LAUNCHED_MS_MAX },
    });
  }
  ways.push({
    name: "npm without a binary: Node, then Bun",
    command: ["node", await installBundles(await folder())],
  });
  return ways;
}

/** Each way's times in milliseconds, round by round. */
async function getInTurn(
  { programs }: Bench,
  ways: readonly Way[],
  environment: Readonly<Record<string, string>>,
  dir: string,
): Promise<readonly (readonly number[])[]> {
  const tookMs: number[][] = ways.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, { command }] of ways.entries()) {
      const got = await programs.time(["get", "build"], environment, dir, command);
      if (got.output.trim() !== VALUE) throw new Error(`memsync get printed ${got.output}`);
      tookMs[at]?.push(got.tookMs);
    }
  }
  return tookMs;
}

function figureOf(
  { name }: Way,
  daemon: string,
  most: number | undefined,
  all: readonly (readonly number[])[],
  at: number,
): Figure {
  const [first = [], own = []] = [all[0], all[at]];
  const took = median(own);
  const ratio = median(own.map((each, round) => each / (first[round] ?? each)));
  const beside = at === 0 ? "" : `, ${times(ratio)}`;
  return {
    figure: `${name}, ${daemon}: ${ms(took)} (p90 ${ms(quantile(own, P90))})${beside}`,
    target: most === undefined ? "none" : `≤ ${most} ms whole process`,
    verdict: most === undefined ? "not judged" : verdictOf(took <= most),
  };
}

async function besideServerMemory({ folder }: Bench): Promise<readonly Figure[]> {
  const command = await peerCommand("@modelcontextprotocol/server-memory/dist/index.js");
  const dir = await folder();
  const tookMs: number[] = [];
  for (let round = 0; round < PEER_ROUNDS; round++) {
    tookMs.push(await callOnce(command, join(dir, `${round}.jsonl`)));
  }
  const figure = `server-memory: ${ms(median(tookMs))}`;
  return [{ figure, target: "server-memory beside it", verdict: "not judged" }];
}

const GREETING = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "bench", version: "1.0.0" },
};

/** One client's session over standard streams, as an assistant that knows one memory's name. */
async function callOnce([program = "", ...args]: readonly string[], file: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(program, [...args], {
    env: { ...process.env, MEMORY_FILE_PATH: file, NODE_ENV: "production" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const say = (message: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  say({ id: 1, method: "initialize", params: GREETING });
  await lines.next();
  say({ method: "notifications/initialized" });
  const params = { name: "open_nodes", arguments: { names: ["build"] } };
  say({ id: 2, method: "tools/call", params });
  const { value } = await lines.next();
  const tookMs = performance.now() - startedAt;
  const exited = once(child, "exit");
  child.kill();
  await exited;
  const answer = JSON.parse(String(value)) as { id?: number; result?: unknown };
  if (answer.id !== 2 || answer.result === undefined) throw new Error(`it answered ${value}`);
  return tookMs;
}
