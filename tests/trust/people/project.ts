import { join } from "node:path";
import type { Lab } from "../../support/lab.ts";
import type { Machine } from "../../support/machine.ts";
import type { Dice } from "../simulate/dice.ts";
import { BEGINNING, Ledger } from "./ledger.ts";
import { countNamed } from "./lines.ts";
import { FILE, type Kind, Place } from "./place.ts";
import { Words } from "./words.ts";

const START_LINES = 14;

/** One project, with a place at each machine that works on it. */
export interface Project {
  readonly name: string;
  readonly kind: Kind;
  readonly ledger: Ledger;
  readonly places: readonly Place[];
}

const FIRST_COMMIT: Readonly<Record<Kind, (start: string) => Readonly<Record<string, string>>>> = {
  ignored: () => ({ ".gitignore": `${FILE}*\n` }),
  untracked: () => ({ "README.txt": "first\n" }),
  tracked: (start) => ({ [FILE]: start, ".gitattributes": `${FILE} merge=union\n` }),
};

/** The folders of a project: clones of one bare repository, with the file where it is to be. */
export async function makeFolders(
  lab: Lab,
  { name, kind, start }: { name: string; kind: Kind; start: string },
  machines: readonly string[],
): Promise<readonly string[]> {
  const { git } = lab;
  await git.repository(`first-${name}`, FIRST_COMMIT[kind](start));
  await git.run(git.folder, "clone", "-q", "--bare", `first-${name}`, `${name}.git`);
  const dirs: string[] = [];
  for (const machine of machines) {
    const dir = git.path(`${name}-${machine}`);
    await git.run(git.folder, "clone", "-q", `${name}.git`, dir);
    if (kind === "untracked" || (kind === "ignored" && dirs.length === 0)) {
      await git.write(join(dir, FILE), start);
    }
    dirs.push(dir);
  }
  return dirs;
}

/** A file to begin with. */
export function startOf(name: string, dice: Dice): string {
  const words = new Words(`${name}-start`, dice);
  const lines = Array.from({ length: START_LINES }, (_, at) => {
    return at % 5 === 4 ? `\n${words.heading()}\n` : words.line();
  });
  return `${lines.join("\n")}\n`;
}

/** The project once its file is wherever it is to be. */
export function openProject(
  { name, kind, start }: { name: string; kind: Kind; start: string },
  dirs: readonly string[],
  machines: readonly Machine[],
): Project {
  const ledger = new Ledger(performance.now());
  ledger.allow(start);
  ledger.enter(BEGINNING, "the text that all begin with", start);
  for (const line of countNamed(start).keys()) ledger.tell(line, "put");
  const places = dirs.flatMap((dir, at) => {
    const machine = machines[at];
    return machine ? [new Place(`${name}${machine.name}`, kind, machine, dir, ledger)] : [];
  });
  return { name, kind, ledger, places };
}
