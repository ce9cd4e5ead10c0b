import * as Y from "yjs";
import { messageOf } from "../../errors.ts";
import { isObject } from "../../json.ts";
import { ITEMS_PER_STEP, inOneTurn, type Steps } from "../../steps.ts";
import { type ItemPlace, type ReplicaDocument, TEXT_ROOT } from "../document/document.ts";
import { type EntryKind, kindOfRoot, ownerOfRoot } from "../document/entry-arrays.ts";
import { removedKey } from "../document/own-metadata.ts";
import { isWriterKey } from "../log/machines.ts";
import {
  type DecodedUpdate,
  decodeUpdate,
  endOf,
  referencesOf,
  type Struct,
  structAt,
} from "./decode-update.ts";
import { foreignEntry } from "./entry-shape.ts";
import { InsertionOrder } from "./insertion-order.ts";
import type { Places } from "./placed-update.ts";
import { PLAIN_STEPS_MAX, type Trial, tryUpdate } from "./trial.ts";
import { visitInOrder } from "./visit-in-order.ts";

/**
 * What an update brings besides deletions. `records`: only entries that say what was deleted, and
 * by whom.
 */
export type Addition = "nothing" | "records" | "more";

/**
 * The outcome for an update from outside. `missing`: it depends
 * on something that the document lacks. `refused`: no replica would send it. After the last two,
 * nothing may be applied. `isOwn`: it holds under the own client id what was not written here.
 * `steps`: how many insertions were passed in a search for places. `places`: what it has found, to
 * be applied with.
 */
export type Admission =
  | {
      readonly kind: "admitted";
      readonly adds: Addition;
      readonly steps?: number;
      readonly places?: Places;
    }
  | { readonly kind: "missing" }
  | {
      readonly kind: "refused";
      readonly message: string;
      readonly steps?: number;
      readonly isOwn?: boolean;
    };

/** Yjs draws client ids of 32 bits. */
const CLIENT_ID_MAX = 2 ** 32 - 1;

/**
 * A client's clock counts characters and entries. No real client advances it this far in one
 * update.
 */
const CLOCK_ADVANCE_MAX = 2 ** 30;

/**
 * Decides whether a Yjs update (v1) from outside may be applied to a document. Does not change the
 * document. An update is admitted if it decodes; if each client's structures continue those of the
 * document without a gap; if everything they refer to is in the document or the update, in an order
 * that Yjs can apply; and if they are what a replica writes: characters in the text's root, and
 * entries in the array of the client that wrote them. `ownClient`: this process's id, under which
 * nobody else may write.
 *
 * ```
 * if (admitUpdate(document, update, clientId).kind === "admitted") apply(update);
 * ```
 */
export function admitUpdate(
  document: ReplicaDocument,
  update: Uint8Array,
  ownClient: number | undefined,
): Admission {
  return inOneTurn(admitInSteps(document, update, ownClient));
}

/** The same step by step, while the document must not change. To decode is one step. */
export function* admitInSteps(
  document: ReplicaDocument,
  update: Uint8Array,
  ownClient: number | undefined,
): Steps<Admission> {
  try {
    const decoded = decodeUpdate(update);
    yield;
    return yield* new AdmissionLook(document, decoded).decide(ownClient);
  } catch (thrown) {
    if (thrown instanceof OwnRefusal) return { ...refusedBy(thrown), isOwn: true };
    if (thrown instanceof Refusal) return refusedBy(thrown);
    const message = `it does not decode as a Yjs update (v1): ${messageOf(thrown)}`;
    return { kind: "refused", message };
  }
}

/** Ends the check of an update that no replica would send. */
class Refusal extends Error {}

class OwnRefusal extends Refusal {}

function refusedBy({ message }: Refusal) {
  return { kind: "refused", message } as const;
}

class AdmissionLook {
  readonly #document: ReplicaDocument;
  readonly #update: DecodedUpdate;
  readonly #places = new Map<Struct, ItemPlace>();
  readonly #order: InsertionOrder;
  #orderIsKnown = true;
  #adds: Addition = "nothing";

  constructor(document: ReplicaDocument, update: DecodedUpdate) {
    this.#document = document;
    this.#update = update;
    this.#order = new InsertionOrder(document.text, (id) => this.#find(id.client, id.clock));
  }

