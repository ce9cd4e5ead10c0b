import { AppError } from "../../../shared/errors.ts";

/** Fields that are called otherwise over HTTP, by the names that they have in the library. */
const WIRE_NAMES: ReadonlyMap<string, string> = new Map([
  ["closeCode", "close_code"],
  ["expiresAt", "expires_at"],
  ["latencyMs", "latency_ms"],
  ["medianMs", "median_ms"],
  ["refuseItem", "refuse_item"],
  ["retryAfter", "retry_after"],
]);

/**
 * A refusal of what the library's calls were given, in the names that whoever asks over HTTP has
 * written. Anything else comes back as it is.
 */
export function inWireNames(thrown: unknown): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== "invalid_request") return thrown;
  const details = thrown.details.map(({ path, message }) => {
    return { path: renamed(path), message: renamed(message) };
  });
  return new AppError(thrown.code, renamed(thrown.message), details);
}

function renamed(text: string): string {
  return text.replaceAll(/\b[a-z]+[A-Z][A-Za-z]+\b/g, (name) => WIRE_NAMES.get(name) ?? name);
}
