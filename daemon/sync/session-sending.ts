import type { ProjectId } from "../../shared/ids.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../shared/wire/exchange.ts";
import { forgetSentSessions, noteSentSessions, unsentSessions } from "../home/session-records.ts";
import type { RoundOptions } from "../service/round-options.ts";
import type { Outcome } from "../service/service.ts";

/** The status for a request that the service does not understand. */
const BAD_REQUEST = 400;

/**
 * One call about a project, with the records of its sessions that the service lacks. A service that
 * refuses them gets the documents without them: a record is never worth a word of a document.
 */
export async function exchangeWithSessions(
  options: RoundOptions,
  project: ProjectId | null,
  documents: ExchangeRequest["documents"],
): Promise<Outcome<ExchangeAnswer | "plain">> {
  const { service, store, account, sendsSessions = () => true } = options;
  if (project === null) return await service.exchange(project, { documents });
  const unsent = sendsSessions() ? await unsentSessions(store.reader, account, project) : [];
  const sessions = unsent.map(({ upload }) => upload);
  const outcome = await service.exchange(project, {
    documents,
    ...(sessions.length > 0 && { sessions }),
  });
  const isRefused =
    sessions.length > 0 && outcome.kind === "refused" && outcome.status === BAD_REQUEST;
  const answer = outcome.kind === "answered" && outcome.value !== "plain" && outcome.value;
  if (sessions.length > 0 && (answer || isRefused)) {
    await store.write(({ db }) => noteSentSessions(db, account, unsent));
  }
  if (answer && isSetBack(answer)) {
    await store.write(({ db }) => forgetSentSessions(db, account, project));
  }
  return isRefused ? await service.exchange(project, { documents }) : outcome;
}

/** The service may be one of before, and lack sessions that it has acknowledged. */
function isSetBack({ documents: { project } }: ExchangeAnswer): boolean {
  return project !== undefined && "seq" in project && (project.reset ?? project.missing ?? false);
}
