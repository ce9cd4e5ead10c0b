import { FormatRegistry, type TUnsafe, Type } from "@sinclair/typebox";
import { parseTimestamp } from "../timestamps.ts";
import { text } from "./text.ts";

export { parseTimestamp, timestampOf } from "../timestamps.ts";

const FORMAT = "date-time";

/** A timestamp in a request. `parseTimestamp` and `timestampOf` normalise it. */
export function timestamp(): TUnsafe<string> {
  return text(
    {
      bytesMax: 64,
      accepts: (value) => parseTimestamp(value) !== undefined,
      expected: "an ISO 8601 timestamp with a time zone",
    },
    { format: FORMAT },
  );
}

FormatRegistry.Set(FORMAT, (value) => parseTimestamp(value) !== undefined);

/** A timestamp in an answer: UTC with milliseconds, as `timestampOf` writes it. */
export const Timestamp = Type.String({ format: FORMAT });
