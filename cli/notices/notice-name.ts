/**
 * The name of the notice of a conflict or a held write that exists since then (milliseconds since
 * the Unix epoch). If the same id appears again later, it has another name.
 *
 * ```
 * noticeName("held", "k3j5h2ab", 0); // "held-k3j5h2ab-0"
 * ```
 */
export function noticeName(kind: "conflict" | "held", id: string, since: number): string {
  return `${kind}-${id}-${since.toString(36)}`;
}

/** Whether a notice of this name tells of a conflict that no command has shown. */
export function isOfConflict(name: string): boolean {
  return /^conflict-[^.]*$/.test(name);
}
