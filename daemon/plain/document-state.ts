import type { Kysely } from "kysely";
import type { DocumentAddress } from "../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { openBound } from "../home/open-bound.ts";
import {
  dropPosition,
  isPlain,
  PLAIN_POSITION,
  readPosition,
  writePosition,
} from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import {
  forgetPlain,
  NOTHING_READ,
  type PlainState,
  type Remembered,
  readPlain,
  writePlainState,
} from "./plain-store.ts";

type Context = WriteContext<DaemonTables>;
type Db = Kysely<DaemonTables>;

/** How long `status` tells that the service had lost data. */
const LOSS_TOLD_MS = 24 * 60 * 60 * 1000;

/** What is known of the service's copy of a document; nothing before the first reading of it. */
export async function readState(db: Db, service: string, documentId: number): Promise<PlainState> {
  if (isPlain(await readPosition(db, service, documentId))) {
    return (await readPlain(db, documentId)) ?? NOTHING_READ;
  }
  await forgetPlain(db, documentId);
  return NOTHING_READ;
}

/** What a reading of a document came to. */
export interface TakenReading extends Omit<Remembered, "lostAt" | "missing"> {
  readonly lost: boolean;
}

/** With which service a document is kept in step, and where it is noted what that wrote here. */
interface Side {
  readonly service: { readonly name: string };
  readonly taken: Set<string>;
}

/**
 * Remembers a reading that was taken. `from` is the document's row before it: the rows since then
 * are no news to the service.
 */
export async function rememberReading(
  context: Context,
  { service, taken }: Side,
  {
    open,
    from,
    known,
    takenReading: { lost, ...state },
  }: {
    readonly open: OpenDocument;
    readonly from: number;
    readonly known: PlainState;
    readonly takenReading: TakenReading;
  },
): Promise<void> {
  const { db, now } = context;
  await context.flush(open);
  for (let seq = from + 1; seq <= open.head.seq; seq++) taken.add(rowName(open.id, seq));
  const isRecent = known.lostAt !== null && now - known.lostAt < LOSS_TOLD_MS;
  const lostAt = lost ? now : isRecent ? known.lostAt : null;
  await writePlainState(db, open.id, { known, next: { ...state, lostAt, missing: false } });
  const position = await readPosition(db, service.name, open.id);
  const ackedSeq = open.head.seq;
  if (isPlain(position) && position.ackedSeq === ackedSeq) return;
  const remote = PLAIN_POSITION;
  await writePosition(db, service.name, {
    documentId: open.id,
    position: { remote, ackedSeq, refused: undefined },
  });
}

/**
 * The service says that the document's project is not there. If it was before, the service may have
 * lost it: that is to be written down before it is made anew, for an empty one would look as if all
 * had been deleted. False: the project is bound to another account now, and is not to be made.
 */
export async function noteMissing(
  context: Context,
  service: string,
  address: DocumentAddress,
): Promise<boolean> {
  const open = await openBound(context, { account: address.owner }, address.name);
  if (!open) return false;
  const known = await readState(context.db, service, open.id);
  const outstanding = known.memories.size + known.metadata.size;
  if (outstanding === 0 && known.text.agreed === null) return true;
  const waiting = Math.max(outstanding, 1);
  const next = { ...known, missing: true, outstanding: waiting };
  await writePlainState(context.db, open.id, { known, next });
  return true;
}

/** The service has a log after all: what was agreed with it as a plain one counts no longer. */
export async function leavePlain(db: Db, service: string, documentId: number): Promise<void> {
  if (!isPlain(await readPosition(db, service, documentId))) return;
  await dropPosition(db, service, documentId);
  await forgetPlain(db, documentId);
}

/**
 * Writes what is kept of a document, in a transaction of its own; nothing of a project that is
 * bound to another account.
 */
export async function writeKept(
  store: ReplicaStore<DaemonTables>,
  address: DocumentAddress,
  work: (db: Db, documentId: number) => Promise<void>,
): Promise<void> {
  await store.write(async (context) => {
    const open = await openBound(context, { account: address.owner }, address.name);
    if (open) await work(context.db, open.id);
  });
}

/** Names a row of a document's log. */
export function rowName(documentId: number, seq: number): string {
  return `${documentId} ${seq}`;
}
