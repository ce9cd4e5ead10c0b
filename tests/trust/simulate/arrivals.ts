import type { ProjectId } from "../../../shared/ids.ts";
import type { Machine } from "./machine.ts";
import type { Owner } from "./scheduler.ts";
import { linesOf, type Weight } from "./text-ledger.ts";

/** A deletion of what came so lately is not carried out; around the border either is right. */
const DEFENDED_MS_MAX = 55_000;
const COUNTS_MS_MIN = 70_000;

interface Arrival {
  readonly at: number;
  /** The process that wrote it into the file; undefined where no clock tells how old it is. */
  readonly process: Owner | undefined;
}

/** When others' lines came into each machine's files. */
export class Arrivals {
  readonly #byFile = new Map<string, Map<string, Arrival>>();

  /** A daemon put `after` in the place of `before`. */
  wrote(machine: Machine, project: ProjectId, before: string, after: string, now: number): void {
    const had = new Set(linesOf(before));
    const known = this.#of(machine, project);
    for (const line of linesOf(after)) {
      if (!had.has(line) && !known.has(line))
        known.set(line, { at: now, process: machine.process });
    }
  }

  /** The machine's clock was set, or its home exchanged: how old something is can't be told. */
  blur(machine: Machine): void {
    for (const [name, known] of this.#byFile) {
      if (!name.startsWith(`${machine.name} `)) continue;
      for (const [line, { at }] of known) known.set(line, { at, process: undefined });
    }
  }

  /** How much it counts that somebody takes a line out of a machine's file now. */
  weigh(machine: Machine, project: ProjectId, line: string, now: number): Weight {
    const arrival = this.#of(machine, project).get(line);
    if (!arrival) return "counts";
    // How old it is by the machine's clock nobody can say.
    if (arrival.process === undefined) return "unsure";
    const age = now - arrival.at;
    if (age > COUNTS_MS_MIN) return "counts";
    return age < DEFENDED_MS_MAX ? "defended" : "unsure";
  }

  #of(machine: Machine, project: ProjectId): Map<string, Arrival> {
    const name = `${machine.name} ${project}`;
    const known = this.#byFile.get(name) ?? new Map<string, Arrival>();
    this.#byFile.set(name, known);
    return known;
  }
}
