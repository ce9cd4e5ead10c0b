import type { Kysely } from "kysely";
import { machineOf } from "../../../shared/replica/log/machines.ts";
import type { ReplicaTables } from "../../../shared/replica/log/tables.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { storedTextMachine } from "../../../shared/replica/store/rows.ts";
import type { TextSpan } from "../../../shared/replica/text/text-spans.ts";
import { narrowTables } from "../../../shared/sqlite/narrow-tables.ts";
import type { DaemonTables } from "../../home/tables.ts";

/**
 * The machines that made a change in a file: those that wrote its new characters or, where there
 * are none, the one that changed the document's text last. Undefined where that is unknown.
 */
export function bringers(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  brought: readonly TextSpan[],
): string | undefined {
  return authors(db, open, brought) ?? storedTextMachine(narrowTables(db), open.id);
}

/** The other machines among those that wrote these characters. */
export function othersAmong(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  brought: readonly TextSpan[],
): string | undefined {
  const { ydoc } = open.document;
  const others = brought.filter(({ client }) => client !== ydoc.clientID);
  const by = authors(db, open, others);
  return by === open.writer.machine ? undefined : by;
}

/** The machines that wrote these characters; undefined where that is unknown. */
export function authors(
  db: Kysely<DaemonTables>,
  { id, document }: OpenDocument,
  spans: readonly TextSpan[],
): string | undefined {
  const replica: Kysely<ReplicaTables> = narrowTables(db);
  const clients = new Set(spans.flatMap(({ client }) => (client === null ? [] : [client])));
  const names = new Set<string>();
  for (const client of clients) {
    const name = machineOf(replica, id, { document, client });
    if (name !== undefined) names.add(name);
  }
  return names.size === 0 ? undefined : [...names].sort().join(", ");
}
