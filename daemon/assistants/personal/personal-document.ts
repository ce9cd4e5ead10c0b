import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import type { Entry, EntryId } from "../../../shared/replica/document/entry-index.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { beginsAsPersonal, PERSONAL_KEY } from "../../home/personal-mark.ts";
import {
  type KeptVersion,
  keepPersonalVersion,
  readPersonalVersions,
} from "../../home/personal-versions.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { keysOfService } from "../../plain/plain-store.ts";
import {
  ancestorsOf,
  areApart,
  type KnownVersions,
  mergeVersions,
  newestOf,
} from "./merge-versions.ts";
import { type PersonalVersion, parseVersion } from "./version.ts";

type Context = WriteContext<DaemonTables>;

/** A version that stands in the document, and where. */
export interface StandingVersion {
  readonly version: PersonalVersion;
  readonly key: string;
  readonly entry: Entry;
  /** It is the value of its key. */
  readonly isWinner: boolean;
}

/**
 * All versions of the personal text in a user's document, the latest first. Of one key and one
 * millisecond, that is the order of its entries, so that what counts is what `get` shows; see
 * `winnerFirst`. Machines may know one text by several keys: there the id of the version decides.
 * What has another key is none, however it begins: it is somebody's copy. Only where a service that
 * keeps no keys has given a memory its key, the first line is how it is known.
 */
export async function standingVersions(
  db: Context["db"],
  { id, document }: Pick<OpenDocument, "id" | "document">,
): Promise<StandingVersion[]> {
  const keys = [PERSONAL_KEY, ...(await keysOfService(db, id))];
  const ofKeys = keys.map((key) => versionsOfKey(document, key));
  ofKeys.sort((one, other) => (firstId(one) < firstId(other) ? -1 : 1));
  return ofKeys.flat().sort((one, other) => other.entry.updated_at - one.entry.updated_at);
}

/** The winner first. */
function versionsOfKey({ memories }: ReplicaDocument, key: string): StandingVersion[] {
  return memories.get(key).flatMap((entry, at) => {
    const value = String(entry.value);
    if (key !== PERSONAL_KEY && !beginsAsPersonal(value)) return [];
    return [{ version: parseVersion(value), key, entry, isWinner: at === 0 }];
  });
}

function firstId([first]: readonly StandingVersion[]): string {
  return first?.version.id ?? "";
}

/** The personal text as it counts. */
export interface CountedText {
  /** Undefined: there is none. */
  readonly current: PersonalVersion | undefined;
  /**
   * What stands beside it, for together they are over the limit of a memory. Its key, unless it is
   * a conflict of the same one.
   */
  readonly apart: { readonly key: string | undefined } | undefined;
}

/** What this machine has had, for merges. */
export async function knownVersions(
  db: Context["db"],
  standing: readonly StandingVersion[] = [],
): Promise<KnownVersions & { readonly all: readonly PersonalVersion[] }> {
  const kept = await readPersonalVersions(db);
  const own = new Set(kept.flatMap(({ id, isOwn }) => (isOwn ? [id] : [])));
  const all = [
    ...kept.map(({ value }) => parseVersion(value)),
    ...standing.map(({ version }) => version),
  ];
  const byId = new Map(all.map((version) => [version.id, version]));
  return { all, find: (id) => byId.get(id), isOwn: (id) => own.has(id) };
}

/**
 * Brings the versions of the personal text together as far as this machine can and they fit into
 * one memory, and gives the one that counts: the newest, and of several the latest. What a standing
 * version was made of goes. Of versions that are not made of each other none does, so the last one
 * never goes by itself.
 */
export async function settleVersions(context: Context, open: OpenDocument): Promise<CountedText> {
  const { document } = open;
  for (;;) {
    const standing = await standingVersions(context.db, open);
    const known = await knownVersions(context.db, standing);
    const newest = newestOf(
      standing.map(({ version }) => version),
      known,
    );
    const [first] = standing.filter(({ version }) => newest.some(({ id }) => id === version.id));
    if (!first) return { current: undefined, apart: undefined };
    await dropObsolete(context, open, { standing, newest });
    for (const version of newest) {
      await keep(context, version, { isOwn: known.isOwn(version.id) });
    }
    const merged = firstMerge(newest, known);
    if (!merged) {
      const isApart = ({ version: { id } }: StandingVersion) => {
        const beside = newest.find((each) => each.id === id && id !== first.version.id);
        return beside !== undefined && areApart(first.version, beside, known);
      };
      const apart = standing.find(isApart);
      const key = apart?.key === first.key ? undefined : apart?.key;
      return { current: first.version, apart: apart && { key } };
    }
    await keep(context, merged, { isOwn: true });
    const seen = document.memories.get(PERSONAL_KEY).map((each) => each.id);
    await writeVersion(context, open, { version: merged, seen });
    const now = await standingVersions(context.db, open);
    await dropObsolete(context, open, { standing: now, newest: [merged] });
  }
}

/** Two at a time: the rest meets what they come to. */
function firstMerge(newest: readonly PersonalVersion[], known: KnownVersions) {
  const sorted = [...newest].sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const [at, one] of sorted.entries()) {
    for (const other of sorted.slice(at + 1)) {
      const merged = mergeVersions(one, other, known);
      if (merged) return merged;
    }
  }
  return undefined;
}

interface Settled {
  readonly standing: readonly StandingVersion[];
  readonly newest: readonly PersonalVersion[];
}

/** Versions that others are made of, and of equal entries of a key all but the one that counts. */
async function dropObsolete(
  context: Context,
  open: OpenDocument,
  { standing, newest }: Settled,
): Promise<void> {
  const { document } = open;
  const known = await knownVersions(context.db, standing);
  const former = new Set(newest.flatMap((version) => ancestorsOf(version, known)));
  const winners = new Set(
    standing.flatMap(({ key, version, isWinner }) => (isWinner ? [`${key}\n${version.id}`] : [])),
  );
  for (const { key, version, entry, isWinner } of standing) {
    const isDouble = !isWinner && winners.has(`${key}\n${version.id}`);
    if (former.has(version.id) || isDouble) document.deleteEntry("memories", key, [entry.id]);
  }
  await context.flush(open);
}

/**
 * A new version, under the personal text's own key whatever the one has that it is made of, which
 * goes as a version of before. `seen`: the entries that it replaces.
 */
export async function writeVersion(
  context: Context,
  open: OpenDocument,
  {
    version,
    seen,
    now = context.now,
  }: {
    readonly version: PersonalVersion;
    readonly seen: readonly EntryId[];
    readonly now?: number;
  },
): Promise<void> {
  open.document.setEntry("memories", PERSONAL_KEY, { value: version.value, now, seen });
  await context.flush(open);
}

/** The entries of the text's own key that have this version: those that an edit of it replaces. */
export function entriesWith(
  standing: readonly StandingVersion[],
  version: PersonalVersion | undefined,
): EntryId[] {
  return standing.flatMap((each) => {
    return each.key === PERSONAL_KEY && each.version.id === version?.id ? [each.entry.id] : [];
  });
}

async function keep(
  { db }: Context,
  { id, value }: PersonalVersion,
  known: Pick<KeptVersion, "isOwn">,
): Promise<void> {
  await keepPersonalVersion(db, { id, value, ...known });
}
