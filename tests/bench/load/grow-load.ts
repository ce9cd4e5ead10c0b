import * as Y from "yjs";
import { LOCAL_ACCOUNT } from "../../../daemon/gateway/mount.ts";
import { openReplica } from "../../../daemon/home/open-replica.ts";
import { writePosition } from "../../../daemon/home/positions.ts";
import { utf8Bytes } from "../../../shared/limits.ts";
import { projectDocument } from "../../../shared/replica/document/address.ts";
import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { projectId } from "../../support/project-id.ts";
import type { NoteValues } from "./note-values.ts";

/** The document that grows. */
export const ADDRESS = projectDocument(LOCAL_ACCOUNT, projectId("bench"));

/** Keys that are overwritten. */
export const KEYS = 100;

const SERVICE = "bench";
const OTHER_CLIENT = 7;

/** Overwrites after which the service has acknowledged everything. */
const ACKNOWLEDGED_EVERY = 100;

/** Bytes of the keys and values that a home's document ends with. */
export interface Grown {
  readonly liveBytes: number;
}

/** One overwrite of a load. */
export interface Overwrite {
  readonly key: string;
  readonly value: string;
  /** Whether it is the second writer's. */
  readonly isOther: boolean;
}

/** The overwrites of a load, in order: each key's by two writers in turn. */
export function* overwrites(notes: NoteValues, writes: number): Generator<Overwrite> {
  for (let write = 0; write < writes; write++) {
    const key = Math.floor(write / 2) % KEYS;
    const value = notes(key);
    yield { key: `note-${key}`, value, isOther: write % 2 === 1 };
  }
}

/**
 * Makes a home's database by `writes` overwrites of 100 keys, this machine's and another's in turn,
 * each a commit of its own, and has it compacted.
 */
export async function growHome(path: string, writes: number, notes: NoteValues): Promise<Grown> {
  const store = await openReplica(path, realWorld, { machine: "here" });
  const there = new OtherMachine();
  store.onCommit((rows) => {
    for (const { origin, update } of rows) if (origin === "local") there.receive(update);
  });
  let write = 0;
  for (const { key, value, isOther } of overwrites(notes, writes)) {
    await store.write(async (context) => {
      const open = await context.open(ADDRESS);
      if (isOther) open.applyUpdate(there.write(key, value, context.now));
      else open.document.setEntry("memories", key, { value, now: context.now });
    });
    if (++write % ACKNOWLEDGED_EVERY === 0 || write === writes) await acknowledgeAll(store);
  }
  await store.sweep();
  const liveBytes = await store.write(async (context) => {
    return liveBytesOf((await context.open(ADDRESS)).document);
  });
  await store.close();
  return { liveBytes };
}

/** Another machine's replica, which has all that was committed here. */
class OtherMachine {
  readonly #document = new ReplicaDocument([], OTHER_CLIENT);
  #last: Uint8Array = new Uint8Array();

  constructor() {
    this.#document.ydoc.on("update", (update: Uint8Array) => {
      this.#last = update;
    });
  }

  receive(update: Uint8Array): void {
    Y.applyUpdate(this.#document.ydoc, update, "remote");
  }

  /** The update of one overwrite. */
  write(key: string, value: string, now: number): Uint8Array {
    this.#document.setEntry("memories", key, { value, now });
    return this.#last;
  }
}

/** What the service has acknowledged may leave the log. */
async function acknowledgeAll(store: Awaited<ReturnType<typeof openReplica>>): Promise<void> {
  await store.write(async (context) => {
    const { id, head } = await context.open(ADDRESS);
    const position = { remote: head, ackedSeq: head.seq, refused: undefined };
    await writePosition(context.db, SERVICE, { documentId: id, position });
  });
}

function liveBytesOf({ memories }: ReplicaDocument): number {
  let bytes = 0;
  for (const key of memories.keys()) {
    const [winner, ...losers] = memories.get(key);
    if (losers.length > 0) throw new Error(`writers in turn made a conflict of ${key}`);
    bytes += utf8Bytes(key) + utf8Bytes(String(winner?.value));
  }
  return bytes;
}
