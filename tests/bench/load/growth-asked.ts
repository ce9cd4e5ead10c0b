/** What is asked of a service that holds more and more. */
export const ASKED = ["push", "pull", "told", "list", "page", "search", "handshake"] as const;

/** What a run of `growth-load.ts` prints: medians in milliseconds. */
export type GrowthLoad = Readonly<Record<(typeof ASKED)[number], number>>;
