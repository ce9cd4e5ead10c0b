import { print } from "../cases.ts";
import { type Judgement, judge } from "./judge.ts";
import { countNamed } from "./lines.ts";
import type { Lived } from "./live.ts";
import type { Project } from "./project.ts";
import { seconds, storyOf, writeLog } from "./story.ts";

const DOUBLED_MAX = 0.001;
const STORIES_MAX = 8;

interface Judged {
  readonly project: Project;
  /** The document at rest. */
  readonly text: string;
  readonly found: Judgement;
}

/** What came of a run; each row with its target, where it has one. */
export interface Report {
  readonly rows: readonly Row[];
  readonly met: boolean;
}

interface Row {
  readonly what: string;
  readonly count: string;
  readonly target: string;
  readonly met: boolean;
}

/** Judges a run, prints its table and the story of whatever should not be. */
export async function report(lived: Lived): Promise<Report> {
  const judged: Judged[] = [];
  const open = new Set(lived.unequal.map(({ project }) => project));
  for (const project of lived.town.projects) {
    // What no daemon has taken yet is not lost, and would be told as if it were.
    if (open.has(project)) continue;
    const text = await textOf(project);
    const { conflicts } = lived;
    const found = judge(project.ledger, text, (line, isOpen) => {
      return isOpen ? conflicts.isOpen(line, project, text) : conflicts.shows(line, project);
    });
    judged.push({ project, text, found });
  }
  for (const each of judged) await tellStories(each, lived);
  const unequal = lived.unequal.map(({ what, project }) => {
    return project ? `${what}; what became of the lines of ${project.name} is not judged` : what;
  });
  for (const each of [...unequal, ...lived.mishaps]) print(`! ${each}`);
  const rows = rowsOf(lived, judged);
  for (const { what, count, target, met } of rows) {
    print(`${what.padEnd(58)} ${count.padStart(8)}   ${target}${met ? "" : "   MISSED"}`);
  }
  return { rows, met: rows.every(({ met }) => met) };
}

/** As a user would look at it. */
async function textOf({ places: [place] }: Project): Promise<string> {
  return place ? await place.machine.memsyncWith({ cwd: place.dir }, "doc") : "";
}

function rowsOf({ historian, conflicts, ...lived }: Lived, judged: readonly Judged[]): Row[] {
  const of = (name: Exclude<keyof Judgement, "saved">) =>
    judged.reduce((sum, { found }) => sum + found[name].length, 0);
  const saved = judged.reduce((sum, { found }) => sum + found.saved, 0);
  return [
    told("saves", lived.saves),
    told("lines saved", saved),
    none("lines lost", of("lost")),
    none("lines come back without a conflict", of("back")),
    told("lines come back, with a conflict", of("backInConflict")),
    upTo("lines doubled", of("doubled"), Math.max(1, Math.floor(saved * DOUBLED_MAX)), "≤ 0.1 %"),
    told("lines doubled, with an open conflict", of("doubledInConflict")),
    told("lines written over by an old buffer, as the rules allow", of("overwritten")),
    told("lines that git moved away before they could be read", of("unread")),
    told("conflicts shown", conflicts.ids.size),
    told("large deletions shown", conflicts.deletions.size),
    told("saves looked for in the history", historian.looked),
    none("saves missing from the history", historian.missing.length),
    told("saves overtaken within a second, not in the history", historian.overtaken.length),
    none("files and documents that are not equal at rest", lived.unequal.length),
    none("commands of git that failed", lived.mishaps.length),
    { what: "from the last save to rest", count: seconds(lived.restMs), target: "", met: true },
  ];
}

function told(what: string, count: number): Row {
  return { what, count: `${count}`, target: "", met: true };
}

function none(what: string, count: number): Row {
  return upTo(what, count, 0, "0");
}

function upTo(what: string, count: number, max: number, target: string): Row {
  return { what, count: `${count}`, target: `target ${target}`, met: count <= max };
}

async function tellStories({ project, text, found }: Judged, lived: Lived): Promise<void> {
  const { name, kind, ledger } = project;
  const missing = lived.historian.missing
    .filter(({ place }) => project.places.includes(place))
    .sort((one, other) => other.stoodMs - one.stoodMs);
  const bad = [
    ...found.lost.map((line) => ["lost", line] as const),
    ...found.back.map((line) => ["come back without a conflict", line] as const),
    ...found.doubled.map((line) => ["doubled", line] as const),
    ...found.unread.map((line) => ["moved away by git before it could be read", line] as const),
  ];
  if (bad.length + missing.length === 0) return;
  print(`\n${name} (${kind}): ${writeLog(name, ledger, await appendixOf(project))}`);
  for (const [what, line] of bad.slice(0, STORIES_MAX)) {
    print(`  ${what}: ${JSON.stringify(line)}`);
    for (const told of storyOf(line, ledger)) print(`    ${told}`);
    print(`    at rest the document has it ${countNamed(text).get(line) ?? 0} times`);
  }
  if (bad.length > STORIES_MAX) print(`  and ${bad.length - STORIES_MAX} more lines`);
  for (const { place, save, stoodMs } of missing.slice(0, STORIES_MAX)) {
    const { what } = ledger.entries[save.entry] ?? { what: "" };
    const at = seconds(save.at - ledger.startedAt);
    print(
      `  not in the history: #${save.entry} ${at} ${place.name}, for ${seconds(stoodMs)}: ${what}`,
    );
  }
  if (missing.length > STORIES_MAX) print(`  and ${missing.length - STORIES_MAX} more saves`);
}

async function appendixOf({ places }: Project): Promise<Record<string, string>> {
  const appendix: Record<string, string> = {};
  for (const { name, machine, dir } of places) {
    for (const args of [["doc"], ["doc", "history", "--json"], ["conflicts", "--json"]]) {
      const title = `${name}: memsync ${args.join(" ")}`;
      appendix[title] = await machine.memsyncWith({ cwd: dir }, ...args);
    }
  }
  return appendix;
}
