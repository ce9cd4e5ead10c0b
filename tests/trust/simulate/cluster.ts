import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ProjectId, parseProjectId } from "../../../shared/ids.ts";
import type { Dice } from "./dice.ts";
import { closeAll } from "./disk/fs-promises.ts";
import { unmountAll } from "./disk/mounted.ts";
import { Editor } from "./editor.ts";
import { Machine } from "./machine.ts";
import { MemoryLedger } from "./memory-ledger.ts";
import { Network } from "./network.ts";
import { Phrases } from "./phrases.ts";
import { type Owner, Scheduler } from "./scheduler.ts";
import { SERVER, ServerNode } from "./server-node.ts";
import type { ShadowListener, TextChange } from "./shadow.ts";
import { linesOf, TextLedger } from "./text-ledger.ts";
import { drawWeather } from "./weather.ts";

const MACHINES_MAX = 3;
const RESTART_MS_MAX = 8000;
const TRY_AGAIN_MS = 500;

/** What belongs to the run itself, and dies with nothing in it. */
export const RUN: Owner = { alive: true };

/** A line that was sent to the service alone. */
interface SentText {
  readonly project: ProjectId;
  readonly line: string;
  answered: boolean;
}

/** A copy of the service's data, and how much of what was written is in it for certain. */
interface Copy {
  readonly bytes: Uint8Array;
  readonly writes: number;
  readonly texts: number;
}

/** Everything in one run: the machines, the service, the ways between them, and what is known. */
export class Cluster {
  readonly scheduler = new Scheduler();
  readonly problems: string[] = [];
  readonly trace: string[] = [];
  readonly memories = new MemoryLedger((problem) => this.report(problem));
  readonly texts = new Map<ProjectId, TextLedger>();
  readonly projects: readonly ProjectId[];
  readonly machines: readonly Machine[];
  readonly server: ServerNode;
  readonly network: Network;
  readonly editor: Editor;
  readonly phrases: Phrases;
  readonly dice: Dice;
  readonly #folder: string;
  readonly #copies: Copy[] = [];
  /** Texts that were sent to the service alone. */
  readonly #sentTexts: SentText[] = [];
  readonly #offlineWrites = new Map<Machine, number>();

  /** `folder`: where the run makes a real one of its own, best in memory. */
  constructor(dice: Dice, folder: string) {
    this.dice = dice;
    unmountAll();
    closeAll();
    this.#folder = mkdtempSync(join(folder, "memsync-simulation-"));
    this.projects = projectIds(dice.chance(0.3) ? 2 : 1);
    for (const id of this.projects) {
      this.texts.set(id, new TextLedger((problem) => this.report(problem)));
    }
    this.server = new ServerNode(
      this.scheduler,
      dice.fork(),
      this.#folderOf("service"),
      this.#listener,
    );
    this.network = new Network(this.scheduler, dice.fork(), this.server, drawWeather(dice));
    const clocksAreWrong = dice.chance(0.3);
    const count = 2 + dice.below(MACHINES_MAX - 1);
    this.machines = Array.from({ length: count }, (_, at) => {
      return new Machine({
        name: `m${at + 1}`,
        folder: this.#folderOf(`m${at + 1}`),
        projects: this.projects,
        network: this.network,
        clockIsWrong: clocksAreWrong,
        listener: this.#listener,
        note: (line) => this.note(line),
        onFileWritten: (machine, path, text) => this.#fileWritten(machine, path, text),
      });
    });
    this.phrases = new Phrases(dice.fork());
    this.editor = new Editor(
      this.scheduler,
      dice.fork(),
      this.phrases,
      (id) => this.ledgerOf(id),
      (line) => this.note(line),
    );
  }

  report(problem: string): void {
    this.problems.push(problem);
    this.note(`PROBLEM ${problem}`);
  }

  /** A line for whoever reads how a run went. */
  note(line: string): void {
    this.trace.push(`${(this.scheduler.now / 1000).toFixed(3)} s  ${line}`);
  }

  ledgerOf(project: ProjectId): TextLedger {
    const ledger = this.texts.get(project);
    if (!ledger) throw new Error(`${project} is no project of this run`);
    return ledger;
  }

  async prepare(): Promise<void> {
    await this.server.prepare();
    for (const machine of this.machines) await machine.prepare();
  }

