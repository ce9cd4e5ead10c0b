/** What a notice can be about. */
export type NoticeKind = "conflict" | "held" | "joined";

/**
 * The name of the notice of a conflict, a held write or a joined project that exists since then
 * (milliseconds since the Unix epoch). If the same id appears again later, it has another name.
 *
 * ```
 * noticeName("held", "k3j5h2ab", 0); // "held-k3j5h2ab-0"
 * ```
 */
export function noticeName(kind: NoticeKind, id: string, since: number): string {
  return `${kind}-${id}-${since.toString(36)}`;
}

/** Whether a notice of this name tells of a conflict that no command has shown. */
export function isOfConflict(name: string): boolean {
  return /^conflict-[^.]*$/.test(name);
}
