import { test } from "bun:test";

/** Something that a machine may lack: a program, a right, a system. */
export interface Need {
  readonly isMet: boolean;
  /** Why it is not met, as the end of "not run: ". */
  readonly missing: string;
}

export const LINUX: Need = { isMet: process.platform === "linux", missing: "this is not Linux" };

export const TERMINALS: Need = {
  isMet: process.platform !== "win32",
  missing: "Windows has no pseudo-terminals",
};

export const ROOT_USER: Need = {
  isMet: process.getuid?.() === 0,
  missing: "this user is not root",
};

/** Programs of the machine, all of them. */
export function programs(...names: readonly string[]): Need {
  const absent = names.filter((name) => Bun.which(name) === null);
  return { isMet: absent.length === 0, missing: `${absent.join(" and ")} not installed` };
}

/** The same, but that CI has to have it: there a test fails without. */
export function inCi({ isMet, missing }: Need): Need {
  return { isMet: isMet || process.env.CI !== undefined, missing };
}

/**
 * A test of what not every machine can do. Where it cannot, the test's name says why it was not
 * run; whoever runs the tests reads those names at the end.
 */
export function testWith(
  { isMet, missing }: Need,
  name: string,
  body: () => void | Promise<void>,
  timeoutMs?: number,
): void {
  if (isMet) test(name, body, timeoutMs);
  else leaveOut(unmetName(name, missing), body);
}

/** Has a test told as one that was not run. Its name is to say why. */
export const leaveOut = test.skip;

/** What a test that is not run is called. */
export function unmetName(name: string, missing: string): string {
  return `${name} (not run: ${missing})`;
}
