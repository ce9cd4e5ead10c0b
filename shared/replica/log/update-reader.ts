/** Bits of a structure's first byte, and kinds of content, as Yjs's `Item.write` has them. */
const HAS_LEFT = 0x80;
const HAS_RIGHT = 0x40;
const HAS_NAME = 0x20;
const KIND = 0x1f;
const GARBAGE = 0;
const DELETED = 1;
const CHARACTERS = 4;
const VALUES = 8;

/** Kinds of values, as lib0's `writeAny` has them. */
const UNDEFINED = 127;
const NULL = 126;
const INTEGER = 125;
const FLOAT_32 = 124;
const FLOAT_64 = 123;
const BIG_INTEGER = 122;
const FALSE = 121;
const TRUE = 120;
const STRING = 119;
const OBJECT = 118;
const ARRAY = 117;

/** Bytes of a value after its kind, where all values of the kind have as many. */
const FIXED: Readonly<Record<number, number>> = {
  [UNDEFINED]: 0,
  [NULL]: 0,
  [FLOAT_32]: 4,
  [FLOAT_64]: 8,
  [BIG_INTEGER]: 8,
  [FALSE]: 0,
  [TRUE]: 0,
};

/**
 * Walks over a Yjs update (v1) without decoding it. The update must be one that Yjs has accepted.
 */
export class UpdateReader {
  at = 0;

  constructor(readonly bytes: Uint8Array) {}

  uint(): number {
    let value = 0;
    let unit = 1;
    for (;;) {
      const byte = this.bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 0x80;
    }
  }

  /** Passes over one structure. Returns its length in clocks; undefined for an unusual kind. */
  struct(): number | undefined {
    const info = this.bytes[this.at++] ?? 0;
    const kind = info & KIND;
    if (kind === GARBAGE) return this.uint();
    if (info & HAS_LEFT) this.#passId();
    if (info & HAS_RIGHT) this.#passId();
    if (!(info & (HAS_LEFT | HAS_RIGHT))) {
      const isRoot = this.uint() === 1;
      if (!isRoot || info & HAS_NAME) return undefined;
      this.#passString();
    }
    if (kind === DELETED) return this.uint();
    if (kind === CHARACTERS) return this.#characters();
    return kind === VALUES ? this.#values() : undefined;
  }

  #passId(): void {
    this.uint();
    this.uint();
  }

  #passString(): void {
    const length = this.uint();
    this.at += length;
  }

  /** Yjs counts the units of UTF-16. */
  #characters(): number {
    const end = this.uint() + this.at;
    let length = 0;
    for (; this.at < end; this.at++) {
      const byte = this.bytes[this.at] ?? 0;
      // A byte that continues a character adds nothing. A character of four bytes is two units of
      // UTF-16.
      if (byte < 0x80 || byte >= 0xc0) length += byte >= 0xf0 ? 2 : 1;
    }
    return length;
  }

  #values(): number | undefined {
    const length = this.uint();
    for (let read = 0; read < length; read++) if (!this.#passValue()) return undefined;
    return length;
  }

  /** False for an unusual kind. */
  #passValue(): boolean {
    const kind = this.bytes[this.at++] ?? 0;
    const fixed = FIXED[kind];
    if (fixed !== undefined) this.at += fixed;
    else if (kind === STRING) this.#passString();
    else if (kind === INTEGER) this.uint();
    else return this.#passParts(kind);
    return true;
  }

  #passParts(kind: number): boolean {
    if (kind !== OBJECT && kind !== ARRAY) return false;
    const parts = this.uint();
    for (let read = 0; read < parts; read++) {
      if (kind === OBJECT) this.#passString();
      if (!this.#passValue()) return false;
    }
    return true;
  }
}
