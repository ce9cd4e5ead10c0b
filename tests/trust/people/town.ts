import type { Lab } from "../../support/lab.ts";
import type { Machine } from "../../support/machine.ts";
import { ServerFolder } from "../../support/server-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import type { Dice } from "../simulate/dice.ts";
import type { Kind } from "./place.ts";
import { makeFolders, openProject, type Project, startOf } from "./project.ts";

const KINDS: readonly Kind[] = ["ignored", "untracked", "tracked", "ignored"];
const START_MS_MAX = 60_000;
const REST_MS_MAX = 90_000;
const POLL_MS = 250;

/** Real daemons, each with a home and folders of its own, and a real server between them. */
export class Town implements AsyncDisposable {
  private constructor(
    readonly server: ServerFolder,
    readonly machines: readonly Machine[],
    readonly projects: readonly Project[],
  ) {}

  /** Resolves once all the files are where they are to be. */
  static async start(
    lab: Lab,
    dice: Dice,
    { machines: count, projects }: { machines: number; projects: number },
  ): Promise<Town> {
    const server = await ServerFolder.create();
    const token = await server.token();
    const { url } = await server.server();
    const names = ["a", "b", "c"].slice(0, count);
    const plans = Array.from({ length: projects }, (_, at) => {
      const name = `p${at}`;
      return { name, kind: KINDS[at % KINDS.length] ?? "ignored", start: startOf(name, dice) };
    });
    const folders = await Promise.all(plans.map((plan) => makeFolders(lab, plan, names)));
    const machines = names.map((name) => lab.machine(name, lab.git.folder, { url, token }));
    await Promise.all(
      machines.map((each, at) => each.up(...folders.flatMap((dirs) => dirs[at] ?? []))),
    );
    await waitFor(
      "the files everywhere",
      async () => {
        const opened = plans.map((plan, at) => openProject(plan, folders[at] ?? [], machines));
        return await isEverywhere(machines, opened);
      },
      START_MS_MAX,
      POLL_MS,
    );
    const opened = plans.map((plan, at) => openProject(plan, folders[at] ?? [], machines));
    return new Town(server, machines, opened);
  }

  /** Notes what the daemons have written. */
  look(): void {
    for (const { places } of this.projects) for (const place of places) place.look();
  }

  /** Waits until all is synced and equal, for so long; what is not by then. */
  async rest(): Promise<Unequal[]> {
    let last: Unequal[] = [];
    const atRest = async () => {
      this.look();
      last = await differences(this.machines, this.projects);
      return last.length === 0;
    };
    return await waitFor("rest", atRest, REST_MS_MAX, POLL_MS).then(
      () => [],
      () => last,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

async function isEverywhere(machines: readonly Machine[], projects: readonly Project[]) {
  return (await differences(machines, projects)).length === 0;
}

/** Something that keeps the machines from being at rest. */
export interface Unequal {
  readonly what: string;
  /** The project whose files or documents are not equal; undefined for a machine. */
  readonly project: Project | undefined;
}

async function differences(
  machines: readonly Machine[],
  projects: readonly Project[],
): Promise<Unequal[]> {
  const synced = await Promise.all(machines.map((each) => each.syncOnce()));
  const found = machines.flatMap(({ name }, at): Unequal[] => {
    return synced[at] ? [] : [{ what: `${name} is not synced`, project: undefined }];
  });
  for (const project of projects) {
    const { name, kind, places } = project;
    const add = (what: string) => found.push({ what, project });
    const docs = await Promise.all(
      places.map(async ({ machine, dir }) => machine.doc((await machine.projectOf(dir)).id)),
    );
    if (new Set(docs).size > 1) add(`${name}: its documents differ`);
    if (docs.every((doc) => doc === "")) add(`${name}: its document is empty`);
    for (const [at, place] of places.entries()) {
      if (kind === "tracked" || place.read() === docs[at]) continue;
      const { state, why } = (await place.machine.fileStatus(place.dir)) ?? {};
      add(`${place.name}'s file differs: ${state}, ${why ?? "for no reason"}`);
    }
  }
  return found;
}
