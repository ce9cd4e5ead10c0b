import { type Static, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import type {
  PlacedLines,
  TextConflictRecord,
  TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { parseTimestamp, timestampOf } from "../../shared/timestamps.ts";
import { text } from "../../shared/wire/text.ts";
import { timestamp } from "../../shared/wire/timestamp.ts";

const Count = Type.Integer({ minimum: 0 });
const Lines = text({ bytesMax: LIMITS.metadataBytes });

/** Lines that stood together, counted in the version's text; see `PlacedLines`. */
const Place = Type.Object({
  behind: Lines,
  lines: Count,
  ahead: Type.Optional(Lines),
  before: Type.Optional(Count),
  after: Type.Optional(Count),
  whole: Type.Optional(Type.Boolean()),
  gone: Type.Optional(Type.Array(Count)),
  stood: Type.Optional(Type.Array(Count)),
});

const Known = {
  machine: Type.Optional(text({ nonEmpty: true, bytesMax: LIMITS.projectNameBytes })),
  at: Type.Optional(timestamp()),
};

const Version = Type.Object({
  text: Lines,
  cut: Type.Boolean(),
  ...Known,
  removed: Type.Optional(Type.Object(Known)),
  places: Type.Optional(Type.Array(Place)),
  stands: Type.Optional(Type.Boolean()),
});

/** A conflict of a text in an export. The first exports had no kind, times, places and lines. */
export const PortableTextConflict = Type.Object({
  id: text({ pattern: /^[a-z2-7]{8}$/, expected: "eight of [a-z2-7]" }),
  /** `both` where it is left out. */
  kind: Type.Optional(text({ pattern: /^[a-z-]{1,40}$/, expected: "a code" })),
  found_at: timestamp(),
  lines: Type.Optional(Count),
  versions: Type.Array(Version, {
    minItems: 2,
    maxItems: 2,
    expected: "an array of two versions",
  }),
});
export type PortableTextConflict = Static<typeof PortableTextConflict>;

/** All that a conflict says, for an export. */
export function portableTextConflict(record: TextConflictRecord): PortableTextConflict {
  const { id, kind, foundAt, lines, versions } = record;
  return {
    id,
    ...(kind !== "both" && { kind }),
    found_at: timestampOf(foundAt),
    ...(lines !== undefined && { lines }),
    versions: versions.map(portableVersion),
  };
}

function portableVersion(version: TextVersion): Static<typeof Version> {
  const { text, cut, removed, places, isStanding } = version;
  return {
    text,
    cut,
    ...portableKnown(version),
    ...(removed && { removed: portableKnown(removed) }),
    ...(places.length > 0 && { places: places.map(portablePlace) }),
    ...(isStanding && { stands: true }),
  };
}

function portableKnown({
  machine,
  at,
}: Pick<TextVersion, "machine"> & { readonly at?: number | undefined }) {
  return {
    ...(machine !== undefined && { machine }),
    ...(at !== undefined && hasFourDigits(at) && { at: timestampOf(at) }),
  };
}

/** No import takes a time of other years, which no clock of a machine has by chance. */
function hasFourDigits(at: number): boolean {
  return parseTimestamp(timestampOf(at)) !== undefined;
}

function portablePlace({ behind, text, gone, stood, ...rest }: PlacedLines): Static<typeof Place> {
  const counts = { ...(gone && { gone: [...gone] }), ...(stood && { stood: [...stood] }) };
  return { behind, lines: text.split("\n").length - 1, ...rest, ...counts };
}

/** The same as a document says it; `parseTextConflict` reads it. */
export function storedTextConflict(conflict: PortableTextConflict): JsonObject {
  const { kind, found_at, lines, versions } = conflict;
  return {
    ...(kind !== undefined && kind !== "both" && { kind }),
    found_at: parseTimestamp(found_at) ?? 0,
    ...(lines !== undefined && { lines }),
    versions: versions.map(({ text, cut, removed, places, stands, ...known }) => ({
      text,
      cut,
      ...storedKnown(known),
      ...(removed && { removed: storedKnown(removed) }),
      ...(places && { places: places.map((place) => ({ ...place })) }),
      ...(stands && { stands }),
    })),
  };
}

function storedKnown({ machine, at }: { readonly machine?: string; readonly at?: string }) {
  return {
    machine: machine ?? null,
    ...(at !== undefined && { at: parseTimestamp(at) ?? null }),
  };
}

/** No service takes more of one conflict. */
export function refuseTooLong(
  conflicts: readonly PortableTextConflict[],
  path: string,
  details: ErrorDetail[],
): void {
  for (const [at, conflict] of conflicts.entries()) {
    const stored = JSON.stringify(storedTextConflict(conflict));
    if (!exceedsBytes(stored, LIMITS.metadataBytes)) continue;
    const message = `must be at most ${LIMITS.metadataBytes} bytes as JSON`;
    details.push({ path: `${path}/${at}`, message });
  }
}
