import type { AccountId } from "../../ids.ts";
import { RELIANCE, type Reliance, relianceProblem } from "../../postgres/reliance.ts";
import type { PostgresSession } from "../../postgres/session.ts";
import { IS_SAME } from "./incarnation.ts";

/** The accounts that a transaction holds, and what the database says of itself. */
export interface Held {
  readonly versions: ReadonlyMap<AccountId, number>;
  readonly epoch: string;
  /** Whether the epoch is of the database as it is now. */
  readonly isSame: boolean;
  /** Its time, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** Why writes in this session can't be relied on, in a sentence. */
  readonly problem: string | undefined;
}

const HOLD = `SELECT owner, version FROM owners WHERE owner = ANY($1::text[])
  ORDER BY owner FOR UPDATE`;

/**
 * Begins a transaction that holds those of the accounts that nobody else holds, or with `waits` all
 * of them. `unknown`: those that may not have a row yet.
 */
export async function hold<Tables>(
  session: PostgresSession<Tables>,
  {
    owners,
    unknown,
    waits,
  }: {
    readonly owners: readonly AccountId[];
    readonly unknown: readonly AccountId[];
    readonly waits: boolean;
  },
): Promise<Held> {
  if (unknown.length > 0) {
    await session.change(
      `INSERT INTO owners (owner) SELECT owner FROM unnest($1::text[]) AS given (owner)
      ORDER BY owner ON CONFLICT DO NOTHING`,
      [unknown],
    );
  }
  // One packet carries all three statements. The time is read after the lock was taken.
  const [, rows, [facts]] = await Promise.all([
    session.command("BEGIN"),
    session.query<{ owner: AccountId; version: number }>(waits ? HOLD : `${HOLD} SKIP LOCKED`, [
      owners,
    ]),
    session.query<Pick<Held, "epoch" | "now"> & Reliance & { readonly is_same: boolean }>(
      `SELECT epoch, ${IS_SAME} AS is_same,
        floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
        ${RELIANCE}
      FROM incarnation`,
    ),
  ]);
  const versions = new Map(rows.map(({ owner, version }) => [owner, version]));
  const { epoch = "", is_same: isSame = false, now = 0 } = facts ?? {};
  return { versions, epoch, isSame, now, problem: facts && relianceProblem(facts) };
}
