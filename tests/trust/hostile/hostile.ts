import { join } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "../../support/random.ts";
import { anySeed, print, wholeNumber } from "../cases.ts";
import { attackAdmission } from "./admission.ts";
import { attackEndpoint } from "./endpoint.ts";

export const USAGE = "hostile [--inputs N] [--seed N]";

const INPUTS = "1000000";
/** Inputs of one process, which is killed when it says nothing for too long. */
const INPUTS_PER_PROCESS = { admission: 20_000, endpoint: 2000 } as const;
const SILENCE_MS_MAX = 600_000;
/** Of all inputs; the others are requests to a server. */
const FOR_ADMISSION = 0.7;
const HANG_MS = 1000;
/** Their processes do little but wait: answers to whoever guesses tokens are held back. */
const ENDPOINTS_AT_ONCE = 8;

const ATTACKS = { admission: attackAdmission, endpoint: attackEndpoint } as const;

type Attack = keyof typeof ATTACKS;

interface Report {
  readonly inputs: number;
  readonly slowestMs: number;
}

/** The command `hostile`. Resolves to the exit status: 1 when something was harmed. */
export async function hostile(args: string[]): Promise<number> {
  const text = { type: "string" } as const;
  const options = { inputs: text, seed: text, attack: text } as const;
  const { values } = parseArgs({ args, options });
  const seed = wholeNumber(values.seed ?? `${anySeed()}`);
  const inputs = wholeNumber(values.inputs ?? INPUTS);
  if (values.attack !== undefined) return await attackHere(values.attack as Attack, seed, inputs);
  const campaign = new Campaign(seed);
  const forAdmission = Math.ceil(inputs * FOR_ADMISSION);
  const lane = (attack: Attack, share: number) => campaign.attackWith(attack, share);
  await Promise.all([
    lane("admission", forAdmission),
    ...Array.from({ length: ENDPOINTS_AT_ONCE }, (_, at) => {
      return lane("endpoint", partOf(inputs - forAdmission, ENDPOINTS_AT_ONCE, at));
    }),
  ]);
  return campaign.failed === 0 ? 0 : 1;
}

/** Whole parts that make up the whole. */
function partOf(whole: number, parts: number, at: number): number {
  return Math.floor((whole * (at + 1)) / parts) - Math.floor((whole * at) / parts);
}

/** What all the processes have found so far. */
class Campaign {
  failed = 0;
  readonly #totals = { admission: 0, endpoint: 0 };
  readonly #slowest = { admission: 0, endpoint: 0 };
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Attacks in one process after the other until `inputs` were sent. */
  async attackWith(attack: Attack, inputs: number): Promise<void> {
    for (let sent = 0; sent < inputs; ) {
      const count = Math.min(INPUTS_PER_PROCESS[attack], inputs - sent);
      const report = await attackElsewhere(attack, this.#seed++, count);
      sent += report?.inputs ?? count;
      this.#note(attack, report ?? { inputs: count, slowestMs: 0 }, report !== undefined);
    }
  }

  #note(attack: Attack, { inputs, slowestMs }: Report, stood: boolean): void {
    const [totals, slowest] = [this.#totals, this.#slowest];
    if (!stood) this.failed++;
    totals[attack] += inputs;
    slowest[attack] = Math.max(slowest[attack], slowestMs);
    print(
      `${totals.admission} updates (slowest ${Math.round(slowest.admission)} ms), ` +
        `${totals.endpoint} requests and frames (slowest ${Math.round(slowest.endpoint)} ms); ` +
        `target ${HANG_MS} ms; ${this.failed} runs failed`,
    );
  }
}

async function attackHere(attack: Attack, seed: number, inputs: number): Promise<number> {
  print(JSON.stringify(await ATTACKS[attack](seededRandom(seed), inputs)));
  return 0;
}

/** In a process of its own, which may die or hang: that is what is looked for. */
async function attackElsewhere(
  attack: Attack,
  seed: number,
  inputs: number,
): Promise<Report | undefined> {
  const main = join(import.meta.dir, "..", "main.ts");
  const args = ["hostile", "--attack", attack, "--seed", `${seed}`, "--inputs", `${inputs}`];
  const child = Bun.spawn([process.execPath, main, ...args], {
    stdout: "pipe",
    stderr: "inherit",
    timeout: SILENCE_MS_MAX,
    killSignal: "SIGKILL",
  });
  const printed = await new Response(child.stdout).text();
  if ((await child.exited) === 0) return JSON.parse(printed) as Report;
  const how = child.signalCode === "SIGKILL" ? `killed: it took over ${SILENCE_MS_MAX} ms\n` : "";
  print(`${how}${printed}  again: npm run trust -- ${args.join(" ")}`);
  return undefined;
}
