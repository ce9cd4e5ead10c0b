/** `:id`, `{id}` and `*` are one part of a path of any text. */
const OPEN_PART = /^(:.*|\{.*\}|\*)$/;

/** A `*` at the end is any number of parts. */
const REST = "*";

/** Whether a rule for `pattern` is about a request of `path`. */
export function pathMatches(pattern: string, path: string): boolean {
  return fits(pattern, path, (part, actual) => {
    return part === actual || (actual !== "" && isOpenPart(part));
  });
}

/**
 * Whether a rule for `pattern` may be about a request that a route serves. `words`: the fixed parts
 * of all routes. Behind an open part such a word is not taken for an id: the `sync` in
 * `/v1/:any/sync` is the route's, and no project's id.
 */
export function pathMayMatch(
  pattern: string,
  { route, words }: { readonly route: string; readonly words: ReadonlySet<string> },
): boolean {
  const parts = pattern.split("/");
  const mayBeId = (part: string) => !words.has(part) || !parts.slice(0, -1).some(isOpenPart);
  return fits(pattern, route, (part, served) => {
    if (part === served) return true;
    if (isOpenPart(part)) return served !== "";
    return isOpenPart(served) && SENT_PART.test(part) && mayBeId(part);
  });
}

function isOpenPart(part: string): boolean {
  return OPEN_PART.test(part);
}

/** The parts that are the same in every request of one of these routes. */
export function fixedPartsOf(routes: readonly { readonly path: string }[]): ReadonlySet<string> {
  const parts = routes.flatMap(({ path }) => path.split("/"));
  return new Set(parts.filter((part) => !isOpenPart(part)));
}

/** What a part of an address can be, as it is sent. An open part of a route is never empty. */
const SENT_PART = /^[!"$-.0->@-~]+$/;

function fits(
  pattern: string,
  path: string,
  isSame: (part: string, actual: string) => boolean,
): boolean {
  const parts = pattern.split("/");
  const actual = path.split("/");
  const isOpen = parts.at(-1) === REST;
  if (isOpen ? actual.length < parts.length : actual.length !== parts.length) return false;
  return parts.every((part, at) => isSame(part, actual[at] ?? ""));
}
