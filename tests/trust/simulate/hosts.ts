import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ProjectId } from "../../../shared/ids.ts";
import type { Cast } from "./cast.ts";
import type { Dice } from "./dice.ts";
import type { MemoryLedger } from "./memory-ledger.ts";
import { RUN, type Scheduler } from "./scheduler.ts";
import { OTHER_SERVER, SERVER, ServerNode } from "./server-node.ts";
import type { ShadowListener } from "./shadow.ts";
import type { TextLedger } from "./text-ledger.ts";

const RESTART_MS_MAX = 8000;

/** A line that was sent to a service alone. */
interface SentText {
  readonly server: ServerNode;
  readonly project: ProjectId;
  readonly line: string;
  answered: boolean;
}

/** A copy of a service's data, and how much of what was written is in it for certain. */
interface Copy {
  readonly server: ServerNode;
  readonly bytes: Uint8Array;
  readonly writes: number;
  readonly texts: number;
}

/** What the services stand on. */
export interface HostsOptions {
  readonly cast: Cast;
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly folder: string;
  readonly listener: ShadowListener;
  readonly memories: MemoryLedger;
  readonly ledgerOf: (project: ProjectId) => TextLedger;
  readonly note: (line: string) => void;
}

/** The services of a run, and which of them each project is at home at. */
export class Hosts {
  readonly servers: readonly ServerNode[];
  readonly #options: HostsOptions;
  readonly #homes = new Map<ProjectId, ServerNode>();
  readonly #copies: Copy[] = [];
  readonly #sentTexts: SentText[] = [];

  constructor(options: HostsOptions) {
    this.#options = options;
    const { cast, scheduler, dice, folder, listener } = options;
    const names = [SERVER, OTHER_SERVER].slice(0, cast.services);
    this.servers = names.map((name) => {
      const own = join(folder, name.replaceAll(" ", "-"));
      mkdirSync(own);
      const { limits } = cast;
      return new ServerNode({ name, scheduler, dice: dice.fork(), folder: own, limits, listener });
    });
  }

  /** The one that has what belongs to no project, and every project at first. */
  get main(): ServerNode {
    const [first] = this.servers;
    if (!first) throw new Error("a run has a service");
    return first;
  }

  /** Where a project is to be synced. */
  of(project: ProjectId): ServerNode {
    return this.#homes.get(project) ?? this.main;
  }

  /** From now on a project is another service's; what the former one has alone may be gone. */
  move(project: ProjectId): ServerNode {
    const former = this.of(project);
    const next = this.servers.find((each) => each !== former) ?? former;
    this.#homes.set(project, next);
    const { memories, ledgerOf, note } = this.#options;
    note(`${project} is to be at ${next.name}`);
    memories.excuse(former.name, 0, project);
    for (const sent of this.#sentTexts) {
      if (sent.project === project) ledgerOf(project).excuse(sent.line);
    }
    return next;
  }

  async prepare(): Promise<void> {
    for (const server of this.servers) await server.prepare();
  }

  start(server: ServerNode): void {
    if (server.process) return;
    this.#options.note(`${server.name} starts`);
    server.start().catch((thrown) => {
      this.#options.note(`${server.name} can't start: ${String(thrown)}`);
      this.crash(server, false);
    });
  }

  crash(server: ServerNode, power: boolean): void {
    this.#options.note(`${server.name} ${power ? "loses power" : "is killed"}`);
    server.crash(power);
    this.#isDown(server);
  }

  #isDown(server: ServerNode): void {
    const { memories, dice, scheduler } = this.#options;
    memories.nodeDied(server.name);
    scheduler.after(dice.between(0, RESTART_MS_MAX), RUN, () => this.start(server));
  }

  /** A disk may have stopped a service in the middle of a write. */
  buryStopped(): void {
    for (const server of this.servers) {
      if (server.isStopped) this.crash(server, this.#options.dice.chance(0.5));
    }
  }

  copy(server: ServerNode): void {
    this.#options.note(`${server.name}'s data is copied`);
    const open = this.#sentTexts.findIndex((text) => text.server === server && !text.answered);
    this.#copies.push({
      server,
      bytes: server.copy(),
      writes: this.#options.memories.answeredOf(server.name),
      texts: open === -1 ? this.#sentTexts.length : open,
    });
  }

  /** A service goes back to a copy: what had been written to it alone since then is gone. */
  restore(): void {
    if (this.#copies.length === 0) return;
    const { dice, note, memories, ledgerOf } = this.#options;
    const copy = dice.pick(this.#copies);
    note(`${copy.server.name} goes back to copy ${this.#copies.indexOf(copy)}`);
    copy.server.restore(copy.bytes);
    this.#isDown(copy.server);
    memories.excuse(copy.server.name, copy.writes);
    for (const { server, project, line } of this.#sentTexts.slice(copy.texts)) {
      if (server === copy.server) ledgerOf(project).excuse(line);
    }
  }

  sendText(project: ProjectId, line: string): SentText {
    const sent = { server: this.of(project), project, line, answered: false };
    this.#sentTexts.push(sent);
    return sent;
  }

  close(): void {
    for (const server of this.servers) server.crash(false);
  }
}
