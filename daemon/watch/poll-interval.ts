/** How often a folder is polled where nothing tells of changes, or while it is missing. */
export const POLL_MS = 3000;
