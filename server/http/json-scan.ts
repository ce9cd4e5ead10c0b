import type { Span } from "./long-texts.ts";

/** Levels of arrays and objects in a body. Stored values have at most 32, plus the envelope. */
const DEPTH_MAX = 128;

/**
 * Arrays, objects and commas in a body: more than twice what the fullest permitted sync has. As a
 * value they take no more room than one body may.
 */
const PARTS_MAX = 500_000;

/** Fields of one object: parsing takes more time for each than for the one before. */
const FIELDS_MAX = 16_384;

/**
 * Parts that are parsed at once: of an item of a long list, or of all that is in no such list.
 * Metadata of the permitted size has at most two thirds of them.
 */
const PARTS_AT_ONCE_MAX = 65_536;

/** A list is cut into pieces of about as many bytes: each is parsed in a fraction of a turn. */
const PIECE_BYTES = 64 * 1024;

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** How a text is scanned, where it is not as most are. */
export interface ScanTerms {
  readonly pieceBytes?: number;
  readonly partsAtOnceMax?: number;
  /** Longer texts are to be parsed apart; by default none is. */
  readonly longTextBytes?: number;
}

/** A list in the outermost object: where its bytes begin and end, and the commas to cut it at. */
export interface ScannedList {
  readonly start: number;
  readonly cuts: readonly number[];
  readonly end: number;
}

/**
 * Scans the bytes of JSON text, as much at a time as is asked for. Finds out whether it is nested
 * too deeply or has too many parts to be parsed at once (`JSON.parse` would accept five million
 * levels, but takes seconds and a hundred times their size in memory), and where its long lists can
 * be cut. Invalid JSON may pass.
 */
export class JsonScan {
  /** The lists that were passed whole. */
  readonly lists: ScannedList[] = [];
  /** The long texts that were passed whole, but for names of fields. */
  readonly longTexts: Span[] = [];
  readonly #bytes: Uint8Array;
  #at = 0;
  /** Where the string began that is being passed. */
  #string: number | undefined;
  /** Whether the byte that comes next in it is escaped. */
  #isEscaped = false;
  /** What is scanned in this turn, from the text's beginning. */
  #turn: Uint8Array = new Uint8Array();
  /** Whether the last string is the last of the long texts. */
  #isLong = false;
  #depth = 0;
  #parts = 0;
  /** Parts of the list item that is being passed, and of all that is in no list. */
  #partsAtOnce = { item: 0, outside: 0 };
  /** Commas directly in the object of each level; undefined in an array. */
  readonly #fields: (number | undefined)[] = [];
  #hasManyFields = false;
  #hasManyParts = false;
  /** Whether the outermost value is an object. */
  #isInObject = false;
  #list: { readonly start: number; readonly cuts: number[] } | undefined;

  readonly #terms: Required<ScanTerms>;

  constructor(bytes: Uint8Array, terms: ScanTerms = {}) {
    this.#bytes = bytes;
    this.#terms = {
      pieceBytes: PIECE_BYTES,
      partsAtOnceMax: PARTS_AT_ONCE_MAX,
      longTextBytes: Number.POSITIVE_INFINITY,
      ...terms,
    };
  }

  /** Arrays, objects and commas that were passed. */
  get parts(): number {
    return this.#parts;
  }

  get isDone(): boolean {
    return this.isTooIntricate || this.#at >= this.#bytes.length;
  }

  get isTooIntricate(): boolean {
    const isTooMuch = this.#hasManyParts || this.#hasManyFields;
    return isTooMuch || this.#parts > PARTS_MAX || this.#depth > DEPTH_MAX;
  }

  /** Goes on for `length` bytes. */
  advance(length: number): void {
    const end = Math.min(this.#at + length, this.#bytes.length);
    this.#turn = this.#bytes.subarray(0, end);
    while (this.#at < end && this.#depth <= DEPTH_MAX) {
      if (this.#string !== undefined) this.#goOnInString(end);
      else this.#pass(this.#bytes[this.#at]);
      this.#at++;
    }
    if (this.#at >= this.#bytes.length) this.#endUnended();
  }

  #pass(byte: number | undefined): void {
    if (byte === QUOTE) this.#string = this.#at;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#open(byte);
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.#close();
    else if (byte === COMMA) this.#comma();
    else if (byte === COLON) this.#dropName();
  }

  /** A string ends at the next quote that no backslash escapes. */
  #goOnInString(end: number): void {
    const from = this.#at;
    const quote = this.#turn.indexOf(QUOTE, from);
    const stop = quote === -1 ? end : quote;
    this.#isEscaped = this.#isEscapedAt(stop, from);
    // What comes next is passed by whoever called this.
    if (quote === -1) this.#at = end - 1;
    else if (!this.#isEscaped) this.#endString(quote);
    else {
      this.#at = quote;
      this.#isEscaped = false;
    }
  }

  /** Looks back no further than `from`: there may be nothing but backslashes before that. */
  #isEscapedAt(at: number, from: number): boolean {
    let first = at;
    while (first > from && this.#bytes[first - 1] === BACKSLASH) first--;
    const isEscapedFirst = first === from && this.#isEscaped;
    return ((at - first) % 2 === 1) !== isEscapedFirst;
  }

  #endString(end: number): void {
    const start = (this.#string ?? end) + 1;
    this.#string = undefined;
    this.#isEscaped = false;
    this.#at = end;
    this.#isLong = end - start > this.#terms.longTextBytes;
    if (this.#isLong) this.longTexts.push({ start, end });
  }

  /** A string that breaks off is parsed like the others, and then refused. */
  #endUnended(): void {
    if (this.#string !== undefined) this.#endString(this.#bytes.length);
  }

  /** A string before a colon is a name, so it is no long text. Blanks may stand between them. */
  #dropName(): void {
    if (this.#isLong) this.longTexts.pop();
    this.#isLong = false;
  }

  #open(byte: number): void {
    this.#countPart();
    this.#depth++;
    this.#fields[this.#depth] = byte === OPEN_OBJECT ? 0 : undefined;
    if (this.#depth === 1) this.#isInObject = byte === OPEN_OBJECT;
    const isList = this.#depth === 2 && this.#isInObject && byte === OPEN_ARRAY;
    if (!isList) return;
    this.#list = { start: this.#at + 1, cuts: [] };
    this.#partsAtOnce.item = 0;
  }

  #close(): void {
    this.#depth--;
    if (this.#depth !== 1 || !this.#list) return;
    this.lists.push({ ...this.#list, end: this.#at });
    this.#list = undefined;
  }

  #countPart(): void {
    this.#parts++;
    const parsedAtOnce = ++this.#partsAtOnce[this.#list ? "item" : "outside"];
    this.#hasManyParts ||= parsedAtOnce > this.#terms.partsAtOnceMax;
  }

  #comma(): void {
    this.#countPart();
    const fields = this.#fields[this.#depth];
    if (fields !== undefined) {
      this.#fields[this.#depth] = fields + 1;
      this.#hasManyFields ||= fields + 1 >= FIELDS_MAX;
    }
    if (this.#depth !== 2 || !this.#list) return;
    this.#partsAtOnce.item = 0;
    const { start, cuts } = this.#list;
    if (this.#at - (cuts.at(-1) ?? start) >= this.#terms.pieceBytes) cuts.push(this.#at);
  }
}
