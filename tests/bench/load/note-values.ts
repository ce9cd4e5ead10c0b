import { pick, seededRandom } from "../../support/random.ts";
import { fileHistories, memoryChanges } from "../../support/real-data.ts";

/** Gives a key, by its number, its next value; the same values in the same order each time. */
export type NoteValues = (key: number) => string;

/** `real`: real texts as they were edited. `random`: what nobody writes, and nothing compresses. */
export type NoteKind = "real" | "random";

const BYTES_MIN = 500;
const BYTES_MAX = 5500;
const SEED = 20_260_101;

/** Histories that a key begins after the one before it. */
const STRIDE = 7;

const WORDS =
  "the importer reads each file once keeps its line endings and mode never build with make but " +
  "npm run tests need a real database on port zero because decision migration schema token cache " +
  "retry backoff queue worker socket deploy staging release branch review lint format strict null";

/** The values of a load, from its beginning. */
export function noteValues(kind: NoteKind): NoteValues {
  return kind === "real" ? realNotes() : randomNotes();
}

/** A number and words in random order, broken into lines: 500 to 5,500 bytes. */
function randomNotes(): NoteValues {
  const random = seededRandom(SEED);
  const words = WORDS.split(" ");
  let count = 0;
  return () => {
    const length = BYTES_MIN + Math.floor(random() * (BYTES_MAX - BYTES_MIN));
    let text = `Note ${count++}.`;
    while (text.length < length) text += (random() < 0.1 ? "\n" : " ") + pick(random, words);
    return text;
  };
}

/**
 * Successive versions of real notes, each key's with other words: there are fewer notes than keys,
 * and no two keys may hold the same text, which would compress to nothing. A key takes one version
 * after another, and where a note's history ends it becomes the next note. There are more versions
 * than revisions are kept, so none of those is there twice, but where the real text went back.
 */
function realNotes(): NoteValues {
  const histories = noteHistories();
  const vocabulary = new Vocabulary(histories.flat());
  const places = new Map<number, { readonly history: number; readonly version: number }>();
  return (key) => {
    const place = places.get(key) ?? { history: (key * STRIDE) % histories.length, version: 0 };
    const versions = histories[place.history] ?? [];
    const isLast = place.version === versions.length - 1;
    const next = { history: (place.history + 1) % histories.length, version: 0 };
    places.set(key, isLast ? next : { ...place, version: place.version + 1 });
    return vocabulary.exchangeWords(versions[place.version] ?? "", key);
  };
}

const WORD = /[A-Za-z]{2,}/g;

/** The words of some texts. */
class Vocabulary {
  readonly #words: readonly string[];
  readonly #byKey = new Map<number, ReadonlyMap<string, string>>();
  readonly #exchanged = new Map<string, string>();

  constructor(texts: readonly string[]) {
    this.#words = [...new Set(texts.flatMap((text) => text.match(WORD) ?? []))];
  }

  /** A text with each word replaced by one of its length, by the key: so its edits stay. */
  exchangeWords(text: string, key: number): string {
    const name = `${key}/${text}`;
    const exchanged = this.#exchanged.get(name) ?? this.#exchange(text, key);
    this.#exchanged.set(name, exchanged);
    return exchanged;
  }

  #exchange(text: string, key: number): string {
    const words = this.#byKey.get(key) ?? this.#exchangesOf(key);
    this.#byKey.set(key, words);
    return text.replace(WORD, (word) => words.get(word) ?? word);
  }

  #exchangesOf(key: number): ReadonlyMap<string, string> {
    const random = seededRandom(SEED + key);
    const others = this.#words
      .map((word) => ({ word, order: random() }))
      .sort((one, other) => one.order - other.order);
    const byLength = Map.groupBy(others, ({ word }) => word.length);
    return new Map(
      this.#words.map((word) => [word, byLength.get(word.length)?.pop()?.word ?? word]),
    );
  }
}

/** The histories of notes that changed and were 500 to 5,500 bytes long. */
function noteHistories(): readonly (readonly string[])[] {
  const notes = [...fileHistories().flatMap(({ versions }) => notesIn(versions)), ...memories()];
  return notes.map(changesOf).filter(({ length }) => length > 1);
}

function memories(): string[][] {
  const values = new Map<string, string[]>();
  for (const change of memoryChanges()) {
    if (change.op === "set")
      values.set(change.key, [...(values.get(change.key) ?? []), change.value]);
  }
  return [...values.values()];
}

function changesOf(versions: readonly string[]): string[] {
  const fit = versions.filter((text) => {
    const bytes = Buffer.byteLength(text);
    return bytes >= BYTES_MIN && bytes <= BYTES_MAX;
  });
  return fit.filter((text, at) => text !== fit[at - 1]);
}

/** A file's history cut into notes: neighbouring sections that are never too long together. */
function notesIn(versions: readonly string[]): string[][] {
  const sections = versions.map((text) => Map.groupBy(text.split(/^(?=##? )/m), headingOf));
  const textOf = (heading: string, at: number) => sections[at]?.get(heading)?.join("") ?? "";
  const longest = (heading: string) =>
    Math.max(...versions.map((_, at) => Buffer.byteLength(textOf(heading, at))));
  const groups: string[][] = [];
  let room = 0;
  for (const heading of new Set(sections.flatMap((each) => [...each.keys()]))) {
    const bytes = longest(heading);
    if (bytes > BYTES_MAX) continue;
    if (bytes > room) groups.push([]);
    room = (bytes > room ? BYTES_MAX : room) - bytes;
    groups.at(-1)?.push(heading);
  }
  return groups.map((headings) =>
    versions.map((_, at) => headings.map((heading) => textOf(heading, at)).join("")),
  );
}

function headingOf(section: string): string {
  return section.split("\n", 1)[0] ?? "";
}
