import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startEmulator } from "../emulator.ts";
import { startMachine } from "../machine-program.ts";
import { besidePeer, peerCommand } from "../peers.ts";
import { type Bench, type Figure, type Row, type Verdict, verdictOf } from "../row.ts";
import { median, ms } from "../sample.ts";

const ROUNDS = 15;
const TOKEN = "mst_dev_bench";
const VALUE = "npm run build, never make";
const UP_MS_MAX = 40;
const DOWN_MS_MAX = 60;

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
    const up = await getOften(bench, environment, dir);
    await machine.stop();
    const down = await getOften(bench, environment, dir);
    const compiled = programs.binary !== undefined;
    const how = compiled ? "compiled" : "from source";
    const judge = (met: boolean): Verdict => (compiled ? verdictOf(met) : "not judged");
    return {
      figures: [
        {
          figure: `${ms(up)} ${how}, with the daemon`,
          target: `compiled: ≤ ${UP_MS_MAX} ms`,
          verdict: judge(up <= UP_MS_MAX),
        },
        {
          figure: `${ms(down)} ${how}, without`,
          target: `compiled: ≤ ${DOWN_MS_MAX} ms`,
          verdict: judge(down <= DOWN_MS_MAX),
        },
        ...(await besidePeer("server-memory beside it", () => besideServerMemory(bench))),
      ],
      notes: [
        `medians of ${ROUNDS} processes, from start to exit; server-memory's is from its start ` +
          "to its answer to one call of `open_nodes`, after the protocol's greeting. " +
          "`--compiled` measures a compiled `memsync`.",
      ],
    };
  },
};

async function getOften(
  { programs }: Bench,
  environment: Readonly<Record<string, string>>,
  dir: string,
): Promise<number> {
  const tookMs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const got = await programs.time(["get", "build"], environment, dir);
    if (got.output.trim() !== VALUE) throw new Error(`memsync get printed ${got.output}`);
    tookMs.push(got.tookMs);
  }
  return median(tookMs);
}

async function besideServerMemory({ folder }: Bench): Promise<readonly Figure[]> {
  const command = await peerCommand("@modelcontextprotocol/server-memory/dist/index.js");
  const dir = await folder();
  const tookMs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
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
