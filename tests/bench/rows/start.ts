import { join } from "node:path";
import { compileInto } from "../compiled.ts";
import { startEmulator, urlIn } from "../emulator.ts";
import type { Program, Programs } from "../programs.ts";
import { type Row, verdictOf } from "../row.ts";
import { median, ms, times } from "../sample.ts";

const ROUNDS = 11;
const COMPILED_RATIO_MAX = 3;
const HEADERS = { Authorization: "Bearer mst_dev_pro" };

/** From the start of the emulator's process to its first answer. */
export const start: Row = {
  name: "start",
  async run({ programs, folder }) {
    const own: number[] = [];
    const compiled: number[] = [];
    const bare: number[] = [];
    const binary = await compileInto(await folder());
    for (let round = 0; round < ROUNDS; round++) {
      const dir = await folder();
      bare.push(await untilAnswer(() => startBare(programs, join(dir, "bare.db"))));
      own.push(await untilAnswer(() => startEmulator(programs, join(dir, "emulator"))));
      compiled.push(
        await untilAnswer(() => startEmulator(programs, join(dir, "compiled"), binary)),
      );
    }
    const ratio = median(compiled) / median(bare);
    return {
      figures: [
        {
          figure:
            `compiled: ${ms(median(compiled))}, ${times(ratio)} a bare Bun HTTP server with a ` +
            `database (${ms(median(bare))})`,
          target: `compiled: ≤ ${COMPILED_RATIO_MAX} × bare`,
          verdict: verdictOf(ratio <= COMPILED_RATIO_MAX),
        },
        {
          figure: `from source: ${ms(median(own))}`,
          target: "from source: against peers",
          verdict: "not judged",
        },
      ],
      notes: [
        `medians of ${ROUNDS} starts each, in turn, each on a fresh folder, to the first ` +
          "authenticated 200 of `GET /v1/memories`; the peers are not there yet.",
      ],
    };
  },
};

async function startBare(programs: Programs, path: string): Promise<Program & { url: string }> {
  const program = await programs.start("bare/start-server.ts", [path]);
  return { ...program, url: urlIn(program.line) };
}

async function untilAnswer(begin: () => Promise<Program & { url: string }>): Promise<number> {
  const startedAt = performance.now();
  const program = await begin();
  const response = await fetch(`${program.url}/v1/memories`, { headers: HEADERS });
  await response.text();
  const tookMs = performance.now() - startedAt;
  if (response.status !== 200) throw new Error(`the first answer was ${response.status}`);
  await program.stop();
  return tookMs;
}
