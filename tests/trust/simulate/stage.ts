import { listConflicts } from "../../../cli/local/local-conflicts.ts";
import { memoryIdOf, type ProjectId } from "../../../shared/ids.ts";
import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { revisionName } from "../../../shared/replica/history/revision-name.ts";
import { isPublicKey } from "../../../shared/replica/store/rows.ts";
import type { Cast } from "./cast.ts";
import { Cluster } from "./cluster.ts";
import { Dice } from "./dice.ts";
import type { GitUser } from "./git/git-user.ts";
import type { Machine } from "./machine.ts";
import { moveOffline } from "./memory-actions.ts";
import { bindAnew } from "./moves.ts";
import { pass, waitFor } from "./passing.ts";
import { toldBy } from "./rest.ts";
import { isKept } from "./saves.ts";
import { standingOf, valuesOf } from "./standing.ts";
import { CALM } from "./weather.ts";

/**
 * Long enough for whatever goes from one machine's file to another's in calm weather, also for a
 * text that looks half written.
 */
const SOON_MS = 9000;
const SEED = 1;

const PLAIN: Cast = {
  machines: 2,
  projects: 1,
  services: 1,
  clocksAreWrong: false,
  limits: "off",
  batches: true,
  weather: CALM,
  git: undefined,
  write: true,
  rough: false,
  moves: false,
};

/** What a scenario is played on: a run in which nothing happens but what is asked for. */
export class Stage {
  readonly cluster: Cluster;

  constructor(cast: Partial<Cast>, folder: string) {
    this.cluster = new Cluster({ ...PLAIN, ...cast }, new Dice(SEED), folder);
  }

  get project(): ProjectId {
    const [project] = this.cluster.projects;
    if (!project) throw new Error("a scenario has a project");
    return project;
  }

  /** The first machine is number 1. */
  machine(number: number): Machine {
    const machine = this.cluster.machines[number - 1];
    if (!machine) throw new Error(`there is no machine ${number}`);
    return machine;
  }

  /** Starts everything; the first machine's file is `text`, and in clones everybody's. */
  begin(text: string): void {
    const { cluster, project } = this;
    waitFor(cluster, cluster.prepare());
    cluster.clones.begin(cluster.machines, project, text);
    if (cluster.cast.git !== "tracked") cluster.files.begin(this.machine(1), project, text);
    for (const server of cluster.hosts.servers) cluster.hosts.start(server);
    for (const machine of cluster.machines) cluster.startMachine(machine);
    this.pass();
  }

  pass(milliseconds: number = SOON_MS): void {
    pass(this.cluster, milliseconds);
  }

  /** Resolves what a scenario waits for. */
  wait(promise: Promise<unknown>): void {
    waitFor(this.cluster, promise);
  }

  /** Somebody's program replaces the file by this, or writes it into the one that is there. */
  save(number: number, text: string, how: "anew" | "in place" = "anew"): void {
    this.cluster.files.save(this.machine(number), this.project, text, how === "in place");
  }

  /** A program that has the file open now, and writes into it later, whatever has its name then. */
  open(number: number): (text: string) => void {
    const { volume } = this.machine(number);
    const inode = volume.get(this.cluster.files.pathOf(this.machine(number), this.project));
    return (text) => {
      this.cluster.ledgerOf(this.project).saved(inode.bytes.toString(), text);
      volume.writeByPerson(inode, Buffer.from(text));
    };
  }

  remove(number: number): void {
    this.cluster.files.remove(this.machine(number), this.project);
  }

  fileOf(number: number): string {
    return this.cluster.files.textOf(this.machine(number), this.project);
  }

  /** The document's text on a machine. */
  textOf(number: number): string {
    return this.#document(number)?.content() ?? "";
  }

