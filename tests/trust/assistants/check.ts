import { print } from "../cases.ts";

/** Says what holds; throws where it does not, with what was seen. */
export function check(what: string, holds: boolean, seen: unknown = ""): void {
  if (!holds) throw new Error(`does not hold: ${what}\n${String(seen).slice(0, 3000)}`);
  print(`✓ ${what}`);
}
