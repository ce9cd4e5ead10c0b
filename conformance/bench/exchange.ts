/** Who a request claims to come from. */
export type Sender = "token" | "nobody" | "stranger" | "basic" | "reader" | "another";

/** One request of the suite and what came back. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** The request's body as it was sent; undefined for none. */
  readonly sent: string | undefined;
  readonly sender: Sender;
  readonly status: number;
  readonly contentType: string | null;
  readonly headers: Headers;
  readonly text: string;
  /** The answer's body; undefined where it is not JSON. */
  readonly json: unknown;
}

/** Characters of a body that a report shows. */
const SHOWN = 600;

const SENDERS: Readonly<Record<Sender, string>> = {
  token: "",
  nobody: " (without a token)",
  stranger: " (with a token that nobody has)",
  basic: " (with the token under the scheme Basic)",
  reader: " (with the read-only token)",
  another: " (with the other account's token)",
};

/** The request in one line, without any token. */
export function requestLine({ method, path, sent, sender }: Exchange): string {
  const body = sent === undefined ? "" : ` ${cut(sent)}`;
  return `${method} ${path}${body}${SENDERS[sender]}`;
}

/** The answer in one line. */
export function answerLine({ status, contentType, text }: Exchange): string {
  const type = contentType === null ? "" : ` ${contentType}`;
  return `${status}${type}${text === "" ? ", no body" : ` ${cut(text)}`}`;
}

function cut(text: string): string {
  const line = text.replaceAll("\n", "\\n");
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
