import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import type { ReasonCode } from "../../shared/reasons.ts";
import { layerOf, projectOf } from "../../shared/replica/document/address.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import { filesWithHeld } from "../assistants/personal/drop-held-text.ts";
import { folderOf } from "../files/names/also-file.ts";
import { type HeldWhere, heldAdvice, heldReason } from "../held/advice.ts";
import { shownKey } from "../held/shown-key.ts";
import { findStandingAlike } from "../held/standing-alike.ts";
import { type HeldItem, listHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";

/** A held write as `status` and `held` show it, always without its value. */
export interface HeldStatus {
  readonly id: string;
  readonly kind: HeldItem["kind"];
  readonly layer: Layer;
  readonly project_id: string | null;
  /** The name of the remote that its document is bound to; null where there is none. */
  readonly remote: string | null;
  /** A memory's or metadata's key, with any secret in it hidden; null for a text. */
  readonly key: string | null;
  /** The folder of a followed file; null for other writes. */
  readonly dir: string | null;
  readonly cause: HeldItem["cause"];
  readonly code: ReasonCode;
  /** What the code says, in words that follow the name. */
  readonly reason: string;
  /** The reason and what to do, in words that follow the name. */
  readonly advice: string;
  readonly written_at: string;
}

/**
 * Everything that is held on this machine, in the order in which it was written; `remoteOf` gives
 * the name of an account's remote.
 */
export async function readHeldStatus(
  db: Kysely<DaemonTables>,
  remoteOf: (account: AccountId) => string | null,
): Promise<HeldStatus[]> {
  const held: HeldStatus[] = [];
  for (const item of await listHeld(db)) {
    const remote = remoteOf(item.account);
    held.push(await heldStatus(item, { remote, ...(await findHeldWhere(db, item)) }));
  }
  return held;
}

/** Finds where what is held stands besides, by its document and by the assistants' files. */
export async function findHeldWhere(db: Kysely<DaemonTables>, item: HeldItem): Promise<HeldWhere> {
  const standing = await findStandingAlike(db, item);
  return { standing, isInFile: (await filesWithHeld(db, item)).length > 0 };
}

/** What a person is shown beside a held write. */
export interface HeldFacts extends HeldWhere {
  readonly remote: string | null;
}

export async function heldStatus(
  item: HeldItem,
  { remote, ...where }: HeldFacts,
): Promise<HeldStatus> {
  const { id, kind, document, cause, writtenAt } = item;
  const key = await shownKey(item);
  return {
    id,
    kind,
    layer: layerOf(document),
    project_id: projectOf(document) ?? null,
    remote,
    key: kind === "memory" || kind === "metadata" ? key : null,
    dir: kind === "file" ? folderOf({ dir: item.key }) : null,
    cause,
    code: item.reason.code,
    reason: heldReason(item),
    advice: heldAdvice(item, where),
    written_at: timestampOf(writtenAt),
  };
}
