import * as Y from "yjs";
import { type ProjectId, parseProjectId } from "../../ids.ts";
import { isObject, type JsonValue } from "../../json.ts";
import { type Author, parseHomeId } from "./author.ts";
import type { ReplicaDocument } from "./document.ts";
import type { EntryId } from "./entry-index.ts";
import { machineName } from "./machine-name.ts";
import { JOINED_PREFIX } from "./own-metadata.ts";

/**
 * A folder of a project was linked to another project, and what this one has was copied there. Its
 * document says so, for other machines go on in it.
 */
export interface ProjectJoin extends Author {
  /** The project that the folder's repository names; where it names none, the one it left. */
  readonly of: ProjectId;
  /** The project that the folder is linked to. */
  readonly to: ProjectId;
  /** The name of that one, for people. */
  readonly name: string | undefined;
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  /** The folder went back to its project: this is for those that have followed it. */
  readonly isReturn?: boolean | undefined;
  /**
   * What the project that the folder came into had before, as a state vector in base64; undefined
   * where that is not known. A folder that goes back leaves it behind.
   */
  readonly before?: string | undefined;
  /**
   * The entries that the folder brought into that project, also when it was there before; undefined
   * where that is not known.
   */
  readonly brought?: readonly BroughtEntries[] | undefined;
  /** Of a return: when the folder had come. In milliseconds since the Unix epoch. */
  readonly joinedAt?: number | undefined;
}

/** Entries that one client wrote one after another: from this clock on, and before that one. */
export interface BroughtEntries {
  readonly client: number;
  readonly from: number;
  readonly to: number;
}

/** Runs `write`; resolves to which entries of a document that has written, for `brought`. */
export async function writtenBy(
  { ydoc }: ReplicaDocument,
  write: () => Promise<void>,
): Promise<BroughtEntries[]> {
  const client = ydoc.clientID;
  const from = Y.getState(ydoc.store, client);
  await write();
  const to = Y.getState(ydoc.store, client);
  return to > from && ydoc.clientID === client ? [{ client, from, to }] : [];
}

/** Whether an entry is one of those. */
export function isBrought(id: EntryId, brought: readonly BroughtEntries[] = []): boolean {
  return brought.some(({ client, from, to }) => {
    return id.client === client && id.clock >= from && id.clock < to;
  });
}

/** The latest of a folder that comes and goes; this many are kept. */
const BROUGHT_MAX = 64;

/** A state vector of more characters than this is not kept. */
const VECTOR_LENGTH_MAX = 16_384;

/** What a document has, for `ProjectJoin.before`. */
export function vectorOf({ ydoc }: ReplicaDocument): string | undefined {
  const text = Buffer.from(Y.encodeStateVector(ydoc)).toString("base64");
  return text.length > VECTOR_LENGTH_MAX ? undefined : text;
}

/** Tells which entries a document had when `vectorOf` was asked; undefined: that is not known. */
export function hadBy(vector: string | undefined): ((id: EntryId) => boolean) | undefined {
  if (vector === undefined) return undefined;
  try {
    const clocks = Y.decodeStateVector(Buffer.from(vector, "base64"));
    return ({ client, clock }) => clock < (clocks.get(client) ?? 0);
  } catch {
    // Any program may have written it.
    return undefined;
  }
}

/** Whether a join tells what the other project had: one of a former version does not. */
export function isBeforeKnown({ before }: Pick<ProjectJoin, "before">): boolean {
  return hadBy(before) !== undefined;
}

/** Says in the document of the project that was left where its folder is. Once is enough. */
export function recordJoin(document: ReplicaDocument, join: ProjectJoin): void {
  const { of, to, name, at, machine, home, isReturn, before, brought, joinedAt } = join;
  const key = keyOf(of, to);
  if (document.metadata.get(key).length > 0) return;
  const value = {
    at,
    ...(name !== undefined && { name }),
    ...(machine !== undefined && { machine }),
    ...(home !== undefined && { home }),
    ...(isReturn && { is_return: true }),
    ...(before !== undefined && { before }),
    ...(brought && { brought: brought.slice(-BROUGHT_MAX).map((each) => ({ ...each })) }),
    ...(joinedAt !== undefined && { joined_at: joinedAt }),
  };
  document.setEntry("metadata", key, { value, now: at });
}

/** What a project's document says of folders that were linked to another one. */
export function joinsIn(document: ReplicaDocument): ProjectJoin[] {
  return [...document.metadata.keys()].flatMap((key) => {
    const [entry] = key.startsWith(JOINED_PREFIX) ? document.metadata.get(key) : [];
    return (entry && parseJoin(key, entry.value)) ?? [];
  });
}

/** Such folders are linked to this project again, so nothing is to be said of it any more. */
export function endJoins(
  document: ReplicaDocument,
  joins: readonly Pick<ProjectJoin, "of" | "to">[],
): void {
  const keys = joins.map(({ of, to }) => keyOf(of, to));
  if (keys.length > 0) document.deleteEntries("metadata", keys);
}

function keyOf(of: ProjectId, to: ProjectId): string {
  return `${JOINED_PREFIX}${of}/${to}`;
}

/** Reads a join from a row of metadata; undefined for what is none. */
export function parseJoin(key: string, value: JsonValue): ProjectJoin | undefined {
  const [of, to, ...rest] = key.slice(JOINED_PREFIX.length).split("/").map(parseProjectId);
  if (!of || !to || rest.length > 0 || !isObject(value)) return undefined;
  const { at, name, machine, home, is_return: isReturn, before, joined_at: joinedAt } = value;
  const { brought } = value;
  return {
    of,
    to,
    name: typeof name === "string" ? name : undefined,
    at: typeof at === "number" ? at : 0,
    machine: machineName(machine),
    home: parseHomeId(home),
    isReturn: isReturn === true,
    before: typeof before === "string" ? before : undefined,
    brought: parseBrought(brought),
    joinedAt: typeof joinedAt === "number" ? joinedAt : undefined,
  };
}

/** A former version wrote one alone, without a list. */
function parseBrought(value: JsonValue | undefined): BroughtEntries[] | undefined {
  if (value === undefined) return undefined;
  return (Array.isArray(value) ? value : [value]).flatMap((each) => {
    if (!isObject(each)) return [];
    const { client, from, to } = each;
    const isRange = typeof client === "number" && typeof from === "number";
    return isRange && typeof to === "number" ? [{ client, from, to }] : [];
  });
}
