import type { Kysely } from "kysely";
import { parseJson } from "../../json.ts";
import { compiled } from "../../sqlite/compiled.ts";
import type { ReplicaDocument } from "../document/document.ts";
import { machineName } from "../document/machine-name.ts";
import { OWN_METADATA_PREFIX } from "../document/own-metadata.ts";
import { textRuns } from "../text/text.ts";
import type { ReplicaTables } from "./tables.ts";

type Db = Kysely<ReplicaTables>;

/** The prefix of metadata that says which machine a client id belongs to. */
const MACHINE_PREFIX = `${OWN_METADATA_PREFIX}machine/`;

/** The metadata key with the machine of a client. */
export function machineKey(client: number): string {
  return `${MACHINE_PREFIX}${client}`;
}

/**
 * Records in the document that a client is the machine `name`, if that is not recorded yet. Removes
 * the records of this machine's former clients of which nothing is visible any more.
 */
export function nameMachine(
  document: ReplicaDocument,
  client: number,
  { name, now }: { readonly name: string; readonly now: number },
): void {
  const { metadata } = document;
  if (metadata.get(machineKey(client))[0]?.value === name) return;
  const visible = visibleClients(document).add(client);
  for (const key of [...metadata.keys()]) {
    const known = clientOf(key);
    if (known === undefined || visible.has(known)) continue;
    if (metadata.get(key)[0]?.value === name) document.deleteEntry("metadata", key);
  }
  document.setEntry("metadata", machineKey(client), { value: name, now });
}

/** Whether a metadata key is one of `machineKey`'s. */
export function isMachineKey(key: string): boolean {
  return key.startsWith(MACHINE_PREFIX);
}

function clientOf(key: string): number | undefined {
  return isMachineKey(key) ? Number(key.slice(MACHINE_PREFIX.length)) : undefined;
}

/** The clients that wrote a visible memory or character. */
function visibleClients(document: ReplicaDocument): Set<number> {
  const clients = new Set<number>();
  const { memories } = document;
  for (const key of memories.keys()) for (const { id } of memories.get(key)) clients.add(id.client);
  for (const { client, text } of textRuns(document.text)) {
    if (text !== undefined) clients.add(client);
  }
  return clients;
}

/** The machine of a client, from a document; undefined where it does not tell. */
export function machineIn(document: ReplicaDocument, client: number): string | undefined {
  return machineName(document.metadata.get(machineKey(client))[0]?.value);
}

/**
 * The machine of a client, from the document or else from its rows, which still tell: an update may
 * remove what a client wrote together with its machine's name. `db` must be that of a write
 * transaction.
 */
export function machineOf(
  db: Db,
  documentId: number,
  { document, client }: { readonly document: ReplicaDocument; readonly client: number },
): string | undefined {
  const known = machineIn(document, client);
  if (known !== undefined) return known;
  const [row] = findMetadata.now(db, { documentId, key: machineKey(client) });
  return nameIn(row);
}

/** The same, where there may be no transaction. */
export async function machineKnown(
  db: Db,
  documentId: number,
  { document, client }: { readonly document: ReplicaDocument; readonly client: number },
): Promise<string | undefined> {
  return machineIn(document, client) ?? (await machineInRows(db, documentId, client));
}

/** The machine of a client, from a document's rows. */
export async function machineInRows(
  db: Db,
  documentId: number,
  client: number,
): Promise<string | undefined> {
  const [row] = await findMetadata(db, { documentId, key: machineKey(client) });
  return nameIn(row);
}

function nameIn(row: { readonly value: string } | undefined): string | undefined {
  return row && machineName(parseJson(row.value));
}

const findMetadata = compiled(
  (db: Db, { documentId, key }: { readonly documentId: number; readonly key: string }) =>
    db
      .selectFrom("metadata")
      .select("value")
      .where("document_id", "=", documentId)
      .where("key", "=", key),
);
