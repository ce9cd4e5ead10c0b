/**
 * Names the notice of a conflict, or of a held write, which is there since then (milliseconds since
 * the Unix epoch): what comes again later under the same id is another.
 */
export function noticeName(kind: "conflict" | "held", id: string, since: number): string {
  return `${kind}-${id}-${since.toString(36)}`;
}
