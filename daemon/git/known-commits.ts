import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { COMMIT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import type { DaemonTables } from "../home/tables.ts";

/** A document remembers this many commits, the newest ones. */
const COMMITS_MAX = 100;

/** The commits at which some machine has read a project's file, from the document's rows. */
export async function readKnownCommits(
  db: Kysely<DaemonTables>,
  owner: AccountId,
  name: string,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select("key")
    .where("owner", "=", owner)
    .where("name", "=", name)
    .where("key", ">=", COMMIT_PREFIX)
    .where("key", "<", `${COMMIT_PREFIX}~`)
    .execute();
  return new Set(rows.map(({ key }) => key.slice(COMMIT_PREFIX.length)));
}

/**
 * Whether some machine has read the file at this commit, the last one that changed it. Then the
 * document has the commit's change, or somebody undid it since.
 */
export function isKnownCommit(document: ReplicaDocument, commit: string | undefined): boolean {
  return commit !== undefined && document.metadata.get(COMMIT_PREFIX + commit).length > 0;
}

/** Tells all machines that the document has what these commits did to the file. */
export function tellCommits(
  document: ReplicaDocument,
  commits: readonly string[],
  now: number,
): void {
  const unknown = commits.filter((commit) => !isKnownCommit(document, commit));
  for (const commit of unknown) {
    document.setEntry("metadata", COMMIT_PREFIX + commit, { value: now, now });
  }
  if (unknown.length > 0) forgetSurplus(document);
}

function forgetSurplus(document: ReplicaDocument): void {
  const keys = [...document.metadata.keys()].filter((key) => key.startsWith(COMMIT_PREFIX));
  const toldAt = (key: string) => document.metadata.get(key)[0]?.updated_at ?? 0;
  const latestFirst = keys.sort((one, other) => toldAt(other) - toldAt(one));
  for (const key of latestFirst.slice(COMMITS_MAX)) document.deleteEntry("metadata", key);
}
