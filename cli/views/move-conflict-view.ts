import { timestampOf } from "../../shared/timestamps.ts";
import type { MoveConflict } from "../local/local-conflicts.ts";
import type { MemoryOutcome } from "../local/moved-memories.ts";
import { shortName } from "../screen/output.ts";
import { valueLine } from "./memory-view.ts";
import { indentedText, machineShown, onMachine, timeShown } from "./version-view.ts";

/** The last columns of its row. */
export function moveRow({ moved: { key, outcomes } }: MoveConflict): string[] {
  const machines = new Set(outcomes.map(({ machine }) => machineShown(machine)));
  const shown = outcomes.map(({ standing }) => {
    if (!standing) return "deleted";
    return `moved to ${standing.document.title}: ${valueLine(standing.winner.value)}`;
  });
  return [shortName(key), shortName([...machines].join(", ")), shown.reverse().join(" | ")];
}

/** How to settle it; `choose`: the command with its first version, and without its end. */
export function moveAdvice({ moved }: MoveConflict, choose: string): string {
  const [first, ...others] = moved.outcomes.map(({ standing }, at) => {
    if (!standing) return `\`${at + 1}\` deletes it there, too`;
    const stays = `leaves it in ${standing.document.title} alone`;
    return at === 0 ? `${choose} ${stays}` : `\`${at + 1}\` ${stays}`;
  });
  return [first, ...others, "`dismiss` leaves it wherever it stands"].join(", ");
}

/** All outcomes, with the values that stand. */
export function moveLines({ document, moved: { key, outcomes } }: MoveConflict): string[] {
  const isDeleted = outcomes.some(({ standing }) => standing === undefined);
  const what = isDeleted ? "deleted and moved at once" : "moved to several places at once";
  return [
    `the memory "${key}" of ${document.title}, ${what}`,
    ...outcomes.flatMap((each, at) => ["", `${at + 1}  ${headOf(each)}`, ...textOf(each)]),
  ];
}

function headOf({ standing, at, machine }: MemoryOutcome): string {
  const when = `${timeShown(at)}${onMachine(machine)}`;
  if (!standing) return `deleted ${when}`;
  return `stands in ${standing.document.title}, moved there ${when}`;
}

function textOf({ standing }: MemoryOutcome): string[] {
  return standing ? indentedText(standing.winner.value) : [];
}

/** What it has in `--json` beside its place. */
export function moveJson({ moved: { key, outcomes } }: MoveConflict) {
  return {
    key,
    outcomes: outcomes.map(({ standing, machine, at }) => ({
      moved_to: standing?.document.title ?? null,
      value: standing?.winner.value ?? null,
      machine: machine ?? null,
      at: timestampOf(at),
    })),
  };
}
