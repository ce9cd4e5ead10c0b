import { finderFor } from "../local/find-version.ts";
import type { PlacedVersion, TextConflict } from "../local/local-conflicts.ts";
import { completeAtPlaces, openContent, type PutBack, putBack, spliceLines } from "./put-back.ts";

/** The text of a conflict that is to have both versions, with the missing ones put in. */
export function bringAllBack(conflict: TextConflict, missing: readonly PlacedVersion[]): PutBack {
  const find = finderFor(conflict.record.kind);
  return missing.reduce<PutBack>(
    (done, version) => {
      const other = conflict.versions.find((each) => each !== version);
      const put = bringOneBack(done.content, version, { other, find });
      return { content: put.content, there: done.there + put.there };
    },
    { content: conflict.content, there: 0 },
  );
}

/** The other version, and what finds it. */
interface Beside {
  readonly other: PlacedVersion | undefined;
  readonly find: ReturnType<typeof finderFor>;
}

/**
 * Puts a version behind the other one if that is at the same place, else where its lines were.
 * Lines that are there already are not doubled.
 */
function bringOneBack(content: string, version: PlacedVersion, { other, find }: Beside): PutBack {
  const { places, text } = version;
  if (places.length === 0) {
    return { content: putBack(content, text, other?.text ?? ""), there: 0 };
  }
  const behind = placeOf(version);
  const standing =
    other && behind !== undefined && behind === placeOf(other)
      ? find(content, other, version)?.found[0]?.lines
      : undefined;
  const completed = completeAtPlaces(content, places);
  if (!standing || completed.there > 0) return completed;
  const at = standing.at + standing.count;
  return { content: spliceLines(openContent(content), at, { removed: 0, put: text }), there: 0 };
}

function placeOf({ places }: PlacedVersion): string | undefined {
  return places.length === 1 ? places[0]?.behind : undefined;
}
