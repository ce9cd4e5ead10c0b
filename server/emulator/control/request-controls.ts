import { count } from "../../../shared/count.ts";
import type { AccountId } from "../../../shared/ids.ts";
import { pathMatches } from "../faults/fault-paths.ts";
import type { ServedRoute } from "../interface/emulator.ts";
import type { OfToken } from "../interface/of-token.ts";
import type {
  EmulatorRequests,
  EmulatorViolations,
  RequestFilter,
  RequestList,
  SeenRequest,
} from "../interface/requests.ts";
import { inspectEntries } from "../journal/inspect.ts";
import type { Journal, RequestEntry } from "../journal/journal.ts";
import type { Recording } from "../journal/recording.ts";
import { redactedText } from "../journal/redact.ts";
import { seenRequest } from "../journal/seen-request.ts";
import type { EmulatorAccounts } from "../state/emulator-accounts.ts";
import { parseTime } from "../time/parse-time.ts";

/** What the journal's controls stand on. */
export interface SeenParts {
  readonly journal: Journal;
  readonly accounts: EmulatorAccounts;
  readonly strict: boolean;
  readonly publishedOnly: boolean;
  readonly recording: Pick<Recording, "forgetWaits">;
  routes(): readonly ServedRoute[];
}

/** The error for a call after the emulator's end, and for one that still waits then. */
export const EMULATOR_CLOSED = "the emulator is closed";

const WAIT_MS = 5000;

/**
 * The error of a wait that ends in vain names at most this many of the requests that came instead.
 */
const SHOWN_MAX = 10;

/** What came, and how to wait for it. */
export function createRequestControls(parts: SeenParts): EmulatorRequests {
  const { journal } = parts;
  const list = async (filter: RequestFilter = {}): Promise<RequestList> => {
    const found = journal.find(matching(parts, filter));
    const dropped = journal.dropped(accountOf(parts, filter));
    return { requests: await shown(parts, filter, found), dropped };
  };
  return {
    list,
    async waitFor({ count = 1, timeoutMs = WAIT_MS, ...filter } = {}) {
      const matches = matching(parts, filter);
      const came = () => journal.find(matches);
      const whole = () => came().filter(isWhole);
      const areEnough = (entries: readonly RequestEntry[]) => counted(entries, filter) >= count;
      await journal.wait(() => areEnough(whole()), timeoutMs);
      // A request whose body never ends has come all the same, so it counts once time is up.
      const found = areEnough(whole()) ? whole() : came();
      if (areEnough(found)) return await shown(parts, filter, found);
      if (journal.isClosed) throw new Error(EMULATOR_CLOSED);
      const { requests: all } = await list({ token: filter.token });
      const there = all.slice(-SHOWN_MAX).map(line).join(", ") || "none";
      const what = filter.frame === undefined ? "requests" : "frames";
      throw new Error(
        `${counted(came(), filter)} of ${count} ${what} came within ${timeoutMs} ms that match ` +
          `${redactedText(JSON.stringify(filter))}; there were: ${there}`,
      );
    },
    async changes({ after = "", timeoutMs = WAIT_MS, ...filter } = {}) {
      const matches = matching(parts, filter);
      const [id, count] = after.split(".");
      // Another emulator's answer, or none, says nothing about this journal.
      const from = (id === journal.id && Number(count)) || 0;
      if (from > 0) await journal.wait(() => journal.changes > from, timeoutMs);
      const whole = from === 0 || journal.clearedAt > from;
      const next = `${journal.id}.${journal.changes}`;
      const found = journal.find(matches).filter(({ changedAt }) => whole || changedAt > from);
      const dropped = journal.dropped(accountOf(parts, filter));
      const requests = await shown(parts, filter, found);
      return { requests, dropped, next, ...(whole && { whole }) };
    },
    clear: (of = {}) => clearRequests(parts, accountOf(parts, of)),
  };
}

/**
 * Forgets requests, and what their answers told clients to wait for: no later request is judged by
 * an answer that is in no list any more.
 */
export function clearRequests(
  { journal, recording }: Pick<SeenParts, "journal" | "recording">,
  account: AccountId | undefined,
): number {
  recording.forgetWaits(account);
  return journal.clear(account);
}

/** What clients did that they should not. */
export function createViolationControls(parts: SeenParts): EmulatorViolations {
  const list = async (of: OfToken = {}) => {
    const entries = parts.journal.find(matching(parts, of));
    const seen = await shown(parts, of, entries);
    return seen.flatMap(({ violations = [] }) => violations);
  };
  return {
    list,
    async assertNone(of) {
      const found = await list(of);
      if (found.length === 0) return;
      const lines = found.map(({ rule, text, requestId }) => `${rule}: ${text} (${requestId})`);
      const many = count(found.length, "violation", "violations");
      throw new Error(`the emulator saw ${many}:\n${lines.join("\n")}`);
    },
  };
}

/** Whether its body is there, if it has one that was read. */
function isWhole({ hasBody, body, finishedAt, aborted }: RequestEntry): boolean {
  return !hasBody || body !== undefined || finishedAt !== undefined || aborted;
}

/** How many requests these are, or frames of the type that is asked for. */
function counted(entries: readonly RequestEntry[], { frame }: RequestFilter): number {
  if (frame === undefined) return entries.length;
  const frames = entries.flatMap(({ socket }) => socket?.frames ?? []);
  return frames.filter(({ type }) => type === frame).length;
}

function accountOf({ accounts }: SeenParts, { token }: OfToken) {
  return token === undefined ? undefined : accounts.get(token).account;
}

function matching(parts: SeenParts, filter: RequestFilter): (entry: RequestEntry) => boolean {
  const { method, path, status, frame, closeCode } = filter;
  const account = accountOf(parts, filter);
  const since = filter.since === undefined ? undefined : parseTime(filter.since, "since");
  return (entry) =>
    (account === undefined || entry.account === account) &&
    (method === undefined || entry.method === method.toUpperCase()) &&
    (path === undefined || pathMatches(path, entry.path)) &&
    (status === undefined || entry.status === status) &&
    (frame === undefined || entry.socket?.frames.some(({ type }) => type === frame) === true) &&
    (closeCode === undefined || entry.socket?.closed?.code === closeCode) &&
    (since === undefined || entry.receivedAt >= since);
}

async function shown(
  parts: SeenParts,
  { token }: OfToken,
  entries: readonly RequestEntry[],
): Promise<SeenRequest[]> {
  if (entries.length === 0) return [];
  // Loaded here alone: most emulators are never asked, and it would cost each start something.
  const { OPERATIONS: operations } = await import("../../openapi/document.ts");
  const { strict, publishedOnly } = parts;
  const rules = { operations, strict, publishedOnly, routes: parts.routes() };
  const all = parts.journal.find(matching(parts, { token }));
  const wrongs = inspectEntries(all, rules);
  return entries.map((entry) => seenRequest(entry, wrongs.get(entry) ?? []));
}

function line({ method, path, status, aborted }: SeenRequest): string {
  return `${method} ${path} ${aborted ? "aborted" : (status ?? "unanswered")}`;
}