  *decide(ownClient: number | undefined): Steps<Admission> {
    const { clients } = this.#update;
    for (const [client, structs] of clients) this.#checkClient(client, structs, ownClient);
    if (!(yield* this.#isComplete())) return { kind: "missing" };
    const integrated = (client: number) => this.#integrated(client);
    const visit = (struct: Struct) => {
      this.#check(struct);
      return 1;
    };
    if (!(yield* visitInOrder(clients, integrated, { referencesOf, visit }))) {
      return { kind: "refused", message: "its structures refer to each other in a circle" };
    }
    for (const [client, ranges] of this.#update.deletions) {
      for (const [at, { clock, len }] of ranges.entries()) {
        if (at % ITEMS_PER_STEP === 0) yield;
        this.#checkCut(client, clock);
        this.#checkCut(client, clock + len);
      }
    }
    const { problem, places, steps = 0 } = (yield* this.#tryWhereNeeded()) ?? {};
    if (problem !== undefined) return { kind: "refused", message: problem, steps };
    if (steps <= PLAIN_STEPS_MAX) return { kind: "admitted", adds: this.#adds, steps };
    return { kind: "admitted", adds: this.#adds, steps, ...(places && { places }) };
  }

  #checkClient(client: number, structs: readonly Struct[], ownClient: number | undefined): void {
    if (client > CLIENT_ID_MAX) throw new Refusal("a client id is longer than 32 bits");
    if (structs.some(({ length }) => length < 1)) throw new Refusal("it holds an empty structure");
    const advance = endOf(structs) - this.#integrated(client);
    if (advance > CLOCK_ADVANCE_MAX) throw new Refusal("a client's clock jumps too far");
    if (client === ownClient && (advance > 0 || structs.some((each) => this.#differs(each)))) {
      throw new OwnRefusal("it writes under this replica's own client id");
    }
  }

  /** Whether a structure says other characters or entries than the document has under its ids. */
  #differs(struct: Struct): boolean {
    const { store } = this.#document.ydoc;
    const { id, length } = struct;
    for (let at = 0; at < length; ) {
      const known = Y.getItem(store, Y.createID(id.client, id.clock + at));
      const from = id.clock + at - known.id.clock;
      const count = Math.min(length - at, known.length - from);
      const [here, there] = [contentOf(known, from, count), contentOf(struct, at, count)];
      if (here !== undefined && there !== undefined && here !== there) return true;
      at += count;
    }
    return false;
  }

  /** Whether everything that the update depends on is in the document or in the update. */
  *#isComplete(): Steps<boolean> {
    for (const [client, structs] of this.#update.clients) {
      if ((structs[0]?.id.clock ?? 0) > this.#integrated(client)) return false;
      for (const [at, struct] of structs.entries()) {
        if (at % ITEMS_PER_STEP === 0) yield;
        if (struct instanceof Y.Skip) return false;
        for (const id of referencesOf(struct)) if (id.clock >= this.#end(id.client)) return false;
      }
    }
    for (const [client, ranges] of this.#update.deletions) {
      const end = this.#end(client);
      if (ranges.some(({ clock, len }) => clock + Math.max(len, 1) > end)) return false;
    }
    return true;
  }

  /** Checks one structure. Those that it refers to were checked before. */
  #check(item: Struct): void {
    if (!(item instanceof Y.Item)) throw new Refusal("it holds a structure that no replica writes");
    if (item.parentSub !== null) throw new Refusal("it writes a map, which no document holds");
    const place = this.#placeOf(item);
    this.#places.set(item, place);
    if (place !== "text" && item.rightOrigin) throw new Refusal("an entry is not appended");
    this.#checkCuts(item, place);
    if (place === "text") this.#checkOrder(item);
    this.#noteAddition(item, place);
    if (item.content instanceof Y.ContentDeleted) return;
    if (place === "text") checkCharacters(item.content);
    else checkEntries(item.content, place);
  }

  #noteAddition({ id, length, content }: Y.Item, place: ItemPlace): void {
    const known = this.#integrated(id.client) - id.clock;
    if (known >= length || this.#adds === "more") return;
    const isRecord =
      content instanceof Y.ContentDeleted ||
      (place === "metadata" &&
        content instanceof Y.ContentAny &&
        content.arr.slice(Math.max(known, 0)).every(isRecordOfDeletion));
    this.#adds = isRecord ? "records" : "more";
  }

  #checkOrder(item: Y.Item): void {
    const integrated = this.#integrated(item.id.client);
    if (item.id.clock + item.length <= integrated) return;
    const origin =
      item.id.clock < integrated ? Y.createID(item.id.client, integrated - 1) : item.origin;
    const order = this.#order.visit(item, origin);
    if (order === "wrong") throw new Refusal(OUT_OF_ORDER);
    if (order === "unknown") this.#orderIsKnown = false;
  }

  /** Tries the update where what may be passed in searches is more than Yjs may pass in a turn. */
  *#tryWhereNeeded(): Steps<Trial | undefined> {
    if (this.#orderIsKnown && this.#order.reach <= PLAIN_STEPS_MAX) return undefined;
    return yield* tryUpdate(this.#document.text, this.#document.ydoc.store, {
      update: this.#update,
      integratedOf: (client) => this.#integrated(client),
      isInText: (struct): struct is Y.Item => this.#places.get(struct) === "text",
      isOrdered: this.#orderIsKnown,
    });
  }

  /** The place of an item: the root that it names, or the place of its neighbours. */
  #placeOf(item: Y.Item): ItemPlace {
    const { client } = item.id;
    const parent: unknown = item.parent;
    if (typeof parent === "string") return placeOfRoot(parent, client);
    const [place, ...others] = referencesOf(item).map((id) => this.#placeOfNeighbour(id, client));
    if (place === undefined || others.some((other) => other !== place)) throw new Refusal(OUTSIDE);
    return place;
  }

  #placeOfNeighbour(id: Y.ID, client: number): ItemPlace {
    const struct = this.#find(id.client, id.clock);
    const isIntegrated = id.clock < this.#integrated(id.client) && struct instanceof Y.Item;
    const place = isIntegrated
      ? this.#document.placeOf(struct.parent)
      : struct && this.#places.get(struct);
    if (place === undefined) throw new Refusal(OUTSIDE);
    if (place !== "text" && id.client !== client) throw new Refusal(FOREIGN_ARRAY);
    return place;
  }

  /** The points at which Yjs would split items, or join the new part of one to its known part. */
  #checkCuts({ id, origin, rightOrigin, length }: Y.Item, place: ItemPlace): void {
    if (origin) this.#checkCut(origin.client, origin.clock + 1);
    if (rightOrigin) this.#checkCut(rightOrigin.client, rightOrigin.clock);
    const integrated = this.#integrated(id.client);
    if (id.clock >= integrated || id.clock + length <= integrated) return;
    this.#checkCut(id.client, integrated);
    const last = this.#placeOfNeighbour(Y.createID(id.client, integrated - 1), id.client);
    if (last !== place) throw new Refusal(OUTSIDE);
  }

  /** Yjs replaces both halves of a surrogate pair that is split. */
  #checkCut(client: number, clock: number): void {
    const item = this.#find(client, clock);
    if (!(item instanceof Y.Item) || !(item.content instanceof Y.ContentString)) return;
    const before = item.content.str.charCodeAt(clock - item.id.clock - 1);
    if (before >= 0xd800 && before <= 0xdbff) throw new Refusal("it cuts a character apart");
  }

