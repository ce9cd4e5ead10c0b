import type { UserId } from "../../shared/ids.ts";
import { layerOf, projectDocument, projectOf } from "../../shared/replica/document/address.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type {
  DocumentRequest,
  ExchangeAnswer,
  ExchangeRequest,
} from "../../shared/wire/exchange.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { documentsOf, NOT_FOUND, type SyncUnit } from "../budget/sync-units.ts";
import { ALL_LAST_WORDS, lastWordsSeq } from "../home/last-words.ts";
import { openBound } from "../home/open-bound.ts";
import { type Outgoing, outgoingOf } from "../home/outgoing.ts";
import { isPlain, NOT_CONTACTED, readPosition, type SyncPosition } from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import { leavePlain, lookAtFilesOfAbsent, noteMissing } from "../plain/document-state.ts";
import type { RoundOptions } from "../service/round-options.ts";
import type { Outcome } from "../service/service.ts";
import { applyAnswer } from "./incoming.ts";
import {
  hasRetryBatch,
  type RefusedDocument,
  recoverRefused,
  restoreRetryBatch,
} from "./recovery.ts";
import { exchangeWithSessions } from "./session-sending.ts";

type Context = WriteContext<DaemonTables>;

/** The content of a call about one unit; with a project perhaps `user` and `global` as well. */
export interface SinglePlan {
  readonly unit: SyncUnit;
  readonly withOwn: boolean;
}

/** The result of a call. `again`: units with more to exchange at once. */
export interface RoundResult {
  readonly again: ReadonlySet<SyncUnit>;
  /** Units with more to exchange that can wait for their turn. */
  readonly later?: ReadonlySet<SyncUnit>;
  /** Units that the call did not get to, in the order in which they go next. */
  readonly left?: ReadonlySet<SyncUnit>;
  /** Units that were refused, each with its refusal. */
  readonly refused?: ReadonlyMap<SyncUnit, RefusedCall>;
}

/** A call that the service refused. */
export type RefusedCall = Extract<Outcome<never>, { readonly kind: "refused" }>;

/** The status for an invalid token. */
const UNAUTHORIZED = 401;

/** Whether the service refused the token, and so every call. */
export function isTokenRefused(
  outcome: Outcome<unknown>,
): outcome is RefusedCall & { readonly status: typeof UNAUTHORIZED } {
  return outcome.kind === "refused" && outcome.status === UNAUTHORIZED;
}

/**
 * One call. Its content is prepared, and its answer applied, in transactions. `plain`: the service
 * has no exchange, and nothing was applied.
 */
export async function exchangeRound(
  options: RoundOptions,
  plan: SinglePlan,
): Promise<Outcome<RoundResult | "plain">> {
  const { store, service, projects } = options;
  const { unit } = plan;
  const names = namesIn(plan, options.user);
  let sent = await store.write((context) => prepare(context, options, names));
  if (unit !== "own" && !sent.has("project")) return notBound(plan);
  const project = unit === "own" ? null : unit;
  let outcome = await exchangeWithSessions(options, project, documentsToSend(sent));
  if (project !== null && outcome.kind === "refused" && outcome.status === NOT_FOUND) {
    const address = projectDocument(options.account, project);
    const isOurs = await store.write((context) => noteMissing(context, service.name, address));
    if (!isOurs) return notBound(plan);
    const isSilent = options.isLinked?.(project) === false && sent.get("project")?.throughSeq === 0;
    if (isSilent) return notBound(plan);
    await lookAtFilesOfAbsent(options, project);
    const created = await service.createProject(project, projects().get(project) ?? project);
    if (created.kind !== "answered") return created;
    sent = await store.write((context) => prepare(context, options, names));
    if (!sent.has("project")) return notBound(plan);
    outcome = await exchangeWithSessions(options, project, documentsToSend(sent));
  }
  if (outcome.kind !== "answered") return outcome;
  const answer = outcome.value;
  if (answer === "plain") return { kind: "answered", value: "plain" };
  const unfinished = await store.write((context) =>
    applyAnswers(context, options, { names, sent, answer }),
  );
  tellSent(options, names, { sent, answer });
  for (const refusal of refusedAmong(names, sent, answer)) {
    const recovered = await recoverRefused(options, refusal);
    if (recovered.kind !== "answered") return recovered;
    if (recovered.value) unfinished.push(refusal.name);
  }
  const again = new Set(unfinished.map((name): SyncUnit => projectOf(name) ?? "own"));
  return { kind: "answered", value: { again } };
}

