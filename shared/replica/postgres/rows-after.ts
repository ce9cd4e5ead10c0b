import type { AccountId } from "../../ids.ts";
import type { SessionPool } from "../../postgres/pool.ts";
import { chunksOf } from "../../turns.ts";
import type { CommittedRow } from "../store/open-document.ts";

/** Before any version of an account. */
export const NO_CHANGES = -1;

/** A statement takes some milliseconds for so many accounts. */
const ACCOUNTS_AT_ONCE = 1000;

/** What an account's logs have beyond what is known. */
interface FoundRows {
  readonly version: number;
  /** Of the database as its last writer has seen it. */
  readonly epoch: string;
  readonly rows: readonly CommittedRow[];
  /** The newest row of each document, where only those were asked for. */
  readonly heads: ReadonlyMap<number, number>;
}

interface StoredRow {
  readonly id: number;
  readonly name: string;
  readonly seq: number;
  readonly epoch: string;
  readonly origin: "local" | "remote";
  readonly payload: Uint8Array;
}

const NOTHING = { memoryKeys: new Set<string>(), metadataKeys: new Set<string>(), text: false };

/** The changes in a commit of another server are not known, so its reader has to look for them. */
const UNKNOWN: CommittedRow["changes"] = {
  ...NOTHING,
  by: { local: NOTHING, remote: NOTHING },
  replaced: [],
  textClients: new Set(),
  removedText: [],
};

/** The accounts whose version is another than the known one; all of them under another epoch. */
export async function movedAccounts<Tables>(
  reading: Pick<SessionPool<Tables>, "use">,
  known: ReadonlyMap<AccountId, number>,
  epoch: string,
): Promise<AccountId[]> {
  const moved: AccountId[] = [];
  for (const some of chunksOf([...known], ACCOUNTS_AT_ONCE)) {
    const found = await reading.use((session) =>
      session.query<{ owner: AccountId }>(
        `SELECT given.owner
        FROM unnest($1::text[], $2::bigint[]) AS given (owner, version), incarnation
        WHERE epoch <> $3 OR given.version <> coalesce(
          (SELECT owners.version FROM owners WHERE owners.owner = given.owner), 0)`,
        [some.map(([owner]) => owner), some.map(([, version]) => version), epoch],
      ),
    );
    moved.push(...found.map(({ owner }) => owner));
  }
  return moved;
}

/** Undefined: nothing was committed since `version`, which was under `epoch`. */
export async function rowsAfter<Tables>(
  reading: Pick<SessionPool<Tables>, "use">,
  owner: AccountId,
  {
    told,
    version: known,
    epoch: knownEpoch,
    headsAlone,
  }: {
    readonly told: ReadonlyMap<number, number>;
    readonly version: number;
    readonly epoch: string;
    readonly headsAlone: boolean;
  },
): Promise<FoundRows | undefined> {
  return await reading.use(async (session) => {
    // The version is read before the rows: what is committed in between is found again, and never
    // missed.
    const [stands] = await session.query<{ version: number | null; epoch: string }>(
      "SELECT (SELECT version FROM owners WHERE owner = $1), epoch FROM incarnation",
      [owner],
    );
    const { epoch = "" } = stands ?? {};
    const version = stands?.version ?? 0;
    if (version === known && epoch === knownEpoch) return undefined;
    if (headsAlone) {
      const heads = await session.query<{ id: number; seq: number }>(
        "SELECT id, seq FROM documents WHERE owner = $1",
        [owner],
      );
      return { version, epoch, rows: [], heads: new Map(heads.map(({ id, seq }) => [id, seq])) };
    }
    const rows = await session.query<StoredRow>(
      `SELECT documents.id, name, updates.seq, epoch, origin, payload
      FROM documents
      LEFT JOIN unnest($2::bigint[], $3::bigint[]) AS told (id, seq) ON told.id = documents.id
      JOIN updates ON updates.document_id = documents.id
        AND updates.seq > coalesce(told.seq, 0)
      WHERE owner = $1 AND documents.seq > coalesce(told.seq, 0)
      ORDER BY documents.id, updates.seq`,
      [owner, [...told.keys()], [...told.values()]],
    );
    return { version, epoch, rows: rows.map((row) => committedRow(owner, row)), heads: new Map() };
  });
}

function committedRow(owner: AccountId, row: StoredRow): CommittedRow {
  const { id: documentId, name, seq, epoch, origin, payload: update } = row;
  return { documentId, address: { owner, name }, seq, epoch, origin, update, changes: UNKNOWN };
}
