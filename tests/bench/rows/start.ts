import { join } from "node:path";
import { call, startEmulator, urlIn } from "../emulator.ts";
import { startJsonServer, startPrism, writeCollection, writeDescription } from "../mock-servers.ts";
import { besidePeer } from "../peers.ts";
import type { Program, Programs } from "../programs.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { median, ms, times } from "../sample.ts";

const ROUNDS = 11;
const SHORT_ROUNDS = 5;
const PATH = "/v1/memories";
const TOKEN = "mst_dev_pro";
const NO_MEMORIES = { memories: [], total: 0, next_cursor: null };

/** How many times as fast as each peer, at least; and at most so many times a bare server. */
const SOURCE = { jsonServer: 2, prism: 8, bare: undefined };
const COMPILED = { jsonServer: 6, prism: 25, bare: 3 };

/** From the start of the emulator's process to its first answer. */
export const start: Row = {
  name: "start",
  async run(bench) {
    const { binary } = bench.programs;
    return {
      figures: [...(await besideBare(bench)), ...(bench.short ? [] : await besideMocks(bench))],
      notes: [
        `medians of ${roundsOf(bench)} starts each, in turn, each on a fresh folder, to the ` +
          `first authenticated 200 of \`GET ${PATH}\`; ` +
          (binary === undefined
            ? "the programs run from source: `--compiled` measures a compiled one. "
            : "the compiled binary. ") +
          "json-server has an empty collection; Prism serves the emulator's own /openapi.json.",
      ],
    };
  },
};

function roundsOf({ short }: Bench): number {
  return short ? SHORT_ROUNDS : ROUNDS;
}

async function besideMocks(bench: Bench): Promise<readonly Figure[]> {
  return [
    ...(await besideMock(bench, "json-server", "/memories", (dir) => {
      writeCollection(dir, NO_MEMORIES);
      return () => startJsonServer(bench.programs, dir);
    })),
    ...(await besideMock(bench, "Prism", PATH, await prismOf(bench))),
  ];
}

async function besideBare(bench: Bench): Promise<readonly Figure[]> {
  const { own, other } = await inTurn(bench, PATH, (dir) => () => startBare(bench.programs, dir));
  const { bare: most } = targets(bench);
  const ratio = own / other;
  const figure =
    `${ms(own)} ${kindOf(bench)}, ${times(ratio)} a bare Bun HTTP server with a database ` +
    `(${ms(other)})`;
  const name = `start ${kindOf(bench)} beside a bare server`;
  const compared = { figure, ratio: { name, value: ratio, better: "lower" } } as const;
  if (most === undefined) {
    return [{ ...compared, target: "compiled: ≤ 3 × bare", verdict: "not judged" }];
  }
  return [{ ...compared, target: `≤ ${most} × bare`, verdict: verdictOf(ratio <= most) }];
}

function besideMock(
  bench: Bench,
  name: "json-server" | "Prism",
  path: string,
  prepare: Prepare,
): Promise<readonly Figure[]> {
  const { jsonServer, prism } = targets(bench);
  const least = name === "Prism" ? prism : jsonServer;
  const target = `${kindOf(bench)} ≥ ${least} × faster than ${name}`;
  return besidePeer(target, async () => {
    // Installed, and in the disk's cache, before any start counts.
    await timed(prepare(await bench.folder()), path);
    const { own, other } = await inTurn(bench, path, prepare);
    const ratio = other / own;
    const figure = `${ms(own)}, ${times(ratio)} as fast as ${name} (${ms(other)})`;
    return [{ figure, target, verdict: verdictOf(ratio >= least) }];
  });
}

function targets({ programs }: Bench): typeof SOURCE | typeof COMPILED {
  return programs.binary === undefined ? SOURCE : COMPILED;
}

function kindOf({ programs }: Bench): string {
  return programs.binary === undefined ? "from source" : "compiled";
}

type Started = Program & { readonly url: string };

/** Puts what a program needs into a folder of its own; what it returns starts the program. */
type Prepare = (dir: string) => () => Promise<Started>;

/** Medians of the time to the first answer, in milliseconds. */
async function inTurn(
  bench: Bench,
  path: string,
  prepare: Prepare,
): Promise<{ readonly own: number; readonly other: number }> {
  const { programs, folder } = bench;
  const own: number[] = [];
  const other: number[] = [];
  for (let round = 0; round < roundsOf(bench); round++) {
    other.push(await timed(prepare(await folder()), path));
    const dir = await folder();
    own.push(await timed(() => startEmulator(programs, join(dir, "emulator")), PATH));
  }
  return { own: median(own), other: median(other) };
}

async function startBare(programs: Programs, dir: string): Promise<Started> {
  const program = await programs.start("bare/start-server.ts", [join(dir, "bare.db")]);
  return { ...program, url: urlIn(program.line) };
}

/** The description comes from an emulator that runs for that alone. */
async function prismOf({ programs, folder }: Bench): Promise<Prepare> {
  const emulator = await startEmulator(programs, await folder());
  const description = await call({ ...emulator, token: TOKEN }, "GET", "/openapi.json");
  await emulator.stop();
  return (dir) => {
    writeDescription(dir, description, NO_MEMORIES);
    return () => startPrism(programs, dir);
  };
}

async function timed(begin: () => Promise<Started>, path: string): Promise<number> {
  const startedAt = performance.now();
  const program = await begin();
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const response = await fetch(program.url + path, { headers });
  await response.text();
  const tookMs = performance.now() - startedAt;
  if (response.status !== 200) throw new Error(`the first answer was ${response.status}`);
  await program.stop();
  return tookMs;
}
