/** How often a folder is looked at where nobody tells of changes, and while it is gone. */
export const POLL_MS = 3000;
