import { ERROR_STATUS } from "../../shared/errors.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { LIMITS } from "../../shared/limits.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import type { BatchAnswer, PartAnswer, ProjectPart } from "../../shared/wire/batch.ts";
import type { DocumentRequest } from "../../shared/wire/exchange.ts";
import { documentsOf, type SyncUnit } from "../budget/sync-units.ts";
import { failureBy } from "../service/failure.ts";
import type { RoundOptions } from "../service/round-options.ts";
import type { Outcome } from "../service/service.ts";
import { askingWhole, type RefusedDocument, recoverFrom } from "./recovery.ts";
import {
  applyAnswers,
  documentsToSend,
  prepare,
  type RefusedCall,
  type RoundResult,
  refusedAmong,
  type SentDocuments,
  tellSent,
} from "./round.ts";

/** The state of a batch. */
interface Progress {
  readonly again: Set<SyncUnit>;
  readonly left: Set<SyncUnit>;
  readonly refused: Map<SyncUnit, RefusedCall>;
  /** Updates that the service refused. */
  readonly refusals: RefusedDocument[];
}

/**
 * One call about several units. Each unit is prepared, and its answer applied, in a transaction of
 * its own, with other work in between: a failure of one touches no other. `unknown`: the service
 * has no such call, and nothing was applied.
 */
export async function batchRound(
  options: RoundOptions,
  units: readonly SyncUnit[],
): Promise<Outcome<RoundResult | "unknown">> {
  const { service } = options;
  const progress: Progress = {
    again: new Set(),
    left: new Set(),
    refused: new Map(),
    refusals: [],
  };
  const parts = await prepareEach(options, units, progress);
  const [first] = units;
  if (first !== undefined && !parts.has(first)) {
    // The others only came along. Without the unit for which the call was due they have their time.
    for (const unit of parts.keys()) progress.left.add(unit);
    return { kind: "answered", value: progress };
  }
  if (parts.size === 0 || !service.exchangeBatch) return { kind: "answered", value: progress };
  const outcome = await service.exchangeBatch(requestOf(options, parts));
  if (outcome.kind !== "answered") return outcome;
  if (outcome.value === "unknown") return { kind: "answered", value: "unknown" };
  await applyEach(options, parts, { answer: outcome.value, progress });
  const recovered = await recoverEach(options, progress);
  return recovered.kind === "answered" ? { kind: "answered", value: progress } : recovered;
}

/** Prepares as many units as fit into a call. Throws only if no unit could be prepared. */
async function prepareEach(
  options: RoundOptions,
  units: readonly SyncUnit[],
  { left, refused }: Progress,
): Promise<ReadonlyMap<SyncUnit, SentDocuments>> {
  const { store, user } = options;
  const parts = new Map<SyncUnit, SentDocuments>();
  let bytes = 0;
  let problem: unknown;
  for (const unit of units) {
    if (bytes >= LIMITS.exchangePartBytes) {
      left.add(unit);
      continue;
    }
    try {
      const names = documentsOf(unit, user);
      const sent = await store.write((context) => prepare(context, options, names));
      // Nothing is sent of a project that was bound to another remote meanwhile.
      if (sent.size > 0) parts.set(unit, sent);
      for (const { request } of sent.values()) bytes += bytesOf(request);
    } catch (thrown) {
      problem ??= thrown;
      refused.set(unit, failedHere(thrown));
    }
  }
  if (parts.size === 0 && problem !== undefined) throw problem;
  return parts;
}

function bytesOf({ update, stateVector }: DocumentRequest): number {
  return (update?.length ?? 0) + (stateVector?.length ?? 0);
}

/** The disk or this program failed with one unit. */
function failedHere(thrown: unknown): RefusedCall {
  const why = failureBy({ code: "call-failed-here", said: fileFailure(thrown) });
  return { kind: "refused", status: ERROR_STATUS.internal, ...why };
}

const PUT_OFF: RefusedCall = {
  kind: "refused",
  status: ERROR_STATUS.internal,
  ...failureBy({ code: "put-off" }),
};

function requestOf({ projects }: RoundOptions, parts: ReadonlyMap<SyncUnit, SentDocuments>) {
  const request = { documents: {}, projects: new Map<ProjectId, ProjectPart>() };
  for (const [unit, sent] of parts) {
    const documents = documentsToSend(sent);
    if (unit === "own") request.documents = documents;
    else request.projects.set(unit, { name: projects().get(unit) ?? unit, documents });
  }
  return request;
}

async function applyEach(
  options: RoundOptions,
  parts: ReadonlyMap<SyncUnit, SentDocuments>,
  { answer, progress }: { readonly answer: BatchAnswer; readonly progress: Progress },
): Promise<void> {
  // If a service puts every unit off, it would otherwise be asked again at once, for ever.
  const isStuck = [...answer.projects.values()].every(({ kind }) => kind === "later");
  for (const [unit, sent] of parts) {
    const part = partAbout(unit, answer);
    if (part.kind === "later" && isStuck) progress.refused.set(unit, PUT_OFF);
    else if (part.kind === "later") progress.left.add(unit);
    else if (part.kind === "refused") progress.refused.set(unit, { ...part, code: "part-refused" });
    else await applyPart(options, unit, { sent, answer: part.value, progress });
  }
}

function partAbout(unit: SyncUnit, { documents, projects }: BatchAnswer): PartAnswer {
  if (unit === "own") return { kind: "served", value: { documents } };
  return projects.get(unit) ?? { kind: "later" };
}

async function applyPart(
  options: RoundOptions,
  unit: SyncUnit,
  {
    sent,
    answer,
    progress: { again, refused, refusals },
  }: {
    readonly sent: SentDocuments;
    readonly answer: Extract<PartAnswer, { readonly kind: "served" }>["value"];
    readonly progress: Progress;
  },
): Promise<void> {
  const names = documentsOf(unit, options.user);
  try {
    const unfinished = await options.store.write((context) =>
      applyAnswers(context, options, { names, sent, answer }),
    );
    if (unfinished.length > 0) again.add(unit);
    tellSent(options, names, { sent, answer });
    refusals.push(...refusedAmong(names, sent, answer));
  } catch (thrown) {
    refused.set(unit, failedHere(thrown));
  }
}

/** Takes back all refused updates, with one more call. */
async function recoverEach(
  options: RoundOptions,
  { again, refusals }: Progress,
): Promise<Outcome<void>> {
  const done: Outcome<void> = { kind: "answered", value: undefined };
  const { service } = options;
  if (refusals.length === 0 || !service.exchangeBatch) return done;
  const names = refusals.map(({ name }) => name);
  const projects = names.flatMap((name): [ProjectId, ProjectPart][] => {
    const project = projectOf(name);
    return project ? [[project, { documents: askingWhole([name]) }]] : [];
  });
  const outcome = await service.exchangeBatch({
    documents: askingWhole(names.filter((name) => projectOf(name) === undefined)),
    projects: new Map(projects),
  });
  if (outcome.kind !== "answered") return outcome;
  if (outcome.value === "unknown") return done;
  for (const refusal of refusals) {
    const unit: SyncUnit = projectOf(refusal.name) ?? "own";
    const part = partAbout(unit, outcome.value);
    // A unit without an answer now is refused again by the next call, and asked about then.
    if (part.kind === "later") again.add(unit);
    if (part.kind !== "served") continue;
    if (await recoverFrom(options, refusal, part.value)) again.add(unit);
  }
  return done;
}
