import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ProjectId } from "../../../shared/ids.ts";
import { projectId } from "../../support/project-id.ts";
import type { Cast } from "./cast.ts";
import type { Dice } from "./dice.ts";
import { closeAll } from "./disk/fs-promises.ts";
import { unmountAll } from "./disk/mounted.ts";
import type { OnPut } from "./disk/volume.ts";
import { Editor } from "./editor.ts";
import { Files } from "./files.ts";
import { Clones } from "./git/clones.ts";
import { ObjectStore } from "./git/objects.ts";
import { Homes } from "./homes.ts";
import { Hosts } from "./hosts.ts";
import { Machine } from "./machine.ts";
import { MemoryLedger } from "./memory-ledger.ts";
import { Network } from "./network.ts";
import { Phrases } from "./phrases.ts";
import { RUN, Scheduler } from "./scheduler.ts";
import { Secrets } from "./secrets.ts";
import type { ShadowListener, TextChange } from "./shadow.ts";
import { linesOf, TextLedger } from "./text-ledger.ts";

const RESTART_MS_MAX = 8000;
const TRY_AGAIN_MS = 500;

/** Everything in one run: the machines, the services, the ways between them, and what is known. */
export class Cluster {
  readonly scheduler = new Scheduler();
  readonly problems: string[] = [];
  readonly trace: string[] = [];
  readonly memories = new MemoryLedger((problem) => this.report(problem));
  readonly texts = new Map<ProjectId, TextLedger>();
  readonly cast: Cast;
  readonly projects: readonly ProjectId[];
  readonly machines: readonly Machine[];
  readonly hosts: Hosts;
  readonly network: Network;
  readonly files: Files;
  readonly editor: Editor;
  readonly clones: Clones;
  readonly phrases: Phrases;
  readonly dice: Dice;
  readonly secrets = new Secrets((problem) => this.report(problem));
  readonly homes: Homes;
  /** Called right when a daemon has put a text where a followed file's name leads. */
  onFileWritten: ((machine: Machine) => void) | undefined;
  readonly #folder: string;
  readonly #offlineWrites = new Map<Machine, number>();

  /** `folder`: where the run makes a real one of its own, best in memory. */
  constructor(cast: Cast, dice: Dice, folder: string) {
    this.cast = cast;
    this.dice = dice;
    unmountAll();
    closeAll();
    this.#folder = mkdtempSync(join(folder, "memsync-simulation-"));
    this.projects = projectIds(cast.projects);
    for (const id of this.projects) {
      this.texts.set(id, new TextLedger((problem) => this.report(problem)));
    }
    const { scheduler, memories } = this;
    const ledgerOf = (id: ProjectId) => this.ledgerOf(id);
    const note = (line: string) => this.note(line);
    const shared = { cast, scheduler, ledgerOf, note };
    const own = { folder: this.#folder, listener: this.#listener, memories };
    this.hosts = new Hosts({ ...shared, ...own, dice: dice.fork() });
    this.network = new Network(scheduler, dice.fork(), this.hosts.servers, cast.weather);
    const stores = new Map(this.projects.map((id) => [id, new ObjectStore()]));
    this.machines = Array.from({ length: cast.machines }, (_, at) => {
      return this.#machine(`m${at + 1}`, stores);
    });
    this.phrases = new Phrases(dice.fork());
    const isFollowed = (machine: Machine, id: ProjectId) => this.clones.isFollowed(machine, id);
    this.files = new Files({ ...shared, dice: dice.fork(), isFollowed });
    const { phrases, files } = this;
    const { secrets } = this;
    const nodes = () => [...this.machines, ...this.hosts.servers];
    this.homes = new Homes({ dice: dice.fork(), memories, secrets, files, note, nodes });
    this.editor = new Editor({ ...shared, dice: dice.fork(), phrases, files, rough: cast.rough });
    this.clones = new Clones({ ...shared, dice: dice.fork(), stores, files });
  }

  #machine(name: string, stores: ReadonlyMap<string, ObjectStore>): Machine {
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    return new Machine({
      ...{ name, folder, stores, projects: this.projects, network: this.network },
      clockIsWrong: this.cast.clocksAreWrong,
      batches: this.cast.batches,
      write: this.cast.write,
      listener: this.#listener,
      note: (line) => this.note(line),
      onFileWritten: (machine, ...put) => this.#fileWritten(machine, ...put),
    });
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
    await this.hosts.prepare();
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

  /** Ends a daemon, which starts again some seconds later. */
  crashMachine(machine: Machine, power: boolean): void {
    this.note(`${machine.name} ${power ? "loses power" : "is killed"}`);
    machine.crash(power);
    this.memories.nodeDied(machine.name);
    const delayMs = this.dice.between(0, RESTART_MS_MAX);
    this.scheduler.after(delayMs, RUN, () => this.startMachine(machine));
  }

  /** A disk may have stopped a process in the middle of a write. */
  buryStopped(): void {
    for (const machine of this.machines) {
      if (machine.isStopped) this.crashMachine(machine, this.dice.chance(0.5));
    }
    this.hosts.buryStopped();
  }

  /** Whether no daemon runs, and nothing writes what it would read first. */
  isDown(machine: Machine): boolean {
    return !machine.process && (this.#offlineWrites.get(machine) ?? 0) === 0;
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
    this.hosts.close();
    for (const machine of this.machines) machine.crash(false);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #fileWritten(machine: Machine, ...[path, text, how]: Parameters<OnPut>): void {
    const project = this.projects.find((id) => path === this.files.pathOf(machine, id));
    if (!project || how === "in part") return;
    this.files.written(machine, project, text, how);
    if (how === "whole") this.onFileWritten?.(machine);
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
    if (after.includes(this.phrases.secret)) this.report(`${node}'s text has a secret`);
    const isService = this.hosts.servers.some(({ name }) => name === node);
    if (isService && origin === "local") ledger.saved(before, after);
  }
}

function projectIds(count: number): ProjectId[] {
  return Array.from({ length: count }, (_, at) => {
    return projectId(`simulated_${at + 1}`);
  });
}

function describeChange(before: string, after: string): string {
  const [old, young] = [linesOf(before), linesOf(after)];
  const gone = old.filter((line) => !young.includes(line)).map((line) => `- ${line}`);
  const come = young.filter((line) => !old.includes(line)).map((line) => `+ ${line}`);
  return [...gone, ...come].join(" | ");
}
