import { AppError } from "../../shared/errors.ts";

/** In visible ASCII, as a header takes it. */
const TOKEN = /^[\x21-\x7e]{1,512}$/;

/** A token as it was typed or piped. Throws one sentence, without it, for what can't be one. */
export function parseToken(text: string): string {
  const token = text.trim();
  if (TOKEN.test(token)) return token;
  throw new AppError(
    "invalid_request",
    token === "" ? "no token was given" : "what was given is no token: it has spaces or lines",
  );
}
