import type { Kysely } from "kysely";
import { homesIn } from "../../../shared/replica/log/homes.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { TextSpan } from "../../../shared/replica/text/text-spans.ts";
import { clientsHere } from "../../home/outgoing.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { authors } from "../arrivals/bringers.ts";

/**
 * Tells this machine's characters from others'. Whose nobody knows are others', and so is what two
 * homes claim. Where no home claims anything, as of earlier builds, a client is this machine's if
 * its log says so, and its name: the log has what several seeded alike.
 */
export async function ownSpans(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
): Promise<(span: TextSpan) => boolean> {
  const here = await clientsHere(db, open.id);
  const homes = homesIn(open.document);
  return (span) => {
    const { client } = span;
    if (client === null) return true;
    const claimed = homes.filter(({ clients }) => clients.includes(client));
    if (claimed.length > 0) return claimed.every(({ home }) => home === open.writer.home);
    return here.has(client) && authors(db, open, [span]) === open.writer.machine;
  };
}
