// A round about one project with a service that has the published interface alone.
// `daemon/sync/` imports from this folder.

import type { ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { NOT_FOUND } from "../budget/sync-units.ts";
import { findBinding } from "../home/remote-store.ts";
import { failureBy } from "../service/failure.ts";
import type { Outcome } from "../service/service.ts";
import { applyProject } from "./apply-project.ts";
import { deleteMemories } from "./delete-memories.ts";
import { lookAtFilesOfAbsent, noteMissing, writeKept } from "./document-state.ts";
import type { PlainOptions } from "./plain-options.ts";
import { dropItem, putItem, putRefused, readPlain, writePlainState } from "./plain-store.ts";
import { takenUnread } from "./plain-text.ts";
import { type ProjectReading, readProject } from "./reading.ts";
import { type SentItems, sendItems } from "./send-items.ts";
import { withAnswered } from "./sent-values.ts";

/** The result of a round. */
export interface PlainResult {
  /** Something was sent or is in doubt, so the service has to be read again. */
  readonly sent: boolean;
  /** The service showed more than the published interface has. */
  readonly showsMore: boolean;
}

/**
 * Syncs one project: reads and merges its state at the service, then sends what the service lacks.
 * Nothing counts as agreed before a later reading shows it.
 */
export async function projectRound(
  options: PlainOptions,
  project: ProjectId,
): Promise<Outcome<PlainResult>> {
  const { service, store } = options;
  if (await isElsewhere(options, project)) return { kind: "answered", value: NOTHING_SENT };
  const read = await readOrCreate(options, project);
  if (read === BOUND_ANEW) return { kind: "answered", value: NOTHING_SENT };
  if (read.kind !== "answered") return read;
  const reading = read.value;
  const { items, removals, doubted } = await store.write((context) =>
    applyProject(context, options, { project, reading }),
  );
  const path = `/api/projects/${project}/sync`;
  const { sent, failure } = await sendItems(items, async (body) => {
    if (await isElsewhere(options, project)) return BOUND_ANEW;
    return await service.request("POST", path, JSON.stringify(body));
  });
  await rememberSent(options, project, { reading, sentItems: sent });
  if (failure === BOUND_ANEW) return { kind: "answered", value: NOTHING_SENT };
  if (failure) return failure;
  const address = projectDocument(options.account, project);
  const deleted = await deleteMemories(options, address, removals);
  if (deleted.kind !== "answered") return deleted;
  const isSent = sent.taken.length + removals.length > 0;
  return { kind: "answered", value: { sent: isSent || doubted, showsMore: reading.showsMore } };
}

const NOTHING_SENT: PlainResult = { sent: false, showsMore: false };

/** The rest of a round is not sent once the project is bound to another account. */
const BOUND_ANEW: Outcome<never> = {
  kind: "unreachable",
  ...failureBy({ code: "bound-anew" }),
};

async function isElsewhere({ store, account }: PlainOptions, project: ProjectId): Promise<boolean> {
  const bound = await findBinding(store.reader, project);
  return bound !== undefined && bound !== account;
}

async function readOrCreate(
  options: PlainOptions,
  project: ProjectId,
): Promise<Outcome<ProjectReading>> {
  const { service, projects } = options;
  let outcome = await service.request("GET", `/api/projects/${project}`);
  if (outcome.kind === "refused" && outcome.status === NOT_FOUND) {
    const address = projectDocument(options.account, project);
    const { store } = options;
    const isOurs = await store.write((context) => noteMissing(context, service.name, address));
    if (!isOurs) return BOUND_ANEW;
    await lookAtFilesOfAbsent(options, project);
    const created = await service.createProject(project, projects().get(project) ?? project);
    if (created.kind !== "answered") return created;
    outcome = await service.request("GET", `/api/projects/${project}`);
  }
  if (outcome.kind !== "answered") return outcome;
  const reading = readProject(project, outcome.value);
  if (reading) return { kind: "answered", value: reading };
  return { kind: "unreachable", ...failureBy({ code: "answer-not-project" }) };
}

/** Stores what was refused, and what the service took that no reading will show. */
async function rememberSent(
  options: PlainOptions,
  project: ProjectId,
  {
    reading,
    sentItems: { taken, refused },
  }: { readonly reading: ProjectReading; readonly sentItems: SentItems },
): Promise<void> {
  if (taken.length + refused.length === 0) return;
  await writeKept(options.store, projectDocument(options.account, project), async (db, id) => {
    for (const each of refused) await putRefused(db, id, each);
    for (const { kind, key, value } of taken) {
      if (kind === "text" || reading[kind] !== undefined) continue;
      if (value === null) await dropItem(db, id, { kind, key });
      else
        await putItem(db, id, {
          kind,
          key,
          item: { value, id: null, createdAt: null, seen: false },
        });
    }
    const known = await readPlain(db, id);
    if (!known) return;
    const isTextTaken = taken.some(({ kind }) => kind === "text") && reading.text === undefined;
    const text = isTextTaken ? takenUnread(known.text) : known.text;
    const sent = withAnswered(known.sent, [...taken, ...refused]);
    await writePlainState(db, id, { known, next: { ...known, text, sent } });
  });
}
