import { isObject } from "../../../shared/json.ts";
import { timestampOf } from "../../../shared/timestamps.ts";
import type { SeenFrame, SeenRequest, Violation } from "../interface/requests.ts";
import { parsedBody, type Wrong } from "./inspect.ts";
import type { FrameEntry, RequestEntry, SocketEntry } from "./journal.ts";
import { redacted, redactedHeaders, redactedToken } from "./redact.ts";

/** An entry as it is told, without secrets. */
export function seenRequest(entry: RequestEntry, wrongs: readonly Wrong[]): SeenRequest {
  const { receivedAt, method, path, query, token, headers } = entry;
  const { body, bodyBytes, finishedAt, status, aborted, refusal, injected, socket } = entry;
  const { responseHeaders: answered } = entry;
  const id = entry.requestId ?? `seen-${entry.serial}`;
  const at = timestampOf(receivedAt);
  const violations: Violation[] = wrongs.map((each) => ({ ...each, requestId: id, at }));
  const refused = refusal === undefined ? undefined : parsed(refusal);
  const why = wrongs.find(({ rule }) => rule === "unmatched")?.text ?? messageIn(refused);
  // The whole entry is redacted in one place, so that no part of it is forgotten.
  return redacted({
    ...{ serial: entry.serial, id, receivedAt: at, method, path, query },
    token: token === undefined ? null : redactedToken(token),
    headers: redactedHeaders(headers),
    ...(body && { body: shownBody(entry, body), bytes: bodyBytes }),
    ...(body && body.length < bodyBytes && { truncated: true }),
    ...(finishedAt !== undefined && { finishedAt: timestampOf(finishedAt) }),
    ...(status !== undefined && { status }),
    ...(aborted && { aborted: true }),
    ...(answered && { responseHeaders: redactedHeaders(answered) }),
    ...(refused !== undefined && { responseBody: refused }),
    ...(why !== undefined && { why }),
    ...(injected !== undefined && { injected }),
    ...(violations.length > 0 && { violations }),
    ...(socket && seenSocket(socket)),
  });
}

function seenSocket({ frames, framesDropped, closed }: SocketEntry) {
  return {
    frames: frames.map(seenFrame),
    ...(framesDropped > 0 && { framesDropped }),
    ...(closed && { closed: { ...closed, at: timestampOf(closed.at) } }),
  };
}

function seenFrame({ from, at, text, bytes }: FrameEntry): SeenFrame {
  const isWhole = text !== undefined && Buffer.byteLength(text) === bytes;
  return {
    from,
    at: timestampOf(at),
    ...(text !== undefined && { body: isWhole ? parsed(text) : text }),
    bytes,
    ...(text !== undefined && !isWhole && { truncated: true }),
  };
}

function shownBody(entry: RequestEntry, body: Uint8Array): unknown {
  const value = parsedBody(entry);
  return value === undefined ? new TextDecoder().decode(body) : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function messageIn(refusal: unknown): string | undefined {
  const { error } = isObject(refusal) ? refusal : {};
  const { message } = isObject(error) ? error : {};
  return typeof message === "string" ? message : undefined;
}
