import { AppError } from "../../shared/errors.ts";

/** Visible ASCII, as a header needs it. */
const TOKEN = /^[\x21-\x7e]{1,512}$/;

/**
 * Reads a token that was typed or piped. Throws one sentence, which does not quote it, for an
 * invalid one.
 */
export function parseToken(text: string): string {
  const token = text.trim();
  if (TOKEN.test(token)) return token;
  throw new AppError(
    "invalid_request",
    token === "" ? "no token was given" : "what was given is no token: it has spaces or lines",
  );
}
