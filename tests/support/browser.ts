/** Debian's browser, or another one that is named; empty if there is none. */
export const BROWSER = process.env.MEMSYNC_TEST_BROWSER ?? Bun.which("chromium") ?? "";
