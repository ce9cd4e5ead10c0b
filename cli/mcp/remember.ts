import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { type LocalMemory, readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { nearWords } from "../../shared/near-words.ts";
import { explain } from "../../shared/reasons.ts";
import { revisionName } from "../../shared/replica/history/revision-name.ts";
import { passageOf } from "../../shared/replica/search/passage.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { Environment } from "../place/environment.ts";
import { type MemoryPlace, withLocal } from "../place/place.ts";
import { CommandFailed } from "../screen/errors.ts";
import { isShared, seenBy } from "../views/seen-by.ts";
import { audienceOf } from "../writes/audience.ts";
import { type LeftHeld, sayLeftHeld } from "../writes/left-held.ts";
import { lookAlikeLine } from "../writes/look-alike.ts";
import { readOutOfReach, staysHere } from "../writes/out-of-reach.ts";
import { saveMemory } from "../writes/save.ts";
import { namedKeys, whySecret } from "./kept-secret.ts";
import { refuseInstructions } from "./own-instructions.ts";
import {
  findScope,
  type ProjectScope,
  placeToWrite,
  refusalIn,
  scopeJson,
  scopeLine,
} from "./project-scope.ts";
import { daysOld } from "./shown-memory.ts";
import { framed, type ToolResult } from "./tool-result.ts";

/** What `remember` is asked. */
export interface RememberRequest {
  readonly key: string;
  readonly value: string;
  readonly layer?: Layer | undefined;
  readonly project?: string | undefined;
  readonly if_revision?: string | undefined;
}

const FIRST_LINE_MAX = 160;
const SIMILAR_MAX = 5;
/** A name with a line break can't be typed, and lists show another one. */
const CONTROLS = /[\p{Cc}\u2028\u2029]/u;

/** Thrown if another revision is current than the one that was asked for. Nothing was written. */
class OtherRevision extends Error {
  readonly current: LocalMemory | undefined;

  constructor(current: LocalMemory | undefined) {
    super("another revision is current");
    this.current = current;
  }
}

interface Target {
  /** What it replaces looks like a secret. */
  readonly wasSecret: boolean;
  readonly scope: ProjectScope;
  readonly place: MemoryPlace;
  readonly before: LocalMemory | undefined;
  readonly keys: readonly string[];
}

/**
 * `remember`: saves one memory. One that is there already is not changed; on another day it is
 * confirmed, so that it counts as said today.
 */
export async function remember(
  env: Environment,
  option: string | undefined,
  request: RememberRequest,
): Promise<ToolResult> {
  const { key, value, if_revision: wanted } = request;
  const target = await withLocal(env, (db) => findTarget(env, db, { option, request }));
  const { before } = target;
  // One that stands under such a key was written by another program, and can be mended.
  if (!before && CONTROLS.test(key)) {
    throw refusalIn(target.scope, "not saved, for a key is one line without control characters");
  }
  if (wanted !== undefined && wanted !== revisionOf(before)) return inConflict(target, key, before);
  const status = before?.value === value ? "unchanged" : "saved";
  // It was said before on the same day, so there is nothing to write.
  if (status === "unchanged" && before && daysOld(Date.parse(before.updated_at)) === 0) {
    return await asSaved(env, target, { key, status });
  }
  const guard = (known: LocalMemory | undefined) => {
    if (wanted !== undefined && wanted !== revisionOf(known)) throw new OtherRevision(known);
  };
  let leftHeld: LeftHeld | undefined;
  try {
    const options = { guard };
    leftHeld = (await saveMemory(env, target.place, { key, value, options })).leftHeld;
  } catch (thrown) {
    if (thrown instanceof OtherRevision) return inConflict(target, key, thrown.current);
    if (thrown instanceof CommandFailed) throw refusalIn(target.scope, thrown.message);
    throw thrown;
  }
  return await asSaved(env, target, { key, status, leftHeld });
}

async function findTarget(
  env: Environment,
  db: Kysely<DaemonTables> | undefined,
  { option, request }: { readonly option: string | undefined; readonly request: RememberRequest },
): Promise<Target> {
  const { key, value, layer = "project", project } = request;
  const scope = await findScope(env, db, { argument: project, option });
  const place = await placeToWrite(env, db, { scope, layer });
  const known = db ? await readLocalMemories(db, place.document, place.account) : [];
  const before = known.find((each) => each.key === key);
  await refuseInstructions(db, { scope, place, memories: [{ key, value }, before] });
  const wasSecret = db && before ? (await whySecret(db, before)) !== undefined : false;
  return { scope, place, before, wasSecret, keys: await namedKeys(known) };
}

function revisionOf(memory: LocalMemory | undefined): string | undefined {
  return memory && revisionName(memory.value);
}

function inConflict(
  { scope, place }: Target,
  key: string,
  current: LocalMemory | undefined,
): ToolResult {
  const now = current ? `its revision is ${revisionOf(current)}` : "there is no such memory";
  const text = `conflict: ${key} was not saved, for ${now}. Read it, and save both together.`;
  return {
    text: framed([scopeLine(scope), text]),
    data: {
      ...scopeJson(scope),
      status: "conflict",
      key,
      layer: place.layer,
      revision: revisionOf(current) ?? null,
      message: text,
    },
  };
}

interface Saved {
  readonly key: string;
  readonly status: "saved" | "unchanged";
  readonly leftHeld?: LeftHeld | undefined;
}

async function asSaved(
  env: Environment,
  { scope, place, before, wasSecret, keys }: Target,
  { key, status, leftHeld }: Saved,
): Promise<ToolResult> {
  const { memory, why } = await withLocal(env, (db) => readBack(db, place, key));
  const replaces =
    status === "saved" && before && !wasSecret
      ? passageOf(before.value, "", FIRST_LINE_MAX)
      : undefined;
  const similar = before === undefined ? similarKeys(key, keys) : [];
  const alike = before === undefined ? lookAlikeLine(key, keys) : undefined;
  const kept = await readOutOfReach(env, place);
  const isTold = place.layer === "global" && kept === undefined;
  const audience = isTold ? await audienceOf(env, place.account) : null;
  const said = [
    why === undefined ? `${status}: ${key}` : heldSentence(key, why),
    ...(replaces === undefined ? [] : [`it replaces: ${replaces}`]),
    ...(leftHeld === undefined ? [] : [sayLeftHeld(leftHeld)]),
    ...(alike === undefined ? [] : [alike]),
    ...(similar.length === 0 ? [] : [`similar keys: ${similar.join(", ")}`]),
    ...(isShared(audience) ? [`seen by ${seenBy(audience)}`] : []),
    ...(kept === undefined ? [] : [staysHere(place.layer, kept)]),
  ];
  return {
    text: framed([scopeLine(scope), ...said]),
    data: {
      ...scopeJson(scope),
      status: why === undefined ? status : "held",
      key,
      layer: place.layer,
      revision: revisionOf(memory) ?? null,
      ...(replaces !== undefined && { replaces }),
      ...(leftHeld !== undefined && { left_held: leftHeld }),
      ...(similar.length > 0 && { similar }),
      message: said.join("; "),
    },
  };
}

/** Told as a success, so that the assistant does not try again in other words. */
function heldSentence(key: string, why: string): string {
  return (
    `held: ${key} is saved on this machine and is not sent to others, because it ${why}. ` +
    "Nothing more is to be done; its user can allow it with `memsync held`"
  );
}

/** The memory as it is now, and why it is held, or will be as soon as a daemon runs. */
async function readBack(
  db: Kysely<DaemonTables> | undefined,
  { document, account }: MemoryPlace,
  key: string,
): Promise<{ readonly memory?: LocalMemory; readonly why?: string }> {
  const memories = db ? await readLocalMemories(db, document, account) : [];
  const memory = memories.find((each) => each.key === key);
  if (!db || !memory) return {};
  const { findHeld } = await import("../../daemon/home/held-store.ts");
  const held = await findHeld(db, { kind: "memory", account, document, key });
  if (held && !memory.in_inbox) return { memory, why: explain(held.reason) };
  const why = await whySecret(db, memory);
  return { memory, ...(why !== undefined && { why }) };
}

/** Keys of the layer that may be about the same, so that a model updates instead of doubling. */
function similarKeys(key: string, keys: readonly string[]): string[] {
  const near = new Set(nearWords(key, keys));
  const parts = partsOf(key);
  for (const each of [...keys].sort()) {
    const others = partsOf(each);
    const shared = [...parts].filter((part) => others.has(part)).length;
    if (2 * shared > Math.min(parts.size, others.size)) near.add(each);
  }
  near.delete(key);
  return [...near].slice(0, SIMILAR_MAX);
}

function partsOf(key: string): Set<string> {
  return new Set(key.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}
