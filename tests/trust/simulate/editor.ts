import type { ProjectId } from "../../../shared/ids.ts";
import { type ChangeOptions, changePlainly, changeRoughly, wholeLines } from "./changes.ts";
import type { Dice } from "./dice.ts";
import { type Files, PEOPLE } from "./files.ts";
import type { Machine } from "./machine.ts";
import type { Phrases } from "./phrases.ts";
import type { Scheduler } from "./scheduler.ts";
import type { TextLedger } from "./text-ledger.ts";

const THINKING_MS_MAX = 25_000;
/** Between two saves of one open buffer: mostly soon, now and then after more than a minute. */
const PAUSES_MS_MAX = [500, 3000, 3000, 12_000, 12_000, 80_000] as const;
const SAVES_MAX = 4;
const VERSIONS_MAX = 7;
const AWAY_MS_MAX = 15_000;

/** A file that somebody has open. */
interface OpenFile {
  readonly machine: Machine;
  readonly project: ProjectId;
  /** Whether its program looks at the file before it saves. */
  readonly reloads: boolean;
  /** What its program has in memory. */
  text: string;
  /** What the file had when that was read or saved. */
  onDisk: string;
  savesLeft: number;
}

/** What the people of a run edit with. */
export interface EditorOptions {
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly phrases: Phrases;
  readonly files: Files;
  /** Whether they do more than to add and delete lines. */
  readonly rough: boolean;
  readonly ledgerOf: (project: ProjectId) => TextLedger;
  readonly note: (line: string) => void;
}

/** People with editors, and programs that write files: one at a time at each file. */
export class Editor {
  readonly #options: EditorOptions;
  /** Files that somebody has open: two people at one file of one machine undo each other. */
  readonly #open = new Set<string>();
  readonly #earlier = new Map<string, string[]>();

  constructor(options: EditorOptions) {
    this.#options = options;
  }

  /** How many people have a file open that they will save. */
  get open(): number {
    return this.#open.size + this.#options.files.saving;
  }

  /** Whether nobody has a file open there, and the daemon has taken all that was saved. */
  isQuietOn(machine: Machine): boolean {
    if ([...this.#open].some((name) => name.startsWith(`${machine.name} `))) return false;
    return machine.projects.every((id) => this.isTaken(machine, id));
  }

  isOpen(machine: Machine, project: ProjectId): boolean {
    const { files } = this.#options;
    return this.#open.has(nameOf(machine, project)) || files.isSaving(machine, project);
  }

  /** Whether the daemon's text is the file's. */
  isTaken(machine: Machine, project: ProjectId): boolean {
    const { files } = this.#options;
    const text = machine.shadow.documents.get(project)?.content() ?? "";
    return files.saving === 0 && files.textOf(machine, project) === text;
  }

  /** Somebody opens the file, thinks, and saves the whole of it: once, or now and then. */
  edit(machine: Machine, project: ProjectId): void {
    const { dice, scheduler, rough, files } = this.#options;
    if (this.isOpen(machine, project)) return;
    this.#open.add(nameOf(machine, project));
    const text = files.textOf(machine, project);
    const savesLeft = rough ? 1 + dice.below(SAVES_MAX) : 1;
    const reloads = rough && dice.chance(0.5);
    const open: OpenFile = { machine, project, reloads, text, onDisk: text, savesLeft };
    const thinkingMs = dice.chance(0.5) ? 0 : dice.between(0, THINKING_MS_MAX);
    open.text = this.#change(open);
    scheduler.after(thinkingMs, PEOPLE, () => this.#save(open));
  }

  #save(open: OpenFile): void {
    const { dice, files, scheduler, rough } = this.#options;
    const { machine, project } = open;
    if (open.reloads) this.#reload(open);
    files.save(machine, project, open.text, dice.chance(0.6));
    this.#remember(open);
    open.onDisk = open.text;
    open.savesLeft -= 1;
    if (open.savesLeft <= 0) {
      this.#open.delete(nameOf(machine, project));
      return;
    }
    if (rough && dice.chance(0.8)) open.text = this.#change(open);
    scheduler.after(dice.between(100, dice.pick(PAUSES_MS_MAX)), PEOPLE, () => this.#save(open));
  }

  /** What is new on the disk comes into the buffer, beside what was changed in it. */
  #reload(open: OpenFile): void {
    const text = this.#options.files.textOf(open.machine, open.project);
    if (text === open.onDisk) return;
    open.text = this.#change({ ...open, text });
    open.onDisk = text;
  }

  #change(open: OpenFile): string {
    const { dice, phrases, rough, ledgerOf } = this.#options;
    const { machine, project, text } = open;
    const options: ChangeOptions = {
      ...{ dice, phrases, author: machine.name },
      ledger: ledgerOf(project),
      earlier: this.#earlier.get(nameOf(machine, project)) ?? [],
    };
    if (!rough || dice.chance(0.5)) return changePlainly(options, text);
    const changed = changeRoughly(options, text);
    return dice.chance(0.7) ? changePlainly(options, changed) : changed;
  }

  #remember({ machine, project, text }: OpenFile): void {
    const name = nameOf(machine, project);
    this.#earlier.set(name, [...(this.#earlier.get(name) ?? []), text]);
  }

  /** A program writes version after version, and never reads. */
  runProgram(machine: Machine, project: ProjectId): void {
    const { dice } = this.#options;
    if (this.isOpen(machine, project)) return;
    this.#open.add(nameOf(machine, project));
    this.#writeVersion(machine, project, [], 2 + dice.below(VERSIONS_MAX));
  }

  #writeVersion(machine: Machine, project: ProjectId, lines: string[], left: number): void {
    const { dice, files, phrases, scheduler } = this.#options;
    if (left === 0) {
      this.#open.delete(nameOf(machine, project));
      return;
    }
    if (lines.length === 0) lines.push(...wholeLines(files.textOf(machine, project)));
    lines.splice(dice.below(lines.length + 1), 0, `${phrases.own(machine.name)}\n`);
    if (dice.chance(0.2)) lines.splice(dice.below(lines.length), 1);
    files.save(machine, project, lines.join(""), false);
    const again = () => this.#writeVersion(machine, project, lines, left - 1);
    scheduler.after(dice.between(50, dice.pick(PAUSES_MS_MAX)), PEOPLE, again);
  }

  /** The file is removed; now and then it is made again, as an editor's buffer has it. */
  remove(machine: Machine, project: ProjectId): void {
    const { dice, files, scheduler, rough } = this.#options;
    if (this.isOpen(machine, project)) return;
    const text = files.textOf(machine, project);
    files.remove(machine, project);
    if (!rough || dice.chance(0.3)) return;
    this.#open.add(nameOf(machine, project));
    scheduler.after(dice.between(0, AWAY_MS_MAX), PEOPLE, () => {
      this.#open.delete(nameOf(machine, project));
      if (!files.exists(machine, project)) files.save(machine, project, text, false);
    });
  }

  empty(machine: Machine, project: ProjectId): void {
    const { dice, files } = this.#options;
    if (this.isOpen(machine, project) || !files.exists(machine, project)) return;
    files.save(machine, project, "", dice.chance(0.5));
  }
}

function nameOf(machine: Machine, project: ProjectId): string {
  return `${machine.name} ${project}`;
}
