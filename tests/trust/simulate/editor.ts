import { join } from "node:path";
import type { ProjectId } from "../../../shared/ids.ts";
import type { Dice } from "./dice.ts";
import type { Machine } from "./machine.ts";
import type { Phrases } from "./phrases.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import type { TextLedger } from "./text-ledger.ts";

const FILE = "CLAUDE.md";
const THINKING_MS_MAX = 25_000;
/** Between the moment that an editor empties a file and the one that it has written it. */
const SAVING_MS_MAX = 20;
const LINES_MAX = 60;

/** People live on whatever happens to processes. */
const PEOPLE: Owner = { alive: true };

/** What the people of a run edit files with. */
export class Editor {
  readonly #scheduler: Scheduler;
  readonly #dice: Dice;
  readonly #phrases: Phrases;
  readonly #note: (line: string) => void;
  readonly #ledgerOf: (project: ProjectId) => TextLedger;
  /** Files that somebody has open: two people at one file of one machine undo each other. */
  readonly #open = new Set<string>();

  constructor(
    scheduler: Scheduler,
    dice: Dice,
    phrases: Phrases,
    ledgerOf: (project: ProjectId) => TextLedger,
    note: (line: string) => void,
  ) {
    this.#note = note;
    this.#scheduler = scheduler;
    this.#dice = dice;
    this.#phrases = phrases;
    this.#ledgerOf = ledgerOf;
  }

  /** How many people have a file open that they will save. */
  get open(): number {
    return this.#open.size;
  }

  /** Whether nobody has a file open there, and the daemon has taken all that was saved. */
  isQuietOn(machine: Machine): boolean {
    const { documents } = machine.shadow;
    if ([...this.#open].some((path) => machine.volume.holds(path))) return false;
    return machine.projects.every((id) => {
      return this.textOf(machine, id) === (documents.get(id)?.content() ?? "");
    });
  }

  pathOf(machine: Machine, project: ProjectId): string {
    return join(machine.folderOf(project), FILE);
  }

  textOf(machine: Machine, project: ProjectId): string {
    return machine.volume.find(this.pathOf(machine, project))?.bytes.toString() ?? "";
  }

  /** Somebody opens the file, thinks, and saves the whole of it. */
  edit(machine: Machine, project: ProjectId): void {
    const path = this.pathOf(machine, project);
    if (this.#open.has(path)) return;
    this.#open.add(path);
    const before = this.textOf(machine, project);
    const after = this.#change(machine.name, before);
    const thinkingMs = this.#dice.chance(0.5) ? 0 : this.#dice.between(0, THINKING_MS_MAX);
    this.#scheduler.after(thinkingMs, PEOPLE, () => this.#save(machine, project, before, after));
  }

  /** The file that a project has on a machine from the beginning. */
  begin(machine: Machine, project: ProjectId, text: string): void {
    machine.volume.putByPerson(this.pathOf(machine, project), Buffer.from(text));
    this.#done(machine, project);
    this.#ledgerOf(project).saved("", text);
  }

  remove(machine: Machine, project: ProjectId): void {
    const path = this.pathOf(machine, project);
    if (!machine.volume.find(path) || this.#open.has(path)) return;
    // The daemon may not know the last save: it takes away what it had written itself, too.
    const written = machine.shadow.documents.get(project)?.content() ?? "";
    this.#ledgerOf(project).saved(`${this.textOf(machine, project)}\n${written}`, "");
    machine.volume.remove(path);
    this.#done(machine, project);
  }

  #change(author: string, before: string): string {
    const dice = this.#dice;
    const lines = wholeLines(before);
    const deleted = dice.chance(lines.length > LINES_MAX ? 1 : 0.3) ? 1 + dice.below(4) : 0;
    if (deleted > 0) lines.splice(dice.below(lines.length + 1), deleted);
    // Each save has a line that no other has: one equal to an older one undoes what came between.
    const added = [this.#phrases.own(author)];
    if (dice.chance(0.3)) added.push(...this.#phrases.paragraph());
    if (dice.chance(0.2)) added.unshift("");
    lines.splice(dice.below(lines.length + 1), 0, ...added.map((line) => `${line}\n`));
    const text = lines.join("");
    return dice.chance(0.1) ? text.replace(/\n$/, "") : text;
  }

  #save(machine: Machine, project: ProjectId, before: string, after: string): void {
    this.#note(`${machine.name} saves ${project}'s file`);
    this.#ledgerOf(project).saved(before, after);
    const { volume } = machine;
    const path = this.pathOf(machine, project);
    const bytes = Buffer.from(after);
    const inode = volume.find(path);
    if (!inode || this.#dice.chance(0.4)) {
      volume.putByPerson(path, bytes);
      this.#done(machine, project);
      this.#open.delete(path);
      return;
    }
    // In place: emptied, and written a moment later, whatever has got the name meanwhile.
    volume.writeByPerson(inode, Buffer.alloc(0));
    this.#scheduler.after(this.#dice.between(0, SAVING_MS_MAX), PEOPLE, () => {
      this.#open.delete(path);
      volume.writeByPerson(inode, bytes);
      this.#done(machine, project);
    });
  }

  #done(machine: Machine, project: ProjectId): void {
    machine.volume.flushFolder(machine.folderOf(project));
    machine.saved(machine.folderOf(project));
  }
}

/** Each line with a line break, the last one, too. */
export function wholeLines(text: string): string[] {
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return whole.split(/(?<=\n)/).filter((line) => line !== "");
}
