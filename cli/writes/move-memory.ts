import { isDeepStrictEqual } from "node:util";
import type { Kysely } from "kysely";
import type { Allows } from "../../daemon/held/judge.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { MemoryWrite } from "../../daemon/inbox/inbox.ts";
import { type LocalMemory, readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { explain, type Reason } from "../../shared/reasons.ts";
import { wireDocumentId } from "../../shared/replica/document/address.ts";
import { entryTime } from "../../shared/replica/document/stored-value.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { realWorld } from "../../shared/world-real.ts";
import { memoryHistory } from "../local/local-history.ts";
import type { Environment } from "../place/environment.ts";
import { type MemoryPlace, withLocal } from "../place/place.ts";
import { didYouMean } from "../screen/did-you-mean.ts";
import { CommandFailed } from "../screen/errors.ts";
import { type WriteGuard, writeToInbox } from "./inbox-write.ts";
import { refuseDeleted } from "./refuse-deleted.ts";

/** What to move, from where and to where. */
export interface Move {
  readonly key: string;
  /** The value at the time of the question about the move. */
  readonly value: string;
  /** The places to search for it. */
  readonly sources: readonly MemoryPlace[];
  readonly target: MemoryPlace;
  readonly allows: Allows;
  /** The guard of what is in its new place. */
  readonly guard: WriteGuard | undefined;
}

/** A memory, its place, and the entries that a move deletes there. */
interface Source {
  readonly place: MemoryPlace;
  readonly memory: LocalMemory;
}

/** The one place that has the memory. Throws where there is none or several. */
export async function findSource(
  db: Kysely<DaemonTables> | undefined,
  { key, sources, target }: Pick<Move, "key" | "sources" | "target">,
): Promise<Source> {
  const found: Source[] = [];
  const keys: string[] = [];
  for (const place of db ? sources : []) {
    const memories = db ? await readLocalMemories(db, place.document, place.account) : [];
    const memory = memories.find((each) => each.key === key);
    if (memory) found.push({ place, memory });
    keys.push(...memories.map((each) => each.key));
  }
  const [source, ...others] = found;
  if (others.length > 0) {
    const layers = found.map(({ place }) => place.layer).join(" and ");
    throw new CommandFailed(`"${key}" is in ${layers}: say which one by --from`, {
      code: "ambiguous",
    });
  }
  if (source) return source;
  const isThere = db && (await findIn(db, target, key)) !== undefined;
  if (isThere) throw new CommandFailed(`"${key}" is in ${target.layer} already`, { code: "taken" });
  const where = sources.length === 1 ? ` in ${sources[0]?.layer}` : "";
  throw new CommandFailed(`there is no memory "${key}"${where}${didYouMean(key, keys)}`, {
    code: "not-found",
  });
}

/**
 * Moves a memory to another layer: one transaction writes it there and deletes it here, so that it
 * is never nowhere. Refuses a move that would lose a value, or leave one where others need it.
 */
export async function moveMemory(env: Environment, move: Move): Promise<Layer> {
  const { key, value, target, allows, guard } = move;
  const looked = await withLocal(env, async (db) => {
    const source = await findSource(db, move);
    if (db) await refuseUnsettled(db, source);
    return source.memory;
  });
  let from: Layer = target.layer;
  await writeToInbox(env.home, async (db) => {
    const { place, memory } = await findSource(db, move);
    if (memory.value !== value || !isDeepStrictEqual(memory, looked)) {
      throw new CommandFailed(`"${key}" has changed just now, and was not moved: try again`);
    }
    await refuseDeleted(db, place.document);
    await refuseDeleted(db, target.document);
    await refuseTaken(db, target, key);
    // Nothing is there now, while something may have been there at the question.
    guard?.(undefined);
    await refuseHeldThere(db, target, { memory, allows });
    from = place.layer;
    return moveWrites({ memory, place, target, allows }, realWorld.now());
  });
  return from;
}

/** Writes a memory to its new place, and deletes it where it was. */
export function moveWrites(
  {
    memory: { key, value, seen },
    place,
    target,
    allows = {},
  }: {
    readonly memory: Pick<LocalMemory, "key" | "value" | "seen">;
    readonly place: Pick<MemoryPlace, "document" | "account">;
    readonly target: Pick<MemoryPlace, "document" | "account">;
    readonly allows?: Allows;
  },
  writtenAt: number,
): MemoryWrite[] {
  const written = { kind: "memory", key, writtenAt } as const;
  const of = ({ document, account }: Pick<MemoryPlace, "document" | "account">) => {
    return { ...written, document, account };
  };
  const movedTo = { to: wireDocumentId(target.document), at: entryTime(writtenAt) };
  return [
    { ...of(target), value, seen: [], ...allows },
    { ...of(place), value: undefined, seen, movedTo },
  ];
}

async function findIn(
  db: Kysely<DaemonTables>,
  { document, account }: MemoryPlace,
  key: string,
): Promise<LocalMemory | undefined> {
  return (await readLocalMemories(db, document, account)).find((memory) => memory.key === key);
}

async function refuseTaken(db: Kysely<DaemonTables>, target: MemoryPlace, key: string) {
  if (!(await findIn(db, target, key))) return;
  const { layer } = target;
  throw new CommandFailed(
    `${layer} has a "${key}" of its own, which nothing is written over: ` +
      `\`memsync rm KEY --layer ${layer}\` deletes it`,
    { code: "taken" },
  );
}

/** A held value is not in its layer yet, and only one version of a conflict could be moved. */
async function refuseUnsettled(db: Kysely<DaemonTables>, { place, memory }: Source) {
  const { key, held } = memory;
  if (held !== undefined) {
    throw new CommandFailed(`"${key}" is held here: \`memsync held\` says why; allow or drop it`);
  }
  const { document, account } = place;
  // The machine's name is only needed for versions, and none is shown.
  const versions = await memoryHistory({ db, document, account, machine: "" }, key);
  if (!versions.some(({ state }) => state === "conflict")) return;
  throw new CommandFailed(
    `"${key}" has versions that disagree: \`memsync conflicts\` shows them; settle them first`,
  );
}

/** The flags that allow it. Each is about what the sentence before it names, and nothing else. */
function flagsFor(reason: Reason): string {
  const isBoth = reason.code === "looks-like-secret" && reason.personal !== undefined;
  if (isBoth) return "--allow-secret with --allow-personal";
  return reason.code === "looks-like-secret" ? "--allow-secret" : "--allow-personal";
}

/** In its new layer it would be held on this machine and be deleted on the others. */
async function refuseHeldThere(
  db: Kysely<DaemonTables>,
  { document }: MemoryPlace,
  { memory, allows }: { readonly memory: LocalMemory; readonly allows: Allows },
) {
  const { key, value } = memory;
  const { entryReason } = await import("../../daemon/held/judge.ts");
  const { standingTexts } = await import("../../daemon/held/standing-texts.ts");
  const others = () => standingTexts(db, document);
  const reason = await entryReason(db, { key, value }, { document, already: [], others, allows });
  if (reason === undefined) return;
  throw new CommandFailed(
    `"${key}" would be held there, and be gone from your other machines: ${explain(reason)}; ` +
      `${flagsFor(reason)} says that it may be sent`,
  );
}
