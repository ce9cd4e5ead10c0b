const SECRET_HEADERS = /^(cookie|set-cookie|proxy-authorization|x-api-key)$/;
const TOKEN = /\bmst_[0-9A-Za-z]{8,}\b/g;
const FIXED = /^mst_dev_[0-9A-Za-z_-]{1,64}$/;

/** Enough of a token to tell it from others. */
export function redactedToken(token: string): string {
  return FIXED.test(token) ? token : `${token.slice(0, 4)}…${token.slice(-4)}`;
}

/** A text without the tokens in it. */
export function redactedText(text: string): string {
  return text.replaceAll(TOKEN, redactedToken);
}

/** Headers without what nobody should find in a log. */
export function redactedHeaders(headers: Headers): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (name === "authorization") shown[name] = redactedAuthorization(value);
    else shown[name] = SECRET_HEADERS.test(name) ? "[redacted]" : redactedText(value);
  }
  return shown;
}

function redactedAuthorization(value: string): string {
  const [scheme = "", token = ""] = value.split(/ +/, 2);
  const isOurs = scheme.toLowerCase() === "bearer" && token.startsWith("mst_");
  return isOurs ? `${scheme} ${redactedToken(token)}` : `${scheme} [redacted]`;
}
