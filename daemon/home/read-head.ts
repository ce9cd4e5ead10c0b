import type { Kysely } from "kysely";
import type { DocumentAddress } from "../../shared/replica/document/address.ts";
import { headsOf } from "../../shared/replica/log/log-rows.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { Position } from "../../shared/wire/position.ts";
import type { DaemonTables } from "./tables.ts";

/**
 * The newest committed position of a document; undefined where there is none. For whoever asks
 * again and again whether it has changed: a write, even of nothing, would begin the quiet time anew
 * (`QuietTime`) and load the document.
 */
export async function readHead(
  reader: Kysely<DaemonTables>,
  { owner, name }: DocumentAddress,
): Promise<Position | undefined> {
  return (await headsOf(narrowTables(reader), owner, [name])).get(name);
}
