import type { JsonValue } from "../../json.ts";

const NAME_LENGTH_MAX = 64;

/** A machine's name in one short line; undefined if nothing is left of it. */
export function machineName(text: JsonValue | undefined): string | undefined {
  if (typeof text !== "string") return undefined;
  const name = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return name === "" ? undefined : [...name].slice(0, NAME_LENGTH_MAX).join("");
}

/** The name under which a service writes: what came by REST, and what it notes itself. */
export const SERVICE_MACHINE = "service";
