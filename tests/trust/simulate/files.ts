import { join } from "node:path";
import type { ProjectId } from "../../../shared/ids.ts";
import { PLANTED } from "../../support/planted-secrets.ts";
import { Arrivals } from "./arrivals.ts";
import type { Dice } from "./dice.ts";
import type { Machine } from "./machine.ts";
import { Saves } from "./saves.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import type { Shadow } from "./shadow.ts";
import { linesOf, type TextLedger, type Weight } from "./text-ledger.ts";

export const FILE = "CLAUDE.md";
/** Between the moment that an editor empties a file and the one that it has written it. */
const SAVING_MS_MAX = 20;

/** People live on whatever happens to processes. */
export const PEOPLE: Owner = { alive: true };

/** Of a run, as far as files are about it. */
export interface FilesOptions {
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly ledgerOf: (project: ProjectId) => TextLedger;
  /** Whether what is saved into a machine's file is followed there now. */
  readonly isFollowed: (machine: Machine, project: ProjectId) => boolean;
  readonly note: (line: string) => void;
}

/** The followed files of all machines, as people see them, and the account of what they save. */
export class Files {
  readonly arrivals = new Arrivals();
  readonly saves = new Saves();
  readonly #options: FilesOptions;
  /** What a file had when it was removed: the next one is made from that. */
  readonly #removed = new Map<string, string>();
  /** What stood in a file when it was last seen. */
  readonly #last = new Map<string, string>();
  readonly #saving = new Set<string>();

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** Saves that are not over. */
  get saving(): number {
    return this.#saving.size;
  }

  isSaving(machine: Machine, project: ProjectId): boolean {
    return this.#saving.has(nameOf(machine, project));
  }

  pathOf(machine: Machine, project: ProjectId): string {
    return join(machine.folderOf(project), FILE);
  }

  exists(machine: Machine, project: ProjectId): boolean {
    return machine.volume.find(this.pathOf(machine, project)) !== undefined;
  }

  textOf(machine: Machine, project: ProjectId): string {
    return machine.volume.find(this.pathOf(machine, project))?.bytes.toString() ?? "";
  }

  /** The file that a project has on a machine from the beginning. */
  begin(machine: Machine, project: ProjectId, text: string): void {
    machine.volume.putByPerson(this.pathOf(machine, project), Buffer.from(text));
    this.#options.ledgerOf(project).saved("", text);
    this.saves.made(machine, project, text, this.#options.scheduler.now);
    this.#seen(machine, project, text);
    this.changed(machine, project);
  }

  /** Somebody's program replaces the file, or writes into it: emptied first, then written. */
  save(machine: Machine, project: ProjectId, text: string, inPlace: boolean): void {
    this.#options.note(`${machine.name} saves ${project}'s file`);
    const { volume } = machine;
    const path = this.pathOf(machine, project);
    const inode = volume.find(path);
    const before = inode
      ? inode.bytes.toString()
      : (this.#removed.get(nameOf(machine, project)) ?? "");
    this.#account(machine, project, before, text);
    if (!inode || !inPlace) {
      volume.putByPerson(path, Buffer.from(text));
      this.#seen(machine, project, text);
      this.changed(machine, project);
      return;
    }
    // Emptied, and written a moment later, whatever has got the name meanwhile.
    volume.writeByPerson(inode, Buffer.alloc(0));
    this.#saving.add(nameOf(machine, project));
    this.#options.scheduler.after(this.#options.dice.between(0, SAVING_MS_MAX), PEOPLE, () => {
      this.#saving.delete(nameOf(machine, project));
      volume.writeByPerson(inode, Buffer.from(text));
      this.#seen(machine, project, this.textOf(machine, project));
      this.changed(machine, project);
    });
  }

  #account(machine: Machine, project: ProjectId, before: string, after: string): void {
    const { ledgerOf, scheduler, isFollowed } = this.#options;
    const ledger = ledgerOf(project);
    if (!isFollowed(machine, project)) {
      ledger.exchanged(before, after);
      this.saves.left(machine, project, scheduler.now);
      return;
    }
    const weigh = (line: string): Weight => {
      // Whether an empty or a new file takes anything away, how long it was so decides.
      if (after.trim() === "" || !this.exists(machine, project)) return "unsure";
      if (before.trim() === "" || after.includes(PLANTED.github)) return "unsure";
      return this.arrivals.weigh(machine, project, line, scheduler.now);
    };
    ledger.saved(before, after, weigh);
    this.saves.made(machine, project, after, scheduler.now);
  }

  remove(machine: Machine, project: ProjectId): void {
    const path = this.pathOf(machine, project);
    if (!machine.volume.find(path)) return;
    this.#removed.set(nameOf(machine, project), this.textOf(machine, project));
    this.#giveUp(machine, project);
    this.saves.left(machine, project, this.#options.scheduler.now);
    machine.volume.remove(path);
    this.changed(machine, project);
  }

  /** What the daemon has not taken by now, of lines and of deletions, is gone with the file. */
  #giveUp(machine: Machine, project: ProjectId): void {
    const ledger = this.#options.ledgerOf(project);
    const taken = new Set(linesOf(machine.shadow.documents.get(project)?.content() ?? ""));
    const lines = new Set(linesOf(this.textOf(machine, project)));
    const untaken = [...lines].filter((line) => !taken.has(line));
    ledger.moved(ledger.deleted.filter((line) => taken.has(line) && !lines.has(line)));
    ledger.exchanged(untaken.join("\n"), "");
  }

  /** The home goes back to a copy: what it alone has, and the file has not, may be gone. */
  lostWithHome(machine: Machine, nodes: Iterable<{ readonly shadow: Shadow }>): void {
    const others = [...nodes].filter((node) => node !== machine);
    for (const project of machine.projects) {
      const kept = others.map(({ shadow }) => shadow.documents.get(project)?.content() ?? "");
      const lines = new Set(linesOf([...kept, this.textOf(machine, project)].join("\n")));
      const own = linesOf(machine.shadow.documents.get(project)?.content() ?? "");
      const ledger = this.#options.ledgerOf(project);
      for (const line of own) if (!lines.has(line)) ledger.excuse(line);
    }
  }

  /** A daemon has put a text where the file's name leads. */
  written(machine: Machine, project: ProjectId, text: string, how: "whole" | "in place"): void {
    const { scheduler, ledgerOf, note } = this.#options;
    note(`${machine.name} writes ${project}'s file`);
    if (how === "whole") ledgerOf(project).checkShown(`${machine.name}'s file`, text);
    const before = this.#last.get(nameOf(machine, project)) ?? "";
    this.arrivals.wrote(machine, project, before, text, scheduler.now);
    this.#seen(machine, project, text);
  }

  /** git has put a text there, or none. */
  exchanged(machine: Machine, project: ProjectId, before: string, after: string): void {
    this.#options.ledgerOf(project).exchanged(before, after);
    this.saves.left(machine, project, this.#options.scheduler.now);
    this.#seen(machine, project, after);
  }

  changed(machine: Machine, project: ProjectId): void {
    machine.volume.flushFolder(machine.folderOf(project));
    machine.saved(project);
  }

  #seen(machine: Machine, project: ProjectId, text: string): void {
    this.#last.set(nameOf(machine, project), text);
  }
}

function nameOf(machine: Machine, project: ProjectId): string {
  return `${machine.name} ${project}`;
}
