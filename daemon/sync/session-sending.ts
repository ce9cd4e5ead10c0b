import type { ProjectId } from "../../shared/ids.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../shared/wire/exchange.ts";
import { leavingSessions } from "../held/leaving-sessions.ts";
import {
  noteKeptSessions,
  noteRefusedSession,
  noteSentSessions,
  type UnsentSession,
} from "../home/session-records.ts";
import type { RoundOptions } from "../service/round-options.ts";
import type { Outcome } from "../service/service.ts";

/** Statuses for a request that the service does not understand, or that is too large for it. */
const NOT_TAKEN: readonly number[] = [400, 413, 422];

/** At most this many calls of a round find out which records a service refuses. */
const APART_CALLS_MAX = 24;

/**
 * One call about a project, with the records of its sessions that the service lacks. A service that
 * refuses them gets the documents without them, and then the records apart: a record is never worth
 * a word of a document, or another record.
 */
export async function exchangeWithSessions(
  options: RoundOptions,
  project: ProjectId | null,
  documents: ExchangeRequest["documents"],
): Promise<Outcome<ExchangeAnswer | "plain">> {
  const { service, store, account, isLinked = () => true } = options;
  if (project === null) return await service.exchange(project, { documents });
  const sendsSessions = () => isLinked(project) && (options.sendsSessions?.() ?? true);
  const { leaving: unsent, kept } = sendsSessions()
    ? await leavingSessions(store.reader, account, project)
    : { leaving: [], kept: [] };
  // None of those that stay takes the place of others at every call.
  if (kept.length > 0) await store.write(({ db }) => noteKeptSessions(db, account, kept));
  const together = await service.exchange(project, {
    documents,
    ...(unsent.length > 0 && { sessions: unsent.map(({ upload }) => upload) }),
  });
  const said = unsent.length > 0 ? refusalIn(together) : undefined;
  const outcome = said === undefined ? together : await service.exchange(project, { documents });
  if (outcome.kind !== "answered" || outcome.value === "plain") return outcome;
  if (said === undefined) await store.write(({ db }) => noteSentSessions(db, account, unsent));
  if (said !== undefined) await sendApart(options, project, { sessions: unsent, said });
  return outcome;
}

/** Records that a service would not take together, and what it said. */
interface Refused {
  readonly sessions: readonly UnsentSession[];
  readonly said: string;
}

/**
 * Halves what is refused until what is refused stands alone. What there are no calls left for waits
 * for the next round; but a service that took none of them by all these calls takes none at all.
 */
async function sendApart(
  { service, store, account }: RoundOptions,
  project: ProjectId,
  first: Refused,
): Promise<void> {
  const noteRefused = async ({ sessions, said }: Refused) =>
    await store.write(async ({ db }) => {
      for (const each of sessions)
        await noteRefusedSession(db, account, { ...each, refused: said });
    });
  const queue = [first];
  let calls = 0;
  let hasTaken = false;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (next.sessions.length === 1) await noteRefused(next);
    else if (calls >= APART_CALLS_MAX) {
      if (!hasTaken) await noteRefused(next);
    } else {
      for (const sessions of halvesOf(next.sessions)) {
        calls += 1;
        const uploads = sessions.map(({ upload }) => upload);
        const outcome = await service.exchange(project, { documents: {}, sessions: uploads });
        const said = refusalIn(outcome);
        if (said !== undefined) queue.push({ sessions, said });
        else if (outcome.kind !== "answered" || outcome.value === "plain") return;
        else {
          hasTaken = true;
          await store.write(({ db }) => noteSentSessions(db, account, sessions));
        }
      }
    }
  }
}

function halvesOf<Each>(list: readonly Each[]): [readonly Each[], readonly Each[]] {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
}

/** What the service said where the records may be why it refused the call; else undefined. */
function refusalIn(outcome: Outcome<unknown>): string | undefined {
  const mayBe = outcome.kind === "refused" && NOT_TAKEN.includes(outcome.status);
  return mayBe ? outcome.message : undefined;
}
