import type { RequestEntry } from "./journal.ts";
import { knew } from "./known-ends.ts";
import { lookedUp, type Target, targetIn } from "./look-ups.ts";

/** A write that would be two if it were sent twice without its Idempotency-Key. */
export interface Write {
  /** Its Idempotency-Key, where that is read. */
  readonly once: string | undefined;
  /** Equal for each write that writes the same. */
  readonly same: string;
  readonly target: Target;
}

/** A write of which its client does not know whether it was done. */
interface Lost {
  readonly entry: RequestEntry;
  readonly write: Write;
}

/** How requests are read. */
interface Reading {
  readonly writeOf: (entry: RequestEntry) => Write | undefined;
  /** Whether nothing beyond the specification is read. */
  readonly publishedOnly: boolean;
}

/** Undefined for a request that writes nothing, or that writes the same when it is sent again. */
export function writeIn(
  { method, path, query, headers, token, body: bytes }: RequestEntry,
  body: unknown,
  { publishedOnly }: Pick<Reading, "publishedOnly">,
): Write | undefined {
  if (method !== "POST" || path !== "/v1/memories") return undefined;
  if (typeof body !== "object" || body === null || !bytes) return undefined;
  // An Idempotency-Key that the service does not read protects from nothing.
  if ("key" in body && !publishedOnly) return undefined;
  const read = (name: string) => (publishedOnly ? undefined : (headers.get(name) ?? undefined));
  // The header says in which project it is written.
  const project = read("x-project-id");
  const same = [token, project ?? "", query, new TextDecoder().decode(bytes)].join("\n");
  return { once: read("idempotency-key"), same, target: targetIn(body, project) };
}

/** Whether its client can't know if it was written. */
export function wasLost({ status, aborted, harm }: RequestEntry): boolean {
  if (aborted || status === undefined || status >= 500) return true;
  // Only a refusal is known by its status alone.
  return harm === "broken" && status < 400;
}

/**
 * Which of these requests sent a write again that may have been done, and how. `entries`: the
 * oldest first.
 */
export function repeatedWrites(
  entries: readonly RequestEntry[],
  reading: Reading,
): ReadonlyMap<RequestEntry, string> {
  const repeated = new Map<RequestEntry, string>();
  const lost = new Map<string, Lost[]>();
  const comesAgain = retried(entries, reading);
  for (const entry of entries) {
    const shows = lookedUp(entry, reading);
    if (shows) {
      for (const [written, each] of lost) lost.set(written, each.filter(unseenBy(entry, shows)));
    }
    const write = reading.writeOf(entry);
    if (!write) continue;
    const before = lost.get(write.same) ?? [];
    const again = before.filter((each) => isAgain({ entry, write }, each) && !comesAgain(each));
    if (again.length > 0) repeated.set(entry, textOf(write));
    if (!wasLost(entry)) {
      // This write was answered, so a later one that is equal is a new write.
      lost.set(
        write.same,
        before.filter((each) => !again.includes(each)),
      );
    } else if (!entry.isTakenBack) lost.set(write.same, [...before, { entry, write }]);
  }
  return repeated;
}

/** How long the answer to an Idempotency-Key is kept. No client repeats a write later than that. */
const KEY_KEPT_MS = 24 * 60 * 60 * 1000;

/** Under the same Idempotency-Key it is written once. */
function isAgain({ entry, write }: Lost, before: Lost): boolean {
  const isRecent = entry.receivedAt - before.entry.receivedAt < KEY_KEPT_MS;
  const isProtected = write.once !== undefined && write.once === before.write.once;
  return knew(entry, before.entry) && isRecent && !isProtected;
}

/**
 * Writes whose Idempotency-Key comes more than once. The client repeats these by their key, so no
 * other write is a repetition of one of them.
 */
function retried(
  entries: readonly RequestEntry[],
  { writeOf }: Reading,
): (written: Lost) => boolean {
  const counts = new Map<string, number>();
  const keyOf = ({ token }: RequestEntry, { once }: Write) => `${token}\n${once}`;
  for (const entry of entries) {
    const write = writeOf(entry);
    if (write?.once === undefined) continue;
    const key = keyOf(entry, write);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return ({ entry, write }) =>
    write.once !== undefined && (counts.get(keyOf(entry, write)) ?? 0) > 1;
}

/** Keeps the lost writes of which the reader has not been shown whether they were done. */
function unseenBy(reader: RequestEntry, shows: (written: Target) => boolean) {
  return ({ entry, write }: Lost): boolean =>
    entry.token !== reader.token || !knew(reader, entry) || !shows(write.target);
}

function textOf({ once }: Write): string {
  const how =
    once === undefined
      ? "without Idempotency-Key or a key of its own that is read here"
      : "under an Idempotency-Key that it did not have before";
  return `was sent again after no answer, or one that leaves open whether it was written, ${how}`;
}
