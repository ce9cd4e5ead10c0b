// What others deleted of the very lines that rows took out whose answer was lost. An update says of
// a character only that it is gone, so the others' deletion is not to be told from this machine's
// own, which comes back with it. It shows by what else they did: they put something in the place of
// those characters, or they say that they have deleted something, and nothing else is gone.
import * as Y from "yjs";
import { TRIMMED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { type IntegratedClocks, textRangesOf } from "../../shared/replica/merge/text-conflicts.ts";
import {
  broughtIn,
  deletedIn,
  difference,
  holdsAny,
  type IdRanges,
  intersection,
  union,
} from "../../shared/replica/text/id-ranges.ts";

const NONE: IdRanges = new Map();

/** An update that brings back what was sent from here. */
interface Returned {
  readonly update: Uint8Array;
  /** What comes back: all of it, and the rows of it that are somebody's edit, oldest first. */
  readonly sent: Uint8Array;
  readonly edits: readonly Uint8Array[];
  /** What was here before the update, and the characters of the text then. */
  readonly integrated: IntegratedClocks;
  readonly stood: IdRanges;
}

/** What rows that come back did from the first one on that took out what others deleted, too. */
export interface DeletedAlike {
  readonly mine: IdRanges;
  readonly byMe: IdRanges;
  readonly both: IdRanges;
}

export function findDeletedAlike(returned: Returned): DeletedAlike | undefined {
  const { edits } = returned;
  const own = edits.map(deletedIn);
  const both = deletedByOthers(own.reduce(union, NONE), returned);
  const first = own.findIndex((ids) => intersection(ids, both).size > 0);
  if (first === -1) return undefined;
  const mine = edits.slice(first).map((row) => textRangesOf(row));
  return { mine: mine.reduce(union, NONE), byMe: own.slice(first).reduce(union, NONE), both };
}

function deletedByOthers(own: IdRanges, { update, sent, integrated, stood }: Returned): IdRanges {
  const back = broughtIn(sent);
  const news = Y.decodeUpdate(update).structs.flatMap((struct) => {
    const { client, clock } = struct.id;
    const isNew = clock >= (integrated.get(client) ?? 0);
    const isOthers = isNew && !holdsAny(back, client, { clock, length: 1 });
    return struct instanceof Y.Item && isOthers ? [struct] : [];
  });
  const others = intersection(difference(deletedIn(update), deletedIn(sent)), stood);
  if (others.size === 0 && news.some(tellsOfDeletion)) return own;
  const beside = news.flatMap(({ content, origin, rightOrigin }) => {
    if (!(content instanceof Y.ContentString)) return [];
    return [origin, rightOrigin].flatMap((id) => (id ? rangeAround(own, id) : []));
  });
  return beside.reduce(union, NONE);
}

/** Whether an item says that a machine has only deleted text; see `TRIMMED_PREFIX`. */
function tellsOfDeletion({ content }: Y.Item): boolean {
  if (!(content instanceof Y.ContentAny)) return false;
  return content.arr.some((entry: { readonly key?: unknown } | null) => {
    return typeof entry?.key === "string" && entry.key.startsWith(TRIMMED_PREFIX);
  });
}

function rangeAround(ids: IdRanges, { client, clock }: Y.ID): IdRanges[] {
  const range = ids.get(client)?.find(([from, to]) => from <= clock && clock < to);
  return range ? [new Map([[client, [range]]])] : [];
}
