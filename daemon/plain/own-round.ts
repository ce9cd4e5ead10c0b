import type { DocumentAddress } from "../../shared/replica/document/address.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import { documentsOf } from "../budget/sync-units.ts";
import { failureBy } from "../service/failure.ts";
import type { Outcome } from "../service/service.ts";
import { applyOwn, type Creation } from "./apply-own.ts";
import { deleteMemories } from "./delete-memories.ts";
import { writeKept } from "./document-state.ts";
import { hasRoom, type PlainOptions } from "./plain-options.ts";
import {
  dropCreate,
  hashOfValue,
  journalCreate,
  journalDelete,
  putItem,
  putRefused,
} from "./plain-store.ts";
import type { PlainResult } from "./project-round.ts";
import { type OwnReading, readCreated, readOwn } from "./reading.ts";

/** Creations of one round. The others wait for the next. */
const CREATIONS_MAX = 20;

const BAD_REQUEST = 400;

const DONE: Outcome<void> = { kind: "answered", value: undefined };

/** Reads everything that the service shows of the layers `user` and `global`. */
export async function readOwnMemories({ service }: PlainOptions): Promise<Outcome<OwnReading>> {
  const outcome = await service.request("GET", "/v1/memories");
  if (outcome.kind !== "answered") return outcome;
  const reading = readOwn(outcome.value);
  if (reading) return { kind: "answered", value: reading };
  return { kind: "unreachable", ...failureBy({ code: "answer-not-memories" }) };
}

/** Syncs the layers `user` and `global` by variant A. */
export async function ownRound(options: PlainOptions): Promise<Outcome<PlainResult>> {
  const read = await readOwnMemories(options);
  if (read.kind !== "answered") return read;
  const reading = read.value;
  let sent = false;
  for (const name of documentsOf("own", options.user)) {
    const changes = await options.store.write((context) =>
      applyOwn(context, options, { name, reading }),
    );
    const address = { owner: options.account, name };
    const created = await createMemories(options, address, changes.creations);
    if (created.kind !== "answered") return created;
    const deleted = await deleteMemories(options, address, changes.removals);
    if (deleted.kind !== "answered") return deleted;
    sent ||= changes.creations.length + changes.removals.length > 0;
  }
  return { kind: "answered", value: { sent, showsMore: reading.showsMore } };
}

async function createMemories(
  options: PlainOptions,
  address: DocumentAddress,
  creations: readonly Creation[],
): Promise<Outcome<void>> {
  for (const [at, creation] of creations.slice(0, CREATIONS_MAX).entries()) {
    if (at > 0 && !hasRoom(options)) break;
    const outcome = await createMemory(options, address, creation);
    if (outcome.kind !== "answered") return outcome;
  }
  return DONE;
}

/**
 * Creates one memory. The creation is recorded first: if this process ends before the answer, the
 * next reading is searched for it. What it replaces is deleted last, so that one of the two always
 * exists.
 */
async function createMemory(
  { store, service }: PlainOptions,
  address: DocumentAddress,
  { key, content, replacesId }: Creation,
): Promise<Outcome<void>> {
  await writeKept(store, address, async (db, id) => {
    await dropCreate(db, id, key);
    await journalCreate(db, id, { key, content, replacesId });
  });
  const body = JSON.stringify({ content, layer: layerOf(address.name) });
  const outcome = await service.request("POST", "/v1/memories", body);
  if (outcome.kind === "refused" && outcome.status === BAD_REQUEST) {
    await writeKept(store, address, async (db, id) => {
      await dropCreate(db, id, key);
      const said = outcome.details?.[0]?.message ?? outcome.message;
      const reason = { code: "service-refused", said } as const;
      await putRefused(db, id, { kind: "memories", key, hash: hashOfValue(content), reason });
    });
    return DONE;
  }
  if (outcome.kind !== "answered") return outcome;
  const created = readCreated(outcome.value);
  // Without an id in the answer, the next reading has to show which memory it is.
  if (!created) return DONE;
  await writeKept(store, address, async (db, id) => {
    await putItem(db, id, {
      kind: "memories",
      key,
      item: { value: content, ...created, seen: false },
    });
    await dropCreate(db, id, key);
    if (replacesId !== null) await journalDelete(db, id, { key, memoryId: replacesId });
  });
  if (replacesId === null) return DONE;
  return await deleteMemories({ store, service }, address, [{ key, id: replacesId }]);
}
