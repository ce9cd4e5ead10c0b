import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { compileInto } from "../compiled.ts";
import { type Bench, type Row, verdictOf } from "../row.ts";
import { median, ms, quantile } from "../sample.ts";

const ROUNDS = 41;
const MEMORIES = 50;
const UP_MS_MAX = 40;
const DOWN_MS_MAX = 60;

/** One `memsync get` by the compiled binary, from the start of its process to its end. */
export const cli: Row = {
  name: "cli",
  async run(bench) {
    const machine = await prepare(bench);
    const daemon = await bench.programs.spawn([machine.binary, "up", machine.project], machine.env);
    for (let at = 0; at < MEMORIES; at++) {
      await memsync(machine, ["set", `key-${at}`, `value of ${at}`]);
    }
    await memsync(machine, ["sync", "--wait", "20"]);
    const up = await timesOfGet(machine);
    await daemon.stop();
    const down = await timesOfGet(machine);
    return {
      figures: [
        figureOf("with the daemon up", up, UP_MS_MAX),
        figureOf("with it down", down, DOWN_MS_MAX),
      ],
      notes: [
        `medians of ${ROUNDS} runs of \`memsync get\` by the compiled binary, of one of ` +
          `${MEMORIES} memories of a followed project, whole process; ` +
          "@modelcontextprotocol/server-memory is not there yet.",
      ],
    };
  },
};

interface Machine {
  readonly binary: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
}

async function prepare({ folder }: Bench): Promise<Machine> {
  const dir = await folder();
  const project = join(dir, "project");
  await mkdir(project);
  const env = { PATH: process.env.PATH ?? "", HOME: dir, MEMSYNC_HOME: join(dir, "home") };
  return { binary: await compileInto(dir), project, env };
}

async function timesOfGet(machine: Machine): Promise<number[]> {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const key = round % MEMORIES;
    const startedAt = performance.now();
    const value = await memsync(machine, ["get", `key-${key}`]);
    took.push(performance.now() - startedAt);
    if (value !== `value of ${key}`) throw new Error(`get printed ${value}`);
  }
  return took;
}

async function memsync({ binary, project, env }: Machine, args: readonly string[]) {
  const child = Bun.spawn([binary, ...args], {
    cwd: project,
    env: { ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [text, status] = await Promise.all([child.stdout.text(), child.exited]);
  if (status !== 0) throw new Error(`memsync ${args.join(" ")} ended with ${status}`);
  return text;
}

function figureOf(state: string, took: readonly number[], msMax: number) {
  return {
    figure: `\`get\` ${state}: ${ms(median(took))} (p90 ${ms(quantile(took, 0.9))})`,
    target: `≤ ${msMax} ms whole process`,
    verdict: verdictOf(median(took) <= msMax),
  };
}
