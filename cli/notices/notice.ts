import type { Kysely } from "kysely";
import { listHeld } from "../../daemon/home/held-store.ts";
import type { Home } from "../../daemon/home/home.ts";
import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { listLinks } from "../../daemon/home/links.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { joinsOfLinked } from "../../daemon/status/joined-projects.ts";
import { conflictTime, keyOf, listConflicts } from "../local/local-conflicts.ts";
import { listLocalDocuments } from "../local/local-documents.ts";
import { shownName } from "../views/held-view.ts";
import { type NoticeKind, noticeName } from "./notice-name.ts";

/** Tells a person of something to decide until a command has shown it. */
export interface Notice {
  readonly kind: NoticeKind;
  /** The project's name, or the layer's. */
  readonly where: string;
  /** A memory's key, or whatever else it concerns. */
  readonly what: string;
  /** The other project, to which another machine has joined this one. */
  readonly joined?: JoinedStatus | undefined;
}

/** Notices by their names. A name is never reused for something else. */
export type Notices = ReadonlyMap<string, Notice>;

/** The current notices. */
export async function listNotices(db: Kysely<DaemonTables>, home: Home): Promise<Notices> {
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
  for (const { id, name, joined } of await listJoined(db, home)) {
    const what = joined.name ?? joined.id;
    notices.set(joinedNotice(id, joined), { kind: "joined", where: name, what, joined });
  }
  return notices;
}

/** The name of the notice of a project that another machine has joined to another one. */
export function joinedNotice(project: string, { id, at }: Pick<JoinedStatus, "id" | "at">): string {
  return noticeName("joined", `${project}-${id}`, Date.parse(at));
}

async function listJoined(db: Kysely<DaemonTables>, home: Home) {
  const links = await listLinks(db);
  const named = new Map(links.map(({ projectId, name }) => [projectId, name]));
  const found: { id: string; name: string; joined: JoinedStatus }[] = [];
  for (const [id, name] of named) {
    const joins = await joinsOfLinked(db, home, { project: id, links });
    found.push(...joins.map((joined) => ({ id, name, joined })));
  }
  return found;
}