  /** The structure at this clock, in the document or in the update. */
  #find(client: number, clock: number): Struct | undefined {
    const { store } = this.#document.ydoc;
    if (clock < this.#integrated(client)) return Y.getItem(store, Y.createID(client, clock));
    const structs = this.#update.clients.get(client);
    return structs && clock < endOf(structs) ? structAt(structs, clock) : undefined;
  }

  #integrated(client: number): number {
    return Y.getState(this.#document.ydoc.store, client);
  }

  #end(client: number): number {
    return Math.max(this.#integrated(client), endOf(this.#update.clients.get(client)));
  }
}

/** Whether an entry tells of a memory's deletion, or who the writer is. */
function isRecordOfDeletion(entry: unknown): boolean {
  const key = isObject(entry) ? entry.key : undefined;
  return typeof key === "string" && (removedKey(key) !== undefined || isWriterKey(key));
}

/** A part of what a structure holds, to be compared; undefined where it was deleted. */
function contentOf(struct: Struct, from: number, count: number): string | undefined {
  if (!(struct instanceof Y.Item)) return undefined;
  const { content } = struct;
  if (content instanceof Y.ContentString) return content.str.slice(from, from + count);
  if (!(content instanceof Y.ContentAny)) return undefined;
  return JSON.stringify(content.arr.slice(from, from + count));
}

const OUTSIDE = "it writes outside the document's roots";
const OUT_OF_ORDER = "an insertion stands before what is on its left";
const FOREIGN_ARRAY = "an entry stands in another client's array";

function placeOfRoot(name: string, client: number): ItemPlace {
  if (name === TEXT_ROOT) return "text";
  const kind = kindOfRoot(name);
  if (!kind) throw new Refusal(OUTSIDE);
  if (ownerOfRoot(name) !== client) throw new Refusal(FOREIGN_ARRAY);
  return kind;
}

function checkCharacters(content: unknown): void {
  if (!(content instanceof Y.ContentString)) {
    throw new Refusal("the text holds something other than characters");
  }
  if (content.str.includes("\0")) throw new Refusal("the text holds a NUL character");
}

function checkEntries(content: unknown, kind: EntryKind): void {
  if (!(content instanceof Y.ContentAny)) {
    throw new Refusal("an array holds something other than entries");
  }
  const entries: readonly unknown[] = content.arr;
  for (const entry of entries) {
    const message = foreignEntry(entry, kind);
    if (message !== undefined) throw new Refusal(message);
  }
}
