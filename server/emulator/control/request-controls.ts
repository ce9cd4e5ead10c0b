import { timestampOf } from "../../../shared/timestamps.ts";
import { pathMatches } from "../faults/fault-paths.ts";
import type { ServedRoute } from "../interface/emulator.ts";
import type { OfToken } from "../interface/of-token.ts";
import type {
  EmulatorRequests,
  EmulatorViolations,
  RequestFilter,
  RequestList,
  SeenRequest,
  Violation,
} from "../interface/requests.ts";
import { inspectEntries, parsedBody, type Wrong } from "../journal/inspect.ts";
import type { Journal, RequestEntry } from "../journal/journal.ts";
import { redactedHeaders, redactedText, redactedToken } from "../journal/redact.ts";
import type { EmulatorAccounts } from "../state/emulator-accounts.ts";
import { parseTime } from "../time/parse-time.ts";

/** What the journal's controls stand on. */
export interface SeenParts {
  readonly journal: Journal;
  readonly accounts: EmulatorAccounts;
  readonly strict: boolean;
  routes(): readonly ServedRoute[];
}

const WAIT_MS = 5000;

/** How many of what came instead are named. */
const SHOWN_MAX = 10;

/** What came, and how to wait for it. */
export function createRequestControls(
  parts: SeenParts,
): EmulatorRequests & { wait: (filter: WaitFilter) => Promise<RequestList> } {
  const { journal } = parts;
  const wait = async (filter: WaitFilter): Promise<RequestList> => {
    const matches = matching(parts, filter);
    const found = await journal.wait(matches, { count: filter.count, timeoutMs: filter.timeoutMs });
    const dropped = journal.dropped(accountOf(parts, filter));
    return { requests: await shown(parts, filter, found), dropped };
  };
  return {
    wait,
    list: (filter = {}) => wait({ ...filter, count: 0, timeoutMs: 0 }),
    async waitFor({ count = 1, timeoutMs = WAIT_MS, ...filter } = {}) {
      const { requests } = await wait({ ...filter, count, timeoutMs });
      if (requests.length >= count) return requests;
      const { token } = filter;
      const { requests: all } = await wait({ token, count: 0, timeoutMs: 0 });
      throw new Error(
        `${requests.length} of ${count} requests came within ${timeoutMs} ms that match ` +
          `${JSON.stringify(filter)}; there were: ${all.slice(-SHOWN_MAX).map(line).join(", ") || "none"}`,
      );
    },
    clear: (of = {}) => journal.clear(accountOf(parts, of)),
  };
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
      throw new Error(`the emulator saw ${found.length} violations:\n${lines.join("\n")}`);
    },
  };
}

/** A filter with how many are waited for, and how long. */
export interface WaitFilter extends RequestFilter {
  readonly count: number;
  readonly timeoutMs: number;
}

function accountOf({ accounts }: SeenParts, { token }: OfToken) {
  return token === undefined ? undefined : accounts.get(token).account;
}

function matching(parts: SeenParts, filter: RequestFilter): (entry: RequestEntry) => boolean {
  const { method, path, status } = filter;
  const account = accountOf(parts, filter);
  const since = filter.since === undefined ? undefined : parseTime(filter.since, "since");
  return (entry) =>
    (account === undefined || entry.account === account) &&
    (method === undefined || entry.method === method.toUpperCase()) &&
    (path === undefined || pathMatches(path, entry.path)) &&
    (status === undefined || entry.status === status) &&
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
  const { strict } = parts;
  const rules = { operations, strict, routes: parts.routes() };
  const all = parts.journal.find(matching(parts, { token }));
  const wrongs = inspectEntries(all, rules);
  return entries.map((entry) => seenRequest(entry, wrongs.get(entry) ?? []));
}

function seenRequest(entry: RequestEntry, wrongs: readonly Wrong[]): SeenRequest {
  const { receivedAt, method, path, query, token, headers } = entry;
  const { body, bodyBytes, finishedAt, status, aborted, refusal, injected } = entry;
  const id = entry.requestId ?? `seen-${entry.serial}`;
  const at = timestampOf(receivedAt);
  const violations: Violation[] = wrongs.map((each) => ({ ...each, requestId: id, at }));
  const refused = refusal === undefined ? undefined : parsed(refusal);
  const why = wrongs.find(({ rule }) => rule === "unmatched")?.text ?? messageIn(refused);
  return {
    ...{ id, receivedAt: at, method, path, query: redactedText(query) },
    token: token === undefined ? null : redactedToken(token),
    headers: redactedHeaders(headers),
    ...(body && { body: shownBody(entry, body), bytes: bodyBytes }),
    ...(body && body.length < bodyBytes && { truncated: true }),
    ...(finishedAt !== undefined && { finishedAt: timestampOf(finishedAt) }),
    ...(status !== undefined && { status }),
    ...(aborted && { aborted: true }),
    ...(refused !== undefined && { responseBody: refused }),
    ...(why !== undefined && { why }),
    ...(injected !== undefined && { injected }),
    ...(violations.length > 0 && { violations }),
  };
}

function shownBody(entry: RequestEntry, body: Uint8Array): unknown {
  const text = redactedText(new TextDecoder().decode(body));
  return parsedBody(entry) === undefined ? text : parsed(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function messageIn(refusal: unknown): string | undefined {
  const { error } = (typeof refusal === "object" && refusal !== null ? refusal : {}) as {
    readonly error?: { readonly message?: unknown };
  };
  return typeof error?.message === "string" ? error.message : undefined;
}

function line({ method, path, status, aborted }: SeenRequest): string {
  return `${method} ${path} ${aborted ? "aborted" : (status ?? "unanswered")}`;
}
