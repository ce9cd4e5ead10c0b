import type { Kysely } from "kysely";
import { listHeld } from "../../daemon/home/held-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { conflictTime, keyOf, listConflicts } from "../local/local-conflicts.ts";
import { listLocalDocuments } from "../local/local-documents.ts";
import { shownName } from "../views/held-view.ts";
import { noticeName } from "./notice-name.ts";

/** Tells a person of a conflict or a held write until a command has shown it. */
export interface Notice {
  readonly kind: "conflict" | "held";
  /** The project's name, or the layer's. */
  readonly where: string;
  /** A memory's key, or whatever else it concerns. */
  readonly what: string;
}

/** Notices by their names. A name is never reused for something else. */
export type Notices = ReadonlyMap<string, Notice>;

/** The current notices. */
export async function listNotices(db: Kysely<DaemonTables>): Promise<Notices> {
  const notices = new Map<string, Notice>();
  for (const conflict of await listConflicts(db)) {
    const what = keyOf(conflict) ?? "document";
    const where = conflict.document.title;
    notices.set(noticeName("conflict", conflict.id, conflictTime(conflict)), {
      kind: "conflict",
      where,
      what,
    });
  }
  const held = await listHeld(db);
  const documents = held.length > 0 ? await listLocalDocuments(db) : [];
  for (const item of held) {
    const { account, document } = item;
    const of = documents.find((each) => each.account === account && each.name === document);
    const where = of?.title ?? document;
    notices.set(noticeName("held", item.id, item.writtenAt), {
      kind: "held",
      where,
      what: await shownName(item),
    });
  }
  return notices;
}