  #document(number: number): ReplicaDocument | undefined {
    return this.machine(number).shadow.documents.get(this.project);
  }

  /** All that the document's conflicts show on a machine. */
  conflictsOf(number: number): string {
    return toldBy(this.#document(number));
  }

  /** The values of a memory on a machine. */
  valuesOf(number: number, key: string): string[] {
    return valuesOf(this.#document(number), key);
  }

  /** Writes a memory through a machine's daemon. */
  remember(number: number, key: string): string {
    const { running, name } = this.machine(number);
    if (!running) throw new Error(`${name} is down`);
    const write = this.cluster.memories.ask(name, this.project, { key, deletes: false });
    const { value: content = "" } = write;
    const created = { content, layer: "project", key, project_id: this.project } as const;
    this.wait(Promise.resolve(running.services.memories.create(running.caller, created)));
    write.state = "acknowledged";
    return content;
  }

  /** Deletes a memory through a machine's daemon. */
  forget(number: number, key: string): void {
    const { running, name } = this.machine(number);
    if (!running) throw new Error(`${name} is down`);
    const write = this.cluster.memories.ask(name, this.project, { key, deletes: true });
    const id = memoryIdOf(this.project, key);
    this.wait(Promise.resolve(running.services.memories.remove(running.caller, id)));
    write.state = "acknowledged";
  }

  /** Moves a memory of the project to a layer, on a machine whose daemon is down. */
  move(number: number, key: string, to: "user" | "global"): void {
    const place = { document: this.project };
    this.wait(moveOffline(this.cluster, this.machine(number), { place, to, key }));
  }

  /** The keys of memories that a machine shows as moved, and not by all. */
  movesTold(number: number): string[] {
    const { running, name } = this.machine(number);
    if (!running) throw new Error(`${name} is down`);
    let told: string[] = [];
    this.wait(
      listConflicts(running.store.reader).then((conflicts) => {
        told = conflicts.flatMap((each) => (each.kind === "move" ? [each.moved.key] : []));
      }),
    );
    return told;
  }

  /** What stands of a memory on a machine: its values, and the deletions that are told of. */
  standingOf(number: number, key: string): string[] {
    return standingOf(this.#document(number), key);
  }

  /** Sets or removes (null) one metadata key through a machine's daemon. */
  label(number: number, key: string, value: string | null): void {
    const { running, name } = this.machine(number);
    if (!running) throw new Error(`${name} is down`);
    const payload = { metadata: { [key]: value } };
    const asked = { payload, createMissing: false };
    this.wait(running.services.sync.apply(running.caller, this.project, asked));
  }

  /** How many metadata keys a machine has of the project that are not the program's own. */
  countLabels(number: number): number {
    const keys = this.#document(number)?.metadata.keys() ?? [];
    return [...keys].filter(isPublicKey).length;
  }

  /** How often a machine has seen this text as somebody's save. */
  countSaves(number: number, text: string): number {
    let count = 0;
    const { running } = this.machine(number);
    const rows = running?.store.reader
      .selectFrom("saves")
      .select("id")
      .where("revision", "=", revisionName(text))
      .execute();
    this.wait(
      Promise.resolve(rows).then((found) => {
        count = found?.length ?? 0;
      }),
    );
    return count;
  }

  /** Everybody binds the project to the service where it was not. */
  bindAnew(): void {
    const { cluster, project } = this;
    cluster.hosts.move(project);
    for (const machine of cluster.machines) bindAnew(cluster, machine, project);
    this.pass();
  }

  git(number: number): GitUser {
    const user = this.cluster.clones.userOf(this.machine(number), this.project);
    if (!user) throw new Error("this scenario has no clones");
    return user;
  }

  /** As somebody asks for it. */
  syncNow(number: number): void {
    const { running } = this.machine(number);
    for (const calls of running?.calls ?? []) calls.hurried();
    void running?.remotes.syncNow();
  }

  /** Something goes on while time passes. */
  begun(work: Promise<unknown>): void {
    work.catch((thrown) => this.cluster.report(String(thrown)));
  }

  /** Reports it when a machine's history does not have a save. */
  expectKept(number: number, text: string): void {
    const kept = isKept(this.machine(number), this.project, text).then((found) => {
      if (!found) this.cluster.report(`m${number}'s history has no ${JSON.stringify(text)}`);
    });
    this.wait(kept);
  }

  /** Ends a daemon; it stays down until `start`. */
  stop(number: number): void {
    this.wait(this.machine(number).stop());
  }

  /** Ends a daemon at once. `power`: the machine, too. */
  kill(number: number, power = false): void {
    this.machine(number).crash(power);
  }

  start(number: number): void {
    this.cluster.startMachine(this.machine(number));
    this.pass();
  }

  cutOff(number: number): void {
    this.machine(number).cutNetwork();
  }

  connect(number: number): void {
    this.cluster.network.restore(this.machine(number).name);
    this.pass(40_000);
  }

  /** Reports what is not as it should be. */
  expect(what: string, found: unknown, expected: unknown): void {
    const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
    if (one !== other) this.cluster.report(`${what} is ${one}, not ${other}`);
  }
}

/** Lines as a text. */
export function lines(...all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}
