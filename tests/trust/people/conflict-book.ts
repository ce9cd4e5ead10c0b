import { assert } from "../../../shared/errors.ts";
import { isOver } from "../../../shared/replica/conflicts/over-conflict.ts";
import {
  listTextConflicts,
  type TextConflictRecord,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { ENCODING, parseExchangeAnswer } from "../../../shared/wire/exchange.ts";
import type { Machine } from "../../support/machine.ts";
import type { Ledger } from "./ledger.ts";
import { isNamed, takeApart } from "./lines.ts";
import type { Project } from "./project.ts";
import type { Town } from "./town.ts";

const READER = 1;

interface Shown {
  readonly id: string;
  readonly kind: string;
  readonly project_id: string | null;
}

/**
 * Every conflict that there has been so far, for only so many are kept: what the machines show, and
 * what the documents say. Somebody may settle a conflict between two looks by what they save next;
 * it was there to be seen if one of the files had a text in which it was still open.
 */
export class ConflictBook {
  readonly ids = new Set<string>();
  /** Of a document that lost most of its lines. */
  readonly deletions = new Set<string>();
  readonly #lines = new Set<string>();
  readonly #recorded = new Map<Project, Map<string, TextConflictRecord>>();
  readonly #latest = new Map<Project, readonly TextConflictRecord[]>();

  /** Whether a conflict's versions have this line. Lines have tags, so its project is clear. */
  shows(line: string, project: Project): boolean {
    if (this.#lines.has(line)) return true;
    const recorded = [...(this.#recorded.get(project)?.values() ?? [])];
    return recorded.some((record) => {
      return hasLine(record, line) && couldBeSeen(record, project.ledger);
    });
  }

  /** Whether a conflict with this line was there at the last look, and the text keeps it open. */
  isOpen(line: string, project: Project, text: string): boolean {
    const latest = this.#latest.get(project) ?? [];
    return latest.some((record) => hasLine(record, line) && !isOver(record, text));
  }

  async look({ machines, projects }: Town): Promise<void> {
    for (const machine of machines) {
      const shown = JSON.parse(await machine.memsync("conflicts", "--json")) as Shown[];
      for (const conflict of shown) this.#note(conflict);
    }
    for (const project of projects) {
      const records = this.#recorded.get(project) ?? new Map<string, TextConflictRecord>();
      this.#recorded.set(project, records);
      const latest = await recordsOf(project);
      this.#latest.set(project, latest);
      for (const record of latest) records.set(record.id, record);
    }
  }

  #note(conflict: Shown): void {
    if (conflict.kind === "deletion") {
      this.deletions.add(conflict.id);
      return;
    }
    this.ids.add(conflict.id);
    for (const text of textsIn(conflict)) {
      for (const line of takeApart(text).lines) if (isNamed(line)) this.#lines.add(line);
    }
  }
}

function hasLine({ kind, versions }: TextConflictRecord, line: string): boolean {
  if (kind === "deletion") return false;
  return versions.some(({ text }) => takeApart(text).lines.includes(line));
}

function couldBeSeen(record: TextConflictRecord, { entries }: Ledger): boolean {
  return entries.some(({ at, text }) => {
    return performance.timeOrigin + at >= record.foundAt && !isOver(record, text);
  });
}

/** What the service's document of a project says, of what is settled, too. */
async function recordsOf({ places: [place] }: Project): Promise<TextConflictRecord[]> {
  assert(place, "a project has a place");
  const { machine, dir } = place;
  const { id } = await machine.projectOf(dir);
  return listTextConflicts(await documentOf(machine, id));
}

async function documentOf({ service }: Machine, projectId: string): Promise<ReplicaDocument> {
  assert(service, "people work with a service");
  const response = await fetch(`${service.url}/api/projects/${projectId}/sync`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}` },
    body: JSON.stringify({ crdt: { encoding: ENCODING, documents: { project: {} } } }),
  });
  const { documents } = parseExchangeAnswer(await response.json());
  const update = documents.project && "update" in documents.project && documents.project.update;
  return new ReplicaDocument(update ? [update] : [], READER);
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
