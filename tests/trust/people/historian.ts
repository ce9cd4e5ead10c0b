import { PATIENCE } from "../../support/wait-for.ts";
import { busy } from "./busy.ts";
import type { Place, Save } from "./place.ts";
import { READ_MS } from "./place.ts";
import type { Project } from "./project.ts";

/** A text that stood for less may be gone before anybody can read it. */
const STOOD_MS = 1000 * PATIENCE;
/** What was saved so long ago is nearly always in the history by now. */
const SETTLED_MS = 3000;
/** And so long ago always: beside a busy disk a look takes seconds, and more on a busy machine. */
const SURELY_SETTLED_MS = 20_000;
const BATCH = 5;

interface Watched {
  readonly place: Place;
  /** How many of its saves have been looked for. */
  checked: number;
  /** Those that were not there when they were looked for, and may have come too early. */
  missed: readonly Save[];
}

/** A save whose text its machine's history did not have. */
export interface MissingSave {
  readonly place: Place;
  readonly save: Save;
  readonly stoodMs: number;
}

interface Version {
  readonly claude_md_content: string;
}

/** Looks for each save in the history of its machine, as long as the history can have it. */
export class Historian {
  readonly missing: MissingSave[] = [];
  /** Gone within a second, and not in the history. */
  readonly overtaken: MissingSave[] = [];
  looked = 0;
  readonly #watched: Watched[];

  constructor(projects: readonly Project[]) {
    this.#watched = projects.flatMap(({ places }) =>
      places.map((place) => ({ place, checked: 0, missed: [] })),
    );
  }

  /** Looks where there is enough to look for; everywhere and for everything `atEnd`. */
  async look(atEnd = false): Promise<void> {
    const before = performance.now() - (atEnd ? 0 : waitMsOf);
    for (const watched of this.#watched) {
      const { place, checked } = watched;
      const left = place.saves.slice(checked);
      const due = left.filter(({ at }) => at <= before - extraMsOf(place));
      if (due.length < (atEnd ? 1 - watched.missed.length : BATCH)) continue;
      watched.checked += due.length;
      this.looked += due.filter(({ unsure }) => !unsure).length;
      const absent = await absentFrom(place, [...watched.missed, ...due]);
      const now = performance.now();
      const isSure = ({ at }: Save) => atEnd || at <= now - SURELY_SETTLED_MS * busy();
      watched.missed = absent.filter((save) => !isSure(save));
      for (const save of absent.filter(isSure)) this.#miss(place, save);
    }
  }

  #miss(place: Place, save: Save): void {
    const stoodMs = (save.until ?? performance.now()) - save.at;
    const stood = stoodMs >= (place.kind === "tracked" ? READ_MS * PATIENCE : STOOD_MS) * busy();
    (stood ? this.missing : this.overtaken).push({ place, save, stoodMs });
  }
}

/** Those of the saves whose text is not in the history of their machine. */
async function absentFrom({ machine, dir }: Place, saves: readonly Save[]): Promise<Save[]> {
  const printed = await machine.memsyncWith({ cwd: dir }, "doc", "history", "--json");
  const versions = JSON.parse(printed) as Version[];
  const texts = new Set(versions.map(({ claude_md_content: text }) => text));
  return saves.filter(({ unsure, text }) => !unsure && !texts.has(text));
}

const waitMsOf = SETTLED_MS;

/** A tracked file is read only once it is quiet. */
function extraMsOf({ kind }: Place): number {
  return kind === "tracked" ? READ_MS : 0;
}
