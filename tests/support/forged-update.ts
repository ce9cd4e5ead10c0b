import * as Y from "yjs";

/** Numbers by which Yjs's decoder tells structures and contents apart. */
export const CONTENT = {
  gc: 0,
  deleted: 1,
  binary: 3,
  string: 4,
  embed: 5,
  format: 6,
  type: 7,
  any: 8,
  skip: 10,
} as const;

type Write = (encoder: Y.UpdateEncoderV1) => void;
type Id = readonly [client: number, clock: number];

export interface ForgedItem {
  readonly ref: number;
  readonly origin?: Id;
  readonly rightOrigin?: Id;
  /** A root's name or a nested type's id; only where there is neither neighbour. */
  readonly parent?: string | Id;
  readonly parentSub?: string;
  readonly content: Write;
}

export interface Forged {
  readonly sections?: readonly {
    readonly client: number;
    readonly clock: number;
    readonly structs: readonly Write[];
  }[];
  readonly deletions?: readonly { readonly client: number; readonly ranges: readonly Id[] }[];
}

/** The bytes of a Yjs update (v1) that says exactly this, sound or not. */
export function forge({ sections = [], deletions = [] }: Forged): Uint8Array {
  const encoder = new Y.UpdateEncoderV1();
  // A client id is written as any other unsigned number is.
  encoder.writeClient(sections.length);
  for (const { client, clock, structs } of sections) {
    encoder.writeClient(structs.length);
    encoder.writeClient(client);
    encoder.writeClient(clock);
    for (const write of structs) write(encoder);
  }
  encoder.writeClient(deletions.length);
  for (const { client, ranges } of deletions) {
    encoder.writeClient(client);
    encoder.writeClient(ranges.length);
    for (const [clock, length] of ranges) {
      encoder.writeClient(clock);
      encoder.writeClient(length);
    }
  }
  return encoder.toUint8Array();
}

const HAS_ORIGIN = 0x80;
const HAS_RIGHT_ORIGIN = 0x40;
const HAS_PARENT_SUB = 0x20;

export function item({ ref, origin, rightOrigin, parent, parentSub, content }: ForgedItem): Write {
  return (encoder) => {
    const info =
      ref |
      (origin ? HAS_ORIGIN : 0) |
      (rightOrigin ? HAS_RIGHT_ORIGIN : 0) |
      (parentSub === undefined ? 0 : HAS_PARENT_SUB);
    encoder.writeInfo(info);
    if (origin) encoder.writeLeftID(Y.createID(...origin));
    if (rightOrigin) encoder.writeRightID(Y.createID(...rightOrigin));
    if (!origin && !rightOrigin) writeParent(encoder, parent ?? "claude_md");
    if (parentSub !== undefined) encoder.writeString(parentSub);
    content(encoder);
  };
}

function writeParent(encoder: Y.UpdateEncoderV1, parent: string | Id): void {
  encoder.writeParentInfo(typeof parent === "string");
  if (typeof parent === "string") encoder.writeString(parent);
  else encoder.writeLeftID(Y.createID(...parent));
}

export function text(string: string): Write {
  return (encoder) => encoder.writeString(string);
}

export function values(...all: readonly unknown[]): Write {
  return (encoder) => {
    encoder.writeLen(all.length);
    for (const value of all) encoder.writeAny(value);
  };
}

export function length(clocks: number): Write {
  return (encoder) => encoder.writeLen(clocks);
}

/** A structure that is nothing but a length: garbage, or a gap. */
export function bare(ref: 0 | 10, clocks: number): Write {
  return (encoder) => {
    encoder.writeInfo(ref);
    encoder.writeLen(clocks);
  };
}

/**
 * An insertion at the text's beginning by each of so many clients, none of whom knows of another.
 * Each is placed behind all those of lower clients.
 */
export function insertionsAtOnePlace(count: number, firstClient: number): Uint8Array {
  const structs = [item({ ref: CONTENT.string, content: text("x\n") })];
  const sections = Array.from({ length: count }, (_, at) => {
    return { client: firstClient + count - 1 - at, clock: 0, structs };
  });
  return forge({ sections });
}
