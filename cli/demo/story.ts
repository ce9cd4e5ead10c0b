import { isDeepStrictEqual } from "node:util";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { CommandFailed } from "../screen/errors.ts";
import { say, sayText } from "../screen/output.ts";
import { styled } from "../screen/terminal.ts";
import { type ColumnLine, columns } from "./columns.ts";
import type { DemoMachine } from "./demo-machine.ts";

/** The machines, and what the demonstration can do to the network between them. */
export interface Cast {
  readonly laptop: DemoMachine;
  readonly desktop: DemoMachine;
  readonly network: { down(): Promise<void>; up(): Promise<void> };
  /** A pause for a person to read; none where nobody does. */
  readonly pause: (seconds: number) => Promise<void>;
}

const POLL_MS = 10;
const PATIENCE_MS = 20_000;
const MEMORY = "deploy";

const FIRST = ["# Shop", "", "- Build with `npm run build`.", "- Deploy on Fridays."];
const OF_LAPTOP = "- Deploy on Mondays, not on Fridays.";
const OF_DESKTOP = "- Tests need Redis on port 6380.";
const LAPTOP_VALUE = "make deploy";
const DESKTOP_VALUE = "npm run deploy";

const EMPTY: ColumnLine = { text: "" };

/** Tells the demonstration as it happens. Rejects if a machine does not get as far in time. */
export async function tellStory(cast: Cast): Promise<void> {
  await sayScene("1", "The laptop's assistant writes down what it has learned.", cast);
  await cast.laptop.save(`${FIRST.join("\n")}\n`);
  const startedAt = realWorld.monotonic();
  await until("the file to reach the desktop", () => haveEqualFiles(cast));
  const arrived = Math.round(realWorld.monotonic() - startedAt);
  await show(cast, `on the desktop ${arrived} ms later`);

  await sayScene("2", "The network is gone, and both go on. Everything works offline.", cast);
  await cast.network.down();
  await editOffline(cast);
  await show(cast, "each knows only its own");

  await sayScene("3", "The network is back.", cast);
  await cast.network.up();
  await until("both machines to be equal again", () => isTogether(cast));
  await show(cast, "the same on both: nothing lost, no markers, nobody asked");
  await showConflict(cast);
}

async function sayScene(number: string, sentence: string, { pause }: Cast): Promise<void> {
  say("");
  sayText([`${styled("bold", number)}  ${styled("bold", sentence)}`]);
  await pause(2);
}

async function editOffline({ laptop, desktop }: Cast): Promise<void> {
  await laptop.save(`${[...FIRST.slice(0, -1), OF_LAPTOP].join("\n")}\n`);
  await desktop.save(`${[...FIRST, OF_DESKTOP].join("\n")}\n`);
  await laptop.set(MEMORY, LAPTOP_VALUE);
  await desktop.set(MEMORY, DESKTOP_VALUE);
  for (const machine of [laptop, desktop]) {
    await until(`the ${machine.name}'s edit to be saved there`, async () => {
      await machine.sync();
      return await machine.isSaved();
    });
  }
}

async function haveEqualFiles({ laptop, desktop }: Cast): Promise<boolean> {
  const [one, other] = await Promise.all([laptop.lines(), desktop.lines()]);
  return one.length > 0 && isDeepStrictEqual(one, other);
}

async function isTogether(cast: Cast): Promise<boolean> {
  const { laptop, desktop } = cast;
  await Promise.all([laptop.sync(), desktop.sync()]);
  if (!(await haveEqualFiles(cast))) return false;
  const lines = await laptop.lines();
  const values = await Promise.all([laptop.get(MEMORY), desktop.get(MEMORY)]);
  const losing = await Promise.all([laptop.losingValues(), desktop.losingValues()]);
  return (
    [OF_LAPTOP, OF_DESKTOP].every((line) => lines.includes(line)) &&
    values[0] === values[1] &&
    losing.every((values) => values.length === 1)
  );
}

async function show({ laptop, desktop, pause }: Cast, remark: string): Promise<void> {
  say("");
  const [left, right] = await Promise.all([fileColumn(laptop), fileColumn(desktop)]);
  for (const line of columns([heading(laptop), ...left], [heading(desktop), ...right])) say(line);
  const [mine, other] = await Promise.all([memoryColumn(laptop), memoryColumn(desktop)]);
  for (const line of columns(mine, other)) say(line);
  say(styled("dim", `   ${remark}`));
  await pause(3);
}

function heading({ name }: DemoMachine): ColumnLine {
  return { text: name, style: "bold" };
}

async function fileColumn(machine: DemoMachine): Promise<ColumnLine[]> {
  return (await machine.lines()).map(byAuthor);
}

async function memoryColumn(machine: DemoMachine): Promise<ColumnLine[]> {
  const value = await machine.get(MEMORY);
  return value === undefined ? [] : [EMPTY, { ...byAuthor(value), text: `${MEMORY}: ${value}` }];
}

/** The colour shows who wrote a line. */
function byAuthor(text: string): ColumnLine {
  if (text === OF_LAPTOP || text === LAPTOP_VALUE) return { text, style: "cyan" };
  if (text === OF_DESKTOP || text === DESKTOP_VALUE) return { text, style: "magenta" };
  return { text };
}

async function showConflict({ laptop, pause }: Cast): Promise<void> {
  const [losing] = await laptop.losingValues();
  say("");
  sayText([
    `   Both had set the memory \`${MEMORY}\`: the later value counts, and the other one,`,
    `   \`${losing}\`, is kept: \`memsync conflicts\` shows it, on either machine.`,
  ]);
  await pause(2);
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = realWorld.monotonic() + PATIENCE_MS;
  while (!(await holds())) {
    if (realWorld.monotonic() > deadline) throw new CommandFailed(`waited in vain for ${what}`);
    await delay(realWorld, POLL_MS);
  }
}
