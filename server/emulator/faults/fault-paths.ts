/** `:id`, `{id}` and `*` are one part of a path of any text. */
const OPEN_PART = /^(:.*|\{.*\}|\*)$/;

/** A `*` at the end is any number of parts. */
const REST = "*";

/** Whether a rule for `pattern` is about a request of `path`. */
export function pathMatches(pattern: string, path: string): boolean {
  return fits(pattern, path, (part, actual) => {
    return part === actual || (actual !== "" && OPEN_PART.test(part));
  });
}

/** Whether a rule for `pattern` may be about a request that a route serves. */
export function pathMayMatch(pattern: string, route: string): boolean {
  return fits(pattern, route, (part, served) => {
    if (part === served || OPEN_PART.test(part)) return true;
    return OPEN_PART.test(served) && SENT_PART.test(part);
  });
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
