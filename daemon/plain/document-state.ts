import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import type { DocumentAddress } from "../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { noteAbsent } from "../home/absent-projects.ts";
import { openBound } from "../home/open-bound.ts";
import {
  dropPosition,
  isPlain,
  PLAIN_POSITION,
  readPosition,
  writePosition,
} from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { RoundOptions } from "../service/round-options.ts";
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

/** `status` tells for this long that the service had lost data. */
const LOSS_TOLD_MS = 24 * 60 * 60 * 1000;

/** What is known of the service's copy of a document; nothing before it was first read. */
export async function readState(db: Db, service: string, documentId: number): Promise<PlainState> {
  if (isPlain(await readPosition(db, service, documentId))) {
    return (await readPlain(db, documentId)) ?? NOTHING_READ;
  }
  await forgetPlain(db, documentId);
  return NOTHING_READ;
}

/** The result of reading a document. */
export interface TakenReading extends Omit<Remembered, "lostAt" | "missing"> {
  readonly lost: boolean;
}

/** The service that a document is synced with, and where to note which rows its answers made. */
interface Side {
  readonly service: { readonly name: string };
  readonly taken: Set<string>;
}

/**
 * Stores the result of a reading. `from`: the document's last row before it. The rows since then
 * came from the service, so it needs none of them.
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
 * Records that the service says that the project does not exist. If it existed before, the service
 * may have lost it. That must be recorded before it is created again, because an empty project
 * would look as if everything had been deleted. False: the project is bound to another account now
 * and must not be created.
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

/**
 * The service has nothing of a project, which is an answer: if it is the first one, the project's
 * files are taken now. They then go with the call that follows the project's creation, which shows
 * what others may have sent meanwhile.
 */
export async function lookAtFilesOfAbsent(
  options: RoundOptions,
  project: ProjectId,
): Promise<void> {
  const isNews = await options.store.write((context) => noteAbsent(context, options, project));
  if (isNews) await options.lookAtFiles?.(project);
}

/**
 * The service has a log after all: what was agreed with it as one without a log no longer counts.
 */
export async function leavePlain(db: Db, service: string, documentId: number): Promise<void> {
  if (!isPlain(await readPosition(db, service, documentId))) return;
  await dropPosition(db, service, documentId);
  await forgetPlain(db, documentId);
}

/**
 * Stores what is kept of a document in a transaction of its own. Does nothing for a project that is
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
