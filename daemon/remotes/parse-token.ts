import { AppError } from "../../shared/errors.ts";

/** Visible ASCII, as a header needs it. */
const TOKEN = /^[\x21-\x7e]+$/;
const LENGTH_MAX = 512;

/**
 * Reads a token that was typed or piped. Throws one sentence, which does not quote it, for an
 * invalid one.
 */
export function parseToken(text: string): string {
  const token = text.trim();
  const why = whyNone(token);
  if (why !== undefined) throw new AppError("invalid_request", why);
  return token;
}

function whyNone(token: string): string | undefined {
  if (token === "") return "no token was given";
  const none = "what was given is no token";
  if (token.length > LENGTH_MAX) return `${none}: it is longer than ${LENGTH_MAX} characters`;
  return TOKEN.test(token) ? undefined : `${none}: it has spaces, lines or what is not ASCII`;
}
