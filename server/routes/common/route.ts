import { mayOnlyRead } from "../../../shared/forbidden.ts";
import type { Caller } from "../../services/services.ts";

/** Handlers read bodies themselves: Elysia would drop fields, and quote the body in a 422. */
export const UNPARSED = { parse: "none" } as const;

/** Throws a 403 for a token that may only read. */
export function requireWrite(caller: Caller): void {
  if (!caller.canWrite) throw mayOnlyRead();
}
