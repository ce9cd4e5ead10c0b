import type { Kysely } from "kysely";
import { parseJson } from "../../json.ts";
import { compiled } from "../../sqlite/compiled.ts";
import type { ReplicaDocument } from "../document/document.ts";
import { machineName } from "../document/machine-name.ts";
import { OWN_METADATA_PREFIX, REMOVED_PREFIX } from "../document/own-metadata.ts";
import { textRuns } from "../text/text.ts";
import { HOME_PREFIX, homeKey, homesIn, parseHome, putHome } from "./homes.ts";
import type { ReplicaTables } from "./tables.ts";

type Db = Kysely<ReplicaTables>;

/** The prefix of metadata that says which machine a client id belongs to. */
const MACHINE_PREFIX = `${OWN_METADATA_PREFIX}machine/`;

/** The metadata key with the machine of a client. */
export function machineKey(client: number): string {
  return `${MACHINE_PREFIX}${client}`;
}

/** A home says at least this often that it still writes under its name. */
const SAID_AGAIN_MS = 7 * 24 * 3_600_000;

/** As whom a client writes. */
export interface Naming {
  readonly name: string;
  /** The home's id; undefined for a service, whose name no home has. */
  readonly home: string | undefined;
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
}

/**
 * Records in the document that a client is the machine `name`, if that is not recorded yet. Removes
 * the records of this home's former clients of which nothing is visible any more, and gives the
 * others the home's present name. What another home wrote keeps its record, whatever its name, and
 * so does what nobody claims, for it may be anybody's.
 */
export function nameMachine(document: ReplicaDocument, client: number, naming: Naming): void {
  if (isRecorded(document, client, naming)) return;
  const { name, home, now } = naming;
  const homes = homesIn(document);
  const own = homes.find((each) => each.home === home);
  const others = new Set(homes.filter((each) => each !== own).flatMap((each) => each.clients));
  const former = home === undefined ? clientsNamed(document, name) : (own?.clients ?? []);
  const visible = visibleClients(document).add(client);
  for (const known of former) {
    if (others.has(known)) continue;
    if (visible.has(known)) document.setEntry("metadata", machineKey(known), { value: name, now });
    else document.deleteEntry("metadata", machineKey(known));
  }
  document.setEntry("metadata", machineKey(client), { value: name, now });
  if (home === undefined) return;
  const clients = new Set([...former.filter((each) => visible.has(each)), client]);
  putHome(document, { home, name, at: now, clients: [...clients] });
}

/** Asked at each write, so it looks at no other records. */
function isRecorded(
  { metadata }: ReplicaDocument,
  client: number,
  { name, home, now }: Naming,
): boolean {
  if (metadata.get(machineKey(client))[0]?.value !== name) return false;
  if (home === undefined) return true;
  const own = parseHome(homeKey(home), metadata.get(homeKey(home))[0]?.value);
  return own?.name === name && own.clients.includes(client) && now - own.at < SAID_AGAIN_MS;
}

function clientsNamed({ metadata }: ReplicaDocument, name: string): number[] {
  return [...metadata.keys()].flatMap((key) => {
    return metadata.get(key)[0]?.value === name ? (clientOf(key) ?? []) : [];
  });
}

/** Whether a metadata key says who writes: it is written again with each process's first write. */
export function isWriterKey(key: string): boolean {
  return key.startsWith(MACHINE_PREFIX) || key.startsWith(HOME_PREFIX);
}

function clientOf(key: string): number | undefined {
  return key.startsWith(MACHINE_PREFIX) ? Number(key.slice(MACHINE_PREFIX.length)) : undefined;
}

/** The clients that wrote a visible memory or character, or deleted a memory. */
function visibleClients(document: ReplicaDocument): Set<number> {
  const clients = new Set<number>();
  const { memories, metadata } = document;
  for (const key of memories.keys()) for (const { id } of memories.get(key)) clients.add(id.client);
  for (const key of metadata.keys()) {
    if (!key.startsWith(REMOVED_PREFIX)) continue;
    for (const { id } of metadata.get(key)) clients.add(id.client);
  }
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
