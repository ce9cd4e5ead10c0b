import { isObject } from "../../shared/json.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import { parseSyncPayload, type SyncPayload } from "../../shared/wire/sync.ts";
import { wellFormed } from "../../shared/wire/well-formed.ts";
import type { TheirItem } from "./merge-items.ts";
import type { ItemKind } from "./plain-store.ts";

/** Items that a service showed. */
export interface ReadItems {
  readonly items: ReadonlyMap<string, TheirItem>;
  /** They are all that the service holds. */
  readonly complete: boolean;
}

/** Something that a service showed and that exceeds a limit here; the text has the empty key. */
export interface Untakable {
  readonly kind: ItemKind | "text";
  readonly key: string;
}

/** What a service showed of a project; undefined: it does not show this part. */
export interface ProjectReading {
  readonly text: string | undefined;
  readonly memories: ReadItems | undefined;
  readonly metadata: ReadItems | undefined;
  /** What stays there as it is: it can't be taken here and must not be overwritten. */
  readonly untakable: readonly Untakable[];
  /**
   * It showed more than the published interface has, as a service with the replica exchange does.
   */
  readonly showsMore: boolean;
}

/** A memory from `GET /v1/memories` that belongs to no project. */
export interface ReadMemory {
  readonly id: string;
  readonly content: string;
  readonly layer: "user" | "global";
  readonly createdAt: string | null;
}

/** What a service showed of the `user` and `global` layers, in its own order. */
export interface OwnReading {
  readonly memories: readonly ReadMemory[];
  readonly complete: boolean;
  readonly showsMore: boolean;
}

/**
 * Reads the answer of `GET /api/projects/:id`. Items that exceed a limit stay there and make the
 * reading incomplete. Undefined for anything that is no such answer.
 */
export function readProject(project: string, answer: unknown): ProjectReading | undefined {
  if (!isObject(answer) || answer.id !== project) return undefined;
  const { claude_md_content: text, memories, metadata } = answer;
  const untakable: Untakable[] = [];
  return {
    text: textOf(text, untakable),
    memories: Array.isArray(memories) ? readMemories(memories, untakable) : undefined,
    metadata: isObject(metadata) ? readMetadata(metadata, untakable) : undefined,
    untakable,
    showsMore: "connected_projects" in answer,
  };
}

/** Reads the answer of `GET /v1/memories`. Undefined for anything that is no such answer. */
export function readOwn(answer: unknown): OwnReading | undefined {
  if (!isObject(answer) || !Array.isArray(answer.memories)) return undefined;
  const memories: ReadMemory[] = [];
  let complete = answer.total === answer.memories.length;
  for (const each of answer.memories) {
    const memory = readMemory(each);
    if (memory === undefined) complete = false;
    else if (memory !== "project") memories.push(memory);
  }
  return { memories, complete, showsMore: "next_cursor" in answer };
}

/** Reads the answer of `POST /v1/memories`: the id and the time that the service gave, if any. */
export function readCreated(answer: unknown): Pick<ReadMemory, "id" | "createdAt"> | undefined {
  if (!isObject(answer) || typeof answer.id !== "string") return undefined;
  return { id: wellFormed(answer.id), createdAt: textOrNull(answer.created_at) };
}

/** Null: the service holds no text yet. */
function textOf(shown: unknown, untakable: Untakable[]): string | undefined {
  if (shown === null) return "";
  if (shown === undefined) return undefined;
  const text = acceptable({ claude_md_content: shown })?.claude_md_content;
  if (text === undefined) untakable.push({ kind: "text", key: "" });
  return text;
}

function readMemories(shown: readonly unknown[], untakable: Untakable[]): ReadItems {
  const items = new Map<string, TheirItem>();
  let complete = true;
  for (const each of shown) {
    const { key, value, id, created_at: createdAt } = isObject(each) ? each : {};
    const [taken] = acceptable({ memories: [{ key, value }] })?.memories ?? [];
    if (taken === undefined || items.has(taken.key)) {
      complete = false;
      const [known] = acceptable({ memories: [{ key, value: "" }] })?.memories ?? [];
      if (taken === undefined && known) untakable.push({ kind: "memories", key: known.key });
    } else {
      const item = { value: taken.value, id: textOrNull(id), createdAt: textOrNull(createdAt) };
      items.set(taken.key, item);
    }
  }
  return { items, complete };
}

function readMetadata(shown: Readonly<Record<string, unknown>>, untakable: Untakable[]): ReadItems {
  const items = new Map<string, TheirItem>();
  let complete = true;
  for (const [key, value] of Object.entries(shown)) {
    if (value === null || !isPublicKey(key)) continue;
    const taken = Object.entries(acceptable({ metadata: { [key]: value } })?.metadata ?? {})[0];
    if (taken === undefined || items.has(taken[0])) {
      complete = false;
      if (taken === undefined) untakable.push({ kind: "metadata", key: wellFormed(key) });
    } else items.set(taken[0], { value: taken[1], id: null, createdAt: null });
  }
  return { items, complete };
}

/** `project`: the memory belongs to that layer. */
function readMemory(shown: unknown): ReadMemory | "project" | undefined {
  if (!isObject(shown)) return undefined;
  const { id, content, layer, created_at: createdAt } = shown;
  if (layer === "project") return "project";
  if (typeof id !== "string" || id !== wellFormed(id)) return undefined;
  if (layer !== "user" && layer !== "global") return undefined;
  const [taken] = acceptable({ memories: [{ key: id, value: content }] })?.memories ?? [];
  return taken && { id, content: taken.value, layer, createdAt: textOrNull(createdAt) };
}

/** A sync payload if we could send it, too: what comes from a service has to keep our limits. */
function acceptable(payload: unknown): SyncPayload | undefined {
  try {
    return parseSyncPayload(payload);
  } catch {
    return undefined;
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? wellFormed(value) : null;
}
