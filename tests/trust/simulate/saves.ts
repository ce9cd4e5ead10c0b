import type { Kysely } from "kysely";
import type { ProjectId } from "../../../shared/ids.ts";
import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import type { ReplicaTables } from "../../../shared/replica/log/tables.ts";
import type { Machine } from "./machine.ts";
import type { Owner } from "./scheduler.ts";

/** Whoever is told nothing of a save sees it after so long. */
const SEEN_MS = 65_000;

/** A save, and until when nobody put anything else in its place. */
interface Save {
  readonly machine: Machine;
  readonly project: ProjectId;
  readonly text: string;
  readonly at: number;
  /** The daemon that ran then. */
  readonly process: Owner | undefined;
  until: number;
}

/** All that people saved into followed files: what stood there for a while is in the history. */
export class Saves {
  #saves: Save[] = [];

  made(machine: Machine, project: ProjectId, text: string, at: number): void {
    this.left(machine, project, at);
    const save = { machine, project, text, at, process: machine.process };
    this.#saves.push({ ...save, until: Number.POSITIVE_INFINITY });
  }

  /** From now on something else stands there that no daemon has put there. */
  left(machine: Machine, project: ProjectId, at: number): void {
    const last = this.#saves.findLast((each) => {
      return each.machine === machine && each.project === project;
    });
    if (last) last.until = Math.min(last.until, at);
  }

  /** The machine's history goes back to an older one. */
  forget(machine: Machine): void {
    this.#saves = this.#saves.filter((save) => save.machine !== machine);
  }

  /** What should stand in the machines' histories, byte for byte, and does not. */
  async missing(now: number): Promise<string[]> {
    const found: string[] = [];
    for (const save of this.#saves) {
      const { machine, project, text, at, until, process } = save;
      const isRunning = process?.alive === true && process === machine.process;
      const stood = until === Number.POSITIVE_INFINITY ? now - at : isRunning ? until - at : 0;
      if (stood < SEEN_MS || text.trim() === "") continue;
      if (await isKept(machine, project, text)) continue;
      found.push(`${machine.name}'s history has no ${JSON.stringify(text)}, saved at ${at} ms`);
    }
    return found;
  }
}

/** Whether a machine's history of a project's text has this, byte for byte. */
export async function isKept(machine: Machine, project: ProjectId, text: string): Promise<boolean> {
  const { running, shadow } = machine;
  if (!running || shadow.documents.get(project)?.content() === text) return true;
  const db = running.store.reader as unknown as Kysely<ReplicaTables>;
  const documents = await db
    .selectFrom("documents")
    .select("id")
    .where("name", "=", project)
    .execute();
  for (const { id } of documents) {
    for (const kind of ["save", "text"] as const) {
      const revisions = await listRevisions(db, id, { kind, key: "" });
      if (revisions.some(({ value }) => value === text)) return true;
    }
  }
  return false;
}
