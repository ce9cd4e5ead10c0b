/** A header whose name has one of these in it is taken for a secret. */
const SECRET_HEADERS = /token|secret|key|auth|passw|cookie|credential/;

/** Headers whose names look secret, but are not; tests look at them. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set([
  "idempotency-key",
  "proxy-authenticate",
  "sec-websocket-key",
  "www-authenticate",
]);

/** A token of the service, anywhere in a text. The fixed tokens do not look like this. */
const TOKEN = /mst_[0-9A-Za-z]{8,}/g;
const FIXED = /^mst_dev_[0-9A-Za-z_-]{1,64}$/;

/** The beginning and end of a shorter text would give too much of it away. */
const SHOWN_LENGTH_MIN = 24;

/** Enough of a token to tell it from others. */
export function redactedToken(token: string): string {
  if (FIXED.test(token)) return token;
  const end = token.length < SHOWN_LENGTH_MIN ? "" : token.slice(-4);
  return `${token.startsWith("mst_") ? "mst_" : ""}…${end}`;
}

/** No client nests values deeper. A bound keeps the answer to whoever looks on quick. */
const DEPTH_MAX = 200;

/** A value of JSON without the tokens in any of its texts, names of fields among them. */
export function redacted<T>(value: T): T {
  // It has the shape of before. A text stays a text.
  return walked(value, 0) as T;
}

function walked(value: unknown, depth: number): unknown {
  if (typeof value === "string") return redactedText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEPTH_MAX) return "…";
  if (Array.isArray(value)) return value.map((each) => walked(each, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [redactedText(name), walked(each, depth + 1)]),
  );
}

/** A text without the tokens in it, in whichever of the usual ways they are written there. */
export function redactedText(text: string): string {
  const plain = unescaped(text);
  // What has no token in it is told as it came.
  const shown = plain.search(TOKEN) === -1 ? text : plain;
  return shown.replaceAll(TOKEN, redactedToken).replaceAll(ENCODED, (run, ...marks) => {
    const at = marks.findIndex((mark) => mark !== undefined);
    const decoded = Buffer.from(`${BEFORE[at]}${run}`, "base64").toString("latin1");
    return decoded.search(TOKEN) === -1 ? run : "[redacted]";
  });
}

/** `mst_` in base64, by how many bytes of a group of three are before it. */
const ENCODED = /(?:(bXN0X)|(1zdF)|(tc3Rf))[0-9A-Za-z+/_-]{10,}={0,2}/g;

/** What makes whole groups of it again. */
const BEFORE = ["", "AG", "AAB"] as const;

/** `%6d` of an address and `\u006d` of a body that is not known whole; each perhaps twice. */
const ESCAPED = /%(?:25)*([0-7][0-9A-Fa-f])|\\u00([0-7][0-9A-Fa-f])/g;

function unescaped(text: string): string {
  return text.replaceAll(ESCAPED, (escaped, percent, unicode) => {
    const character = String.fromCharCode(Number.parseInt(percent ?? unicode, 16));
    return /[0-9A-Za-z_]/.test(character) ? character : escaped;
  });
}

/** Headers without what nobody should find in a log, tokens within a value apart. */
export function redactedHeaders(headers: Headers): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (name === "authorization") shown[name] = redactedAuthorization(value);
    else shown[name] = isSecret(name) ? "[redacted]" : value;
  }
  return shown;
}

function isSecret(header: string): boolean {
  return SECRET_HEADERS.test(header) && !PLAIN_HEADERS.has(header);
}

function redactedAuthorization(value: string): string {
  const [scheme = "", token = ""] = value.split(/ +/, 2);
  const isOurs = scheme.toLowerCase() === "bearer" && token.startsWith("mst_");
  return isOurs ? `${scheme} ${redactedToken(token)}` : `${scheme} [redacted]`;
}
