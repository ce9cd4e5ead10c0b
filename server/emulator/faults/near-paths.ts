import { nearWords } from "../../../shared/near-words.ts";
import { pathMatches } from "./fault-paths.ts";

const BEGINNINGS = ["/v1", "/api"] as const;

/**
 * The served paths that were probably meant. Most often the beginning was left out, or is the one
 * of the other variant; only then is it a slip.
 */
export function pathsNear(path: string, served: readonly string[]): readonly string[] {
  const rest = restOf(path);
  const meant = BEGINNINGS.map((beginning) => `${beginning}${rest}`);
  const same = served.filter((each) => meant.some((whole) => pathMatches(each, whole)));
  if (same.length > 0) return same;
  // The beginning is left out, because all paths share it: it makes none of them more alike.
  const near = new Set(nearWords(rest, served.map(restOf)));
  const own = path.slice(0, path.length - rest.length);
  const alike = [own, ...BEGINNINGS, ""].flatMap((beginning) =>
    served.filter((each) => near.has(restOf(each)) && each === `${beginning}${restOf(each)}`),
  );
  // A slip may be in the beginning, too.
  return (alike.length > 0 || own !== "" ? alike : nearWords(path, served)).slice(0, 1);
}

/** A path without the beginning that says which variant it is of. */
function restOf(path: string): string {
  return path.replace(/^\/(v\d+|api)(?=\/)/, "");
}

/** The path, or a route, that a rule for a path was probably meant for. */
export function patternNear(pattern: string, served: readonly string[]): string | undefined {
  const rooted = pattern.startsWith("/") ? pattern : `/${pattern}`;
  // `*` stands for any number of parts here, as people may mean it; in a rule it does so only at
  // the end.
  const parts = rooted
    .replaceAll(/:[^/]*|\{[^/]*\}/g, "*")
    .split("*")
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const whole = new RegExp(`^${parts.join(".+")}$`);
  if (rooted.endsWith("*") && served.some((each) => whole.test(each))) return rooted;
  return served.find((each) => whole.test(each)) ?? pathsNear(rooted, served)[0];
}
