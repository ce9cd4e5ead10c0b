import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { parseReason, type Reason, reasonText } from "../../shared/reasons.ts";
import type { DocumentAddress } from "../../shared/replica/document/address.ts";
import { EMPTY_POSITION } from "../../shared/replica/log/log-rows.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import type { Position } from "../../shared/wire/position.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** How far the exchange of a document with a service has come. */
export interface SyncPosition {
  /**
   * The position in the service's log up to which everything is integrated here; undefined before
   * first contact.
   */
  readonly remote: Position | undefined;
  /** Rows of the local log up to this one are acknowledged; 0 for none. */
  readonly ackedSeq: number;
  /** Why the service refuses this document. */
  readonly refused: Reason | undefined;
}

/** The position before the service has answered about a document. */
export const NOT_CONTACTED: SyncPosition = { remote: undefined, ackedSeq: 0, refused: undefined };

/**
 * The position of a document that was read from a service without a log; see `plain/`. No server
 * has so short an epoch.
 */
export const PLAIN_POSITION: Position = { epoch: "plain", seq: 0 };

/**
 * In place of an epoch, for a position that was lost and has to be found again. No server uses it.
 */
const NO_EPOCH = "?";

/** The position of a document with a service; `NOT_CONTACTED` where none is stored. */
export async function readPosition(
  db: Db,
  service: string,
  documentId: number,
): Promise<SyncPosition> {
  const [row] = await findPosition(db, { service, documentId });
  if (!row) return NOT_CONTACTED;
  return {
    remote: row.epoch === NO_EPOCH ? undefined : { epoch: row.epoch, seq: row.seq },
    ackedSeq: row.acked_seq,
    refused: row.refused === null ? undefined : parseReason(row.refused),
  };
}

/** Whether a service with a log is known to hold something of this document. */
export async function isKnownToService(
  db: Db,
  service: string,
  { owner, name }: DocumentAddress,
): Promise<boolean> {
  const [row] = await findContact(db, { service, owner, name });
  const holdsNone: (string | undefined)[] = [NO_EPOCH, EMPTY_POSITION.epoch, PLAIN_POSITION.epoch];
  return row !== undefined && !holdsNone.includes(row.epoch);
}

const findContact = compiled(
  (db: Db, given: { readonly service: string; readonly owner: AccountId; readonly name: string }) =>
    db
      .selectFrom("sync_positions")
      .innerJoin("documents", "documents.id", "sync_positions.document_id")
      .select("sync_positions.epoch")
      .where("sync_positions.service", "=", given.service)
      .where("documents.owner", "=", given.owner)
      .where("documents.name", "=", given.name),
);

/** Whether the document was last synced with a service that has no log. */
export function isPlain({ remote }: SyncPosition): boolean {
  return remote?.epoch === PLAIN_POSITION.epoch;
}

/**
 * How many rows of this machine after `ackedSeq`, and up to `untilSeq`, the service has not
 * acknowledged.
 */
export async function countUnacknowledged(
  db: Db,
  documentId: number,
  { ackedSeq, untilSeq }: { readonly ackedSeq: number; readonly untilSeq?: number | undefined },
): Promise<number> {
  const last = untilSeq ?? Number.MAX_SAFE_INTEGER;
  const { count } = await db
    .selectFrom("updates")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("document_id", "=", documentId)
    .where("origin", "=", "local")
    .where("seq", ">", ackedSeq)
    .where("seq", "<=", last)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Whether the service has answered about a document, and has taken something that was written here.
 */
export async function mayWriteTo(db: Db, service: string, documentId: number): Promise<boolean> {
  const { remote, ackedSeq, refused } = await readPosition(db, service, documentId);
  if (remote === undefined || refused !== undefined) return false;
  const row = await db
    .selectFrom("updates")
    .select("seq")
    .where("document_id", "=", documentId)
    .where("origin", "=", "local")
    .where("seq", "<=", ackedSeq)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores the position of a document with a service. Durable with its transaction's commit. */
export async function writePosition(
  db: Db,
  service: string,
  { documentId, position }: { readonly documentId: number; readonly position: SyncPosition },
): Promise<void> {
  const { remote, ackedSeq, refused } = position;
  const epoch = remote?.epoch ?? NO_EPOCH;
  const why = refused ? reasonText(refused) : null;
  await putPosition(db, {
    service,
    documentId,
    epoch,
    seq: remote?.seq ?? 0,
    ackedSeq,
    refused: why,
  });
}

const findPosition = compiled(
  (db: Db, { service, documentId }: { readonly service: string; readonly documentId: number }) =>
    db
      .selectFrom("sync_positions")
      .select(["epoch", "seq", "acked_seq", "refused"])
      .where("service", "=", service)
      .where("document_id", "=", documentId),
);

const putPosition = compiled(
  (
    db: Db,
    given: {
      readonly service: string;
      readonly documentId: number;
      readonly epoch: string;
      readonly seq: number;
      readonly ackedSeq: number;
      readonly refused: string | null;
    },
  ) =>
    db
      .insertInto("sync_positions")
      .values({
        service: given.service,
        document_id: given.documentId,
        epoch: given.epoch,
        seq: given.seq,
        acked_seq: given.ackedSeq,
        refused: given.refused,
      })
      .onConflict((conflict) =>
        conflict.columns(["service", "document_id"]).doUpdateSet((excluded) => ({
          epoch: excluded.ref("excluded.epoch"),
          seq: excluded.ref("excluded.seq"),
          acked_seq: excluded.ref("excluded.acked_seq"),
          refused: excluded.ref("excluded.refused"),
        })),
      ),
);

/** Forgets the position of a document with a service: the next contact is a first one. */
export async function dropPosition(db: Db, service: string, documentId: number): Promise<void> {
  await db
    .deleteFrom("sync_positions")
    .where("service", "=", service)
    .where("document_id", "=", documentId)
    .execute();
}

/** The last row of a document that no service still needs; 0 before contact. */
export async function lowestAcked(db: Db, documentId: number): Promise<number> {
  const row = await db
    .selectFrom("sync_positions")
    .select((select) => select.fn.min("acked_seq").as("acked"))
    .where("document_id", "=", documentId)
    .executeTakeFirst();
  return row?.acked ?? 0;
}

/**
 * Forgets the positions of an account's documents with all services but its own. What came from
 * another service was never sent to this one, so a return to a former service is a first contact.
 */
export async function forgetOtherServices(
  db: Db,
  account: AccountId,
  service: string,
): Promise<void> {
  const owned = db.selectFrom("documents").select("id").where("owner", "=", account);
  const others = await db
    .selectFrom("sync_positions")
    .select("service")
    .where("service", "!=", service)
    .where("document_id", "in", owned)
    .limit(1)
    .executeTakeFirst();
  if (!others) return;
  await db.deleteFrom("sync_positions").where("document_id", "in", owned).execute();
}

/** Forgets all positions of a document: its next contact with any service is a first one. */
export async function forgetPositions(db: Db, documentId: number): Promise<void> {
  await db.deleteFrom("sync_positions").where("document_id", "=", documentId).execute();
}

/** Whether a service has ever answered about a document of the account. */
export async function hasEverAnswered(
  db: Kysely<DaemonTables>,
  service: string,
  { account, name }: { readonly account: AccountId; readonly name: string },
): Promise<boolean> {
  const row = await db
    .selectFrom("sync_positions")
    .innerJoin("documents", "documents.id", "sync_positions.document_id")
    .select("epoch")
    .where("service", "=", service)
    .where("owner", "=", account)
    .where("name", "=", name)
    .executeTakeFirst();
  return row !== undefined && row.epoch !== "";
}
