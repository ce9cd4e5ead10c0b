import { nearWords } from "../../../shared/near-words.ts";
import { pathMatches } from "./fault-paths.ts";

const BEGINNINGS = ["/v1", "/api"] as const;

/**
 * The served paths that were probably meant. Most often the beginning was left out, or is the one
 * of the other variant; only then is it a slip.
 */
export function pathsNear(path: string, served: readonly string[]): readonly string[] {
  const rest = path.replace(/^\/(v\d+|api)(?=\/)/, "");
  const meant = BEGINNINGS.map((beginning) => `${beginning}${rest}`);
  const same = served.filter((each) => meant.some((whole) => pathMatches(each, whole)));
  if (same.length > 0) return same;
  const alike = nearWords(path, served);
  if (alike.length > 0 && rest !== path) return alike.slice(0, 1);
  return [...meant.flatMap((whole) => nearWords(whole, served)), ...alike].slice(0, 1);
}

/** The path, or a route, that a rule for a path was probably meant for. */
export function patternNear(pattern: string, served: readonly string[]): string | undefined {
  const rooted = pattern.startsWith("/") ? pattern : `/${pattern}`;
  // For `*` as any number of parts, which it is at the end alone.
  const parts = rooted
    .replaceAll(/:[^/]*|\{[^/]*\}/g, "*")
    .split("*")
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const whole = new RegExp(`^${parts.join(".+")}$`);
  if (rooted.endsWith("*") && served.some((each) => whole.test(each))) return rooted;
  return served.find((each) => whole.test(each)) ?? pathsNear(rooted, served)[0];
}
