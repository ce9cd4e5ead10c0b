import { join } from "node:path";
import { isObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { smallText } from "../transcripts/list-files.ts";
import { daysMs, type Retention } from "../transcripts/retention.ts";
import { objectIn, textOf } from "../transcripts/session-facts.ts";

const SETTINGS_BYTES_MAX = 1024 * 1024;
const AGE = "30d";

const UNITS_MS: Readonly<Record<string, number>> = {
  h: daysMs(1 / 24),
  d: daysMs(1),
  w: daysMs(7),
  m: daysMs(30),
};

/**
 * Gemini CLI deletes at its start what `general.sessionRetention` names: sessions that are over a
 * month old, unless that is turned off or said otherwise (google-gemini/gemini-cli,
 * `packages/cli/src/utils/sessionCleanup.ts`). Undefined where it deletes none. What it can't read
 * turns it off there, and here.
 */
export async function geminiRetention(home: string): Promise<Retention | undefined> {
  const general = objectIn((await settingsIn(join(home, "settings.json"))).general);
  const { enabled, maxAge = AGE, maxCount } = objectIn(general.sessionRetention);
  if (enabled === false) return undefined;
  const ageMs = periodMs(maxAge);
  if (ageMs === undefined) return undefined;
  const count = typeof maxCount === "number" && maxCount >= 1 ? { count: maxCount } : {};
  return { ageMs, ...count, setting: "general.sessionRetention" };
}

/** Comments are allowed there. */
async function settingsIn(path: string): Promise<JsonObject> {
  const text = await smallText(path, SETTINGS_BYTES_MAX);
  const { parse } = await import("jsonc-parser/lib/esm/main.js");
  const settings: JsonValue = parse(text ?? "{}");
  return isObject(settings) ? settings : {};
}

function periodMs(period: JsonValue): number | undefined {
  const [, amount, unit = ""] = /^(\d+)([dhwm])$/.exec(textOf(period) ?? "") ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? undefined : Number(amount) * unitMs || undefined;
}
