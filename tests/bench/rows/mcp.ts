import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { startEmulator } from "../emulator.ts";
import { startMachine } from "../machine-program.ts";
import { besidePeer, peerCommand } from "../peers.ts";
import { type Figure, type Row, verdictOf } from "../row.ts";
import { median, ms, quantile, times } from "../sample.ts";

const ROUNDS = 60;
/** This many memories a project has after a year. */
const MEMORIES = 200;
const TOKEN = "mst_dev_bench";
const CALL_MS_MAX = 20;
const P90 = 0.9;

/** One client's session with a server on standard streams. */
interface Session {
  /** How long one call takes, in milliseconds. Rejects for an error. */
  time(tool: string, request: Readonly<Record<string, unknown>>): Promise<number>;
  close(): Promise<void>;
}

/** A call of a memory server, with the daemon up. */
export const mcp: Row = {
  name: "mcp",
  async run({ programs, folder }) {
    const emulator = await startEmulator(programs, await folder());
    const [home, dir] = [await folder(), await folder()];
    const service = { url: emulator.url, token: TOKEN };
    await startMachine(programs, home, dir, service, []);
    const own = await openSession([...programs.memsync(), "mcp"], { MEMSYNC_HOME: home }, dir);
    try {
      for (let at = 0; at < MEMORIES; at++) {
        await own.time("remember", { key: `key-${at}`, value: `The build of part ${at} is npm.` });
      }
      const alone = await measureAlone(own);
      const besides = async () => await besideServerMemory(own, await folder(), dir);
      return {
        figures: [...alone, ...(await besidePeer("server-memory beside it", besides))],
        notes: [
          `medians of ${ROUNDS} calls of the official client over a pipe, with ${MEMORIES} ` +
            "memories there; the ratios are to server-memory's calls in turn with them.",
        ],
      };
    } finally {
      await own.close();
    }
  },
};

async function measureAlone(own: Session): Promise<readonly Figure[]> {
  const took = { recall: [] as number[], remember: [] as number[] };
  for (let at = 0; at < ROUNDS; at++) {
    took.recall.push(await own.time("recall", { query: `part ${at}` }));
    const request = { key: `alone-${at}`, value: `The lint of part ${at} is npm.` };
    took.remember.push(await own.time("remember", request));
  }
  return Object.entries(took).map(([name, all]) => ({
    figure: `${name}: ${ms(median(all))} (p90 ${ms(quantile(all, P90))})`,
    target: `≤ ${CALL_MS_MAX} ms a call`,
    verdict: verdictOf(median(all) <= CALL_MS_MAX),
  }));
}

async function besideServerMemory(
  own: Session,
  folder: string,
  dir: string,
): Promise<readonly Figure[]> {
  const command = await peerCommand("@modelcontextprotocol/server-memory/dist/index.js");
  const file = join(folder, "memory.jsonl");
  const peer = await openSession(command, { MEMORY_FILE_PATH: file, NODE_ENV: "production" }, dir);
  try {
    const entityOf = (at: number) => ({
      entities: [
        {
          name: `key-${at}`,
          entityType: "fact",
          observations: [`The build of part ${at} is npm.`],
        },
      ],
    });
    for (let at = 0; at < MEMORIES; at++) await peer.time("create_entities", entityOf(at));
    const took: Record<"read" | "write", [number, number][]> = { read: [], write: [] };
    for (let at = 0; at < ROUNDS; at++) {
      took.read.push([
        await own.time("recall", { query: `part ${at}` }),
        await peer.time("search_nodes", { query: `part ${at}` }),
      ]);
      took.write.push([
        await own.time("remember", { key: `new-${at}`, value: `The test of part ${at} is npm.` }),
        await peer.time("create_entities", entityOf(MEMORIES + at)),
      ]);
    }
    return [figureOf("recall", took.read), figureOf("remember", took.write)];
  } finally {
    await peer.close();
  }
}

function figureOf(name: string, pairs: readonly (readonly [number, number])[]): Figure {
  const ratio = median(pairs.map(([each, peer]) => each / peer));
  const peer = median(pairs.map(([, each]) => each));
  return {
    figure: `${name}: ${times(ratio)} server-memory's ${ms(peer)}, which is not durable`,
    target: "server-memory beside it",
    verdict: "not judged",
  };
}

async function openSession(
  [command = "", ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Session> {
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, MEMSYNC_KEYRING: "off", ...environment };
  const transport = new StdioClientTransport({ command, args, cwd, env, stderr: "ignore" });
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(transport);
  return {
    async time(name, request) {
      const startedAt = performance.now();
      const { isError, content } = await client.callTool({ name, arguments: { ...request } });
      const tookMs = performance.now() - startedAt;
      if (isError) throw new Error(`${name} was refused: ${JSON.stringify(content)}`);
      return tookMs;
    },
    close: () => client.close(),
  };
}