  /** Starts a machine's daemon now, or a little later when the disk is not ready. */
  startMachine(machine: Machine): void {
    if (machine.process) return;
    if ((this.#offlineWrites.get(machine) ?? 0) > 0) {
      this.scheduler.after(TRY_AGAIN_MS, RUN, () => this.startMachine(machine));
      return;
    }
    this.note(`${machine.name} starts`);
    machine.start().then(
      () => {
        if (machine.running) this.memories.inboxDrained(machine.name);
      },
      (thrown) => {
        this.note(`${machine.name} can't start: ${String(thrown)}`);
        this.crashMachine(machine, false);
      },
    );
  }

  startServer(): void {
    if (this.server.process) return;
    this.note("the service starts");
    this.server.start().catch((thrown) => {
      this.note(`the service can't start: ${String(thrown)}`);
      this.crashServer(false);
    });
  }

  crashMachine(machine: Machine, power: boolean): void {
    this.note(`${machine.name} ${power ? "loses power" : "is killed"}`);
    machine.crash(power);
    this.memories.nodeDied(machine.name);
    const delayMs = this.dice.between(0, RESTART_MS_MAX);
    this.scheduler.after(delayMs, RUN, () => this.startMachine(machine));
  }

  crashServer(power: boolean): void {
    this.note(`the service ${power ? "loses power" : "is killed"}`);
    this.server.crash(power);
    this.#serverIsDown();
  }

  /** A disk may have stopped a process in the middle of a write. */
  buryStopped(): void {
    for (const machine of this.machines) {
      if (machine.isStopped) this.crashMachine(machine, this.dice.chance(0.5));
    }
    if (this.server.isStopped) this.crashServer(this.dice.chance(0.5));
  }

  copyServer(): void {
    this.note("the service's data is copied");
    const bytes = this.server.copy();
    const open = this.#sentTexts.findIndex((text) => !text.answered);
    this.#copies.push({
      bytes,
      writes: this.memories.answeredOf(SERVER),
      texts: open === -1 ? this.#sentTexts.length : open,
    });
  }

  /** The service goes back to a copy: what had been written to it alone since then is gone. */
  restoreServer(): void {
    if (this.#copies.length === 0) return;
    const copy = this.dice.pick(this.#copies);
    this.note(`the service goes back to copy ${this.#copies.indexOf(copy)}`);
    this.server.restore(copy.bytes);
    this.#serverIsDown();
    this.memories.excuse(SERVER, copy.writes);
    for (const { project, line } of this.#sentTexts.slice(copy.texts)) {
      this.ledgerOf(project).excuse(line);
    }
  }

  sendText(project: ProjectId, line: string): SentText {
    const sent = { project, line, answered: false };
    this.#sentTexts.push(sent);
    return sent;
  }

  /** Runs what needs the machine's daemon to stay down. */
  whileDown(machine: Machine, work: () => Promise<void>): void {
    const count = (change: number) =>
      this.#offlineWrites.set(machine, (this.#offlineWrites.get(machine) ?? 0) + change);
    count(1);
    void work().finally(() => count(-1));
  }

  /** Ends everything and deletes the run's folder. */
  close(): void {
    this.server.crash(false);
    for (const machine of this.machines) machine.crash(false);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #serverIsDown(): void {
    this.memories.nodeDied(SERVER);
    const delayMs = this.dice.between(0, RESTART_MS_MAX);
    this.scheduler.after(delayMs, RUN, () => this.startServer());
  }

  #fileWritten(machine: Machine, path: string, text: string): void {
    const project = this.projects.find((id) => path === this.editor.pathOf(machine, id));
    if (!project) return;
    this.note(`${machine.name} writes ${project}'s file`);
    this.ledgerOf(project).checkShown(`${machine.name}'s file`, text);
  }

  #folderOf(name: string): string {
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    return folder;
  }

  readonly #listener: ShadowListener = {
    report: (problem) => this.report(problem),
    keyChanged: (diff) => this.memories.committed(diff),
    keyFound: (diff) => this.memories.found(diff),
    textChanged: (change) => this.#textChanged(change),
  };

  #textChanged({ node, document, origin, before, after }: TextChange): void {
    const ledger = this.texts.get(document as ProjectId);
    if (!ledger) return;
    this.note(`${node}'s text changes (${origin}): ${describeChange(before, after)}`);
    ledger.checkShown(`${node}'s text`, after);
    if (node === SERVER && origin === "local") ledger.saved(before, after);
  }
}

function projectIds(count: number): ProjectId[] {
  return Array.from({ length: count }, (_, at) => {
    return parseProjectId(`proj_simulated_${at + 1}`) as ProjectId;
  });
}

function describeChange(before: string, after: string): string {
  const [old, young] = [linesOf(before), linesOf(after)];
  const gone = old.filter((line) => !young.includes(line)).map((line) => `- ${line}`);
  const come = young.filter((line) => !old.includes(line)).map((line) => `+ ${line}`);
  return [...gone, ...come].join(" | ");
}
