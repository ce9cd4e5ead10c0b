import * as Y from "yjs";
import { assert } from "../../errors.ts";

/** A part of a Yjs update: an item, a garbage-collected range, or a gap. */
export type Struct = Y.Item | Y.GC | Y.Skip;

/**
 * The structures and deletions of one update. Each takes a few bytes there and hundreds in memory.
 * A document has one for each run of lines that was written or deleted at once.
 */
const PARTS_MAX = 2 ** 18;

/** The clients of one update. Each start of a writing process is one. */
const CLIENTS_MAX = 2 ** 15;

/** A Yjs update, decoded without a document. */
export interface DecodedUpdate {
  /** Each client's structures, at least one, in the order of their clocks and without gaps. */
  readonly clients: ReadonlyMap<number, readonly Struct[]>;
  readonly deletions: ReadonlyMap<
    number,
    readonly { readonly clock: number; readonly len: number }[]
  >;
}

/**
 * Decodes a Yjs update (v1). Throws for anything else, even where Yjs would not: Yjs stops reading
 * after what it understands, and of two sections of one client applies the last.
 */
export function decodeUpdate(update: Uint8Array): DecodedUpdate {
  const { structs, ds } = Y.decodeUpdateV2(update, SectionDecoder);
  const decoder = SectionDecoder.latest;
  assert(decoder, "Yjs decodes with the decoder that it is given");
  const clients = byClient(structs);
  if (decoder.restDecoder.pos !== update.length) throw new Error("it has another length");
  if (decoder.sections !== clients.size) throw new Error("a client's section is empty or doubled");
  return { clients, deletions: ds.clients };
}

class SectionDecoder extends Y.UpdateDecoderV1 {
  /** The last one created. Yjs creates it and gives no access to it. */
  static latest: SectionDecoder | undefined;

  sections = 0;
  #parts = 0;

  constructor(...rest: ConstructorParameters<typeof Y.UpdateDecoderV1>) {
    super(...rest);
    SectionDecoder.latest = this;
  }

  override readClient(): number {
    this.sections += 1;
    if (this.sections > CLIENTS_MAX) throw new Error("it has too many clients");
    return super.readClient();
  }

  override readInfo(): number {
    this.#countPart();
    return super.readInfo();
  }

  override readDsClock(): number {
    this.#countPart();
    return super.readDsClock();
  }

  #countPart(): void {
    this.#parts += 1;
    if (this.#parts > PARTS_MAX) throw new Error("it has too many parts");
  }
}

function byClient(structs: readonly Struct[]): Map<number, Struct[]> {
  const clients = new Map<number, Struct[]>();
  for (const struct of structs) {
    const known = clients.get(struct.id.client);
    if (known) known.push(struct);
    else clients.set(struct.id.client, [struct]);
  }
  return clients;
}

/** The items that Yjs needs before it can apply a structure. */
export function referencesOf(struct: Struct): Y.ID[] {
  if (!(struct instanceof Y.Item)) return [];
  const { origin, rightOrigin } = struct;
  return [...(origin ? [origin] : []), ...(rightOrigin ? [rightOrigin] : [])];
}

/** The clock after a list's last structure; 0 for no list. */
export function endOf(structs: readonly Struct[] | undefined): number {
  const last = structs?.at(-1);
  return last ? last.id.clock + last.length : 0;
}

/** The structure that holds a clock, which the list reaches. */
export function structAt(structs: readonly Struct[], clock: number): Struct | undefined {
  let low = 0;
  let high = structs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((structs[middle]?.id.clock ?? Infinity) <= clock) low = middle;
    else high = middle - 1;
  }
  return structs[low];
}