/** What a call asks about each document, and sends of it. */
export function documentsToSend(sent: SentDocuments): ExchangeRequest["documents"] {
  const documents: { [layer in Layer]?: DocumentRequest } = {};
  for (const [layer, { request }] of sent) documents[layer] = request;
  return documents;
}

/** Nothing is exchanged about a project that is bound to another account; `own` waits. */
function notBound({ withOwn }: SinglePlan): Outcome<RoundResult> {
  const later = new Set<SyncUnit>(withOwn ? ["own"] : []);
  return { kind: "answered", value: { again: new Set(), later } };
}

function namesIn({ unit, withOwn }: SinglePlan, user: UserId): string[] {
  const own = withOwn && unit !== "own" ? documentsOf("own", user) : [];
  return [...documentsOf(unit, user), ...own];
}

/** What a call sends of a unit's documents. */
export type SentDocuments = ReadonlyMap<Layer, Outgoing>;

/** Collects what to send of documents. Leaves out projects of another account. */
export async function prepare(
  context: Context,
  options: RoundOptions,
  names: readonly string[],
): Promise<SentDocuments> {
  const { service } = options;
  const sent = new Map<Layer, Outgoing>();
  for (const name of names) {
    const open = await openBound(context, options, name);
    if (!open) continue;
    const position = await readPosition(context.db, service.name, open.id);
    const known = isPlain(position) ? NOT_CONTACTED : position;
    if (known.remote) await restoreRetryBatch(context, open);
    const untilSeq = await untilSeqOf(context, options, { name, id: open.id, position: known });
    const outgoing = await outgoingOf(context.db, open, { ...known, ...untilSeq });
    sent.set(layerOf(name), outgoing);
  }
  return sent;
}

/** The row through which a project without a link is sent; none: all of the document is. */
async function untilSeqOf(
  { db }: Context,
  { isLinked = () => true }: RoundOptions,
  {
    name,
    id,
    position: { ackedSeq },
  }: { readonly name: string; readonly id: number; readonly position: SyncPosition },
): Promise<{ readonly untilSeq?: number }> {
  const project = projectOf(name);
  if (project === undefined || isLinked(project)) return {};
  const last = await lastWordsSeq(db, id, { ackedSeq, words: ALL_LAST_WORDS });
  return { untilSeq: last ?? ackedSeq };
}

/** Applies an answer about documents. Resolves to those with more to exchange. */
export async function applyAnswers(
  context: Context,
  options: RoundOptions,
  {
    names,
    sent,
    answer,
  }: {
    readonly names: readonly string[];
    readonly sent: SentDocuments;
    readonly answer: ExchangeAnswer;
  },
): Promise<string[]> {
  const { service } = options;
  const unfinished: string[] = [];
  for (const name of names) {
    const outgoing = sent.get(layerOf(name));
    const document = answer.documents[layerOf(name)];
    if (!outgoing || !document) continue;
    const open = await openBound(context, options, name);
    if (!open) continue;
    await leavePlain(context.db, service.name, open.id);
    const taken = await applyAnswer(context, service.name, {
      open,
      sent: outgoing,
      answer: document,
    });
    const { refused } = await readPosition(context.db, service.name, open.id);
    const hasMore = taken.again || (refused === undefined && (await hasRetryBatch(context, open)));
    if (hasMore) unfinished.push(name);
  }
  return unfinished;
}

/** Reports what was sent as taken, unless the service refused it. */
export function tellSent(
  { onSent }: RoundOptions,
  names: readonly string[],
  { sent, answer }: { readonly sent: SentDocuments; readonly answer: ExchangeAnswer },
): void {
  for (const name of names) {
    const update = sent.get(layerOf(name))?.request.update;
    const document = answer.documents[layerOf(name)];
    const isTaken = document && "seq" in document && !document.reset && !document.missing;
    if (update && isTaken) onSent?.(name, update.length);
  }
}

/** The documents whose updates the service refused. */
export function refusedAmong(
  names: readonly string[],
  sent: SentDocuments,
  answer: ExchangeAnswer,
): RefusedDocument[] {
  return names.flatMap((name) => {
    const document = answer.documents[layerOf(name)];
    if (!document || !("refused" in document)) return [];
    const { update } = sent.get(layerOf(name))?.request ?? {};
    return update ? { name, message: document.refused.message } : [];
  });
}
