import { join } from "node:path";
import { startEmulator, urlIn } from "../emulator.ts";
import type { Program, Programs } from "../programs.ts";
import type { Row } from "../row.ts";
import { median, ms, times } from "../sample.ts";

const ROUNDS = 11;
const HEADERS = { Authorization: "Bearer mst_dev_pro" };

/** From the start of the emulator's process to its first answer. */
export const start: Row = {
  name: "start",
  async run({ programs, folder }) {
    const own: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const dir = await folder();
      bare.push(await untilAnswer(() => startBare(programs, join(dir, "bare.db"))));
      own.push(await untilAnswer(() => startEmulator(programs, join(dir, "emulator"))));
    }
    const ratio = median(own) / median(bare);
    const figure =
      `${ms(median(own))} from source, ${times(ratio)} a bare Bun HTTP server with a database ` +
      `(${ms(median(bare))})`;
    const target = "from source: against peers; compiled: ≤ 3 × bare";
    return {
      figures: [{ figure, target, verdict: "not judged" }],
      notes: [
        `medians of ${ROUNDS} starts each, in turn, each on a fresh folder, to the first ` +
          "authenticated 200 of `GET /v1/memories`; the compiled binary and the peers are not " +
          "there yet.",
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
