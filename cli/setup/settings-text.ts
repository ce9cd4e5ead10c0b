import { isDeepStrictEqual } from "node:util";
import {
  applyEdits,
  type Edit,
  modify,
  type ParseError,
  parse,
  printParseErrorCode,
} from "jsonc-parser/lib/esm/main.js";
import { isObject } from "../../shared/json.ts";
import { cutValue, isHollow } from "./cut-value.ts";
import { findDoubled } from "./doubled-names.ts";

/**
 * What memsync needs in an assistant's settings: a value of its own under `keys`, or one more item
 * of the list there.
 *
 * ```
 * const server: SettingsEntry = {
 *   kind: "value", keys: ["mcpServers", "memsync"], value: { command: "memsync", args: ["mcp"] },
 * };
 * insertEntry('{"theme": "dark"}', "json", server); // the same text with the server in it
 * ```
 */
export interface SettingsEntry {
  readonly kind: "value" | "item";
  readonly keys: readonly string[];
  readonly value: unknown;
  /** Another item with these words does the same. */
  readonly mark?: string;
  /** The user's own entries need it as well: it stays when ours go, whoever put it in. */
  readonly isShared?: boolean;
}

export type Syntax = "json" | "toml";

/** `other`: something else stands in its place, which is left alone. */
export type EntryState = "absent" | "present" | "other";

/** The file is no settings as its assistant would read them. It is left alone. */
export class UnreadableSettings extends Error {
  override readonly name = "UnreadableSettings";
}

export function stateOf(text: string, syntax: Syntax, entry: SettingsEntry): EntryState {
  const found = valueAt(parseSettings(text, syntax), entry.keys);
  if (entry.kind === "value") {
    if (found === undefined) return "absent";
    return isDeepStrictEqual(found, entry.value) ? "present" : "other";
  }
  const items = listOf(found);
  if (items.some((item) => isDeepStrictEqual(item, entry.value))) return "present";
  const { mark } = entry;
  const isWrapped = (item: unknown) => mark !== undefined && JSON.stringify(item).includes(mark);
  return items.some(isWrapped) ? "other" : "absent";
}

/** The text with an entry that it lacks. Everything else in it keeps its bytes. */
export function insertEntry(text: string, syntax: Syntax, entry: SettingsEntry): string {
  const settings = parseSettings(text, syntax);
  if (syntax === "toml") return withTable(text, settings, entry);
  const { kind, keys, value } = entry;
  const place = kind === "value" ? keys : [...keys, -1];
  const depth = depthOf(settings, place);
  // A null on the way says that there is nothing, so it is replaced.
  if (depth > 0 && valueAt(settings, place.slice(0, depth)) === null) {
    const rest = place.slice(depth);
    const inside = rest.reduceRight<unknown>(
      (inner, key) => (typeof key === "string" ? { [key]: inner } : [inner]),
      value,
    );
    return withValue(text, { place: place.slice(0, depth), value: inside, depth: depth - 1 });
  }
  return withValue(text, { place, value, depth });
}

/**
 * The text without an entry that it has, and without the lists and objects that are empty then. The
 * same text where the entry can't be told from its surroundings. Comments stay.
 */
export function removeEntry(text: string, syntax: Syntax, entry: SettingsEntry): string {
  if (syntax === "toml") {
    const table = tableOf(entry);
    return text.replace(table, "").replace(table.replaceAll("\n", "\r\n"), "");
  }
  const plain = withoutMark(text);
  let left = plain;
  // Another program may have written an item twice, and a hook that is left would still run.
  for (const place of placesOf(entry, text)) left = cutValue(left, place);
  const around = entry.kind === "item" ? entry.keys : entry.keys.slice(0, -1);
  for (let keys = around; keys.length > 0; keys = keys.slice(0, -1)) {
    if (!isHollow(left, keys)) break;
    left = cutValue(left, keys);
  }
  return text.slice(0, text.length - plain.length) + left;
}

/** Where an entry is, the last place first. */
function placesOf({ kind, keys, value }: SettingsEntry, text: string): (string | number)[][] {
  if (kind === "value") return [[...keys]];
  const items = listOf(valueAt(parseSettings(text, "json"), keys));
  const found = items.flatMap((item, at) => (isDeepStrictEqual(item, value) ? [at] : []));
  return found.reverse().map((at) => [...keys, at]);
}

/**
 * What the settings say beside these entries, but for those that the user's own need: without what
 * holds nothing then, or did so before.
 */
export function restOf(text: string, syntax: Syntax, entries: readonly SettingsEntry[]): unknown {
  const own = entries.filter(({ isShared }) => !isShared);
  return own.reduce<unknown>(
    (settings, entry) => withoutEntry(settings, entry, entry.keys),
    parseSettings(text, syntax),
  );
}

function withoutEntry(settings: unknown, entry: SettingsEntry, keys: readonly string[]): unknown {
  const [key, ...rest] = keys;
  const isOurs = (value: unknown) => isDeepStrictEqual(value, entry.value);
  if (key === undefined && entry.kind === "value") return isOurs(settings) ? undefined : settings;
  if (key === undefined) {
    const items = Array.isArray(settings) ? settings.filter((item) => !isOurs(item)) : settings;
    return holdsNothing(items) ? undefined : items;
  }
  if (!isObject(settings)) return holdsNothing(settings) ? undefined : settings;
  const { [key]: former, ...others } = settings;
  const inner = withoutEntry(former, entry, rest);
  const left = inner === undefined ? others : { ...others, [key]: inner };
  return holdsNothing(left) ? undefined : left;
}

function holdsNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** What the settings say. Throws `UnreadableSettings`. */
export function parseSettings(text: string, syntax: Syntax): unknown {
  const plain = withoutMark(text);
  if (syntax === "toml") return readToml(plain);
  if (plain.trim() === "") return {};
  const errors: ParseError[] = [];
  const value: unknown = parse(plain, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) {
    const line = plain.slice(0, first.offset).split("\n").length;
    throw new UnreadableSettings(`line ${line} is no JSON: ${problemOf(first)}`);
  }
  if (!isObject(value)) throw new UnreadableSettings("is no object");
  return value;
}

/**
 * Refuses settings in which a name on the way to an entry is there twice: nobody knows which of the
 * two its assistant reads. A parser refuses that in TOML. Throws `UnreadableSettings`.
 */
export function refuseDoubled(
  text: string,
  syntax: Syntax,
  entries: readonly SettingsEntry[],
): void {
  if (syntax === "toml") return;
  const plain = withoutMark(text);
  for (const { keys } of entries) {
    const found = findDoubled(plain, keys);
    if (!found) continue;
    const [first, second] = found.lines;
    const where = first === second ? `line ${first}` : `lines ${first} and ${second}`;
    throw new UnreadableSettings(
      `has ${found.keys.join(".")} twice, in ${where}: make one of the two, and say it again`,
    );
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  InvalidSymbol: "a name or a word without quotes",
  InvalidNumberFormat: "a number that is none",
  PropertyNameExpected: "a name in quotes is missing",
  ValueExpected: "a value is missing",
  ColonExpected: "a colon is missing",
  CommaExpected: "a comma is missing",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  EndOfFileExpected: "more follows than one value",
  UnexpectedEndOfComment: "a comment does not end",
  UnexpectedEndOfString: "a text in quotes does not end",
  UnexpectedEndOfNumber: "a number does not end",
};

function problemOf({ error }: ParseError): string {
  return PROBLEMS[printParseErrorCode(error)] ?? "there is a character that it does not have";
}

function readToml(text: string): unknown {
  try {
    return Bun.TOML.parse(text);
  } catch (thrown) {
    throw new UnreadableSettings(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

export function valueAt(settings: unknown, keys: readonly (string | number)[]): unknown {
  let value = settings;
  for (const key of keys) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, key)?.value;
  }
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new UnreadableSettings("has no list where hooks belong");
  return value;
}

interface Insertion {
  /** Ends with -1 for one more item of a list. */
  readonly place: readonly (string | number)[];
  readonly value: unknown;
  /** How deep `place` exists already; 0: only the whole. */
  readonly depth: number;
}

/** How deep the innermost thing on the way to `place` lies that is there already. */
function depthOf(settings: unknown, place: readonly (string | number)[]): number {
  let depth = 0;
  while (valueAt(settings, place.slice(0, depth + 1)) !== undefined) depth++;
  return depth;
}

/**
 * The text with a value inserted. The parser would format what stands around anew, so it is told
 * not to, and the value is indented here, as the text is if it has more than one line.
 */
function withValue(text: string, { place, value, depth }: Insertion): string {
  const plain = withoutMark(text);
  const mark = text.slice(0, text.length - plain.length);
  const edits = editsFor(plain, place, value);
  const [edit] = edits;
  if (!edit) return text;
  if (plain.trim() === "") return `${mark}${JSON.stringify(JSON.parse(edit.content), null, 2)}\n`;
  if (!plain.trim().includes("\n")) return mark + applyEdits(plain, edits);
  const [, comma = "", key = "", json = ""] =
    /^(,?)\s*("(?:[^"\\]|\\.)*":\s*)?(.*)$/s.exec(edit.content) ?? [];
  const [, indent = "  "] = /\n([ \t]+)\S/.exec(plain) ?? [];
  const newline = plain.includes("\r\n") ? "\r\n" : "\n";
  const start = newline + indent.repeat(depth + 1);
  const lines = JSON.stringify(JSON.parse(json), null, indent).split("\n");
  if (edit.length > 0) {
    return mark + applyEdits(plain, [{ ...edit, content: lines.join(start) }]);
  }
  const end = comma === "" ? newline + indent.repeat(depth) : "";
  const content = comma + start + key.replace(/:\s*$/, ": ") + lines.join(start) + end;
  return mark + applyEdits(plain, [{ ...edit, content }]);
}

/** Throws `UnreadableSettings` where something else stands on the way. */
function editsFor(text: string, place: readonly (string | number)[], value: unknown): Edit[] {
  try {
    return modify(text, [...place], value, { isArrayInsertion: place.at(-1) === -1 });
  } catch {
    throw new UnreadableSettings(`has no room for ${place.filter((key) => key !== -1).join(".")}`);
  }
}

function withTable(text: string, settings: unknown, entry: SettingsEntry): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text === "" ? "" : text.endsWith("\n") ? newline : newline + newline;
  const after = text + gap + tableOf(entry).replaceAll("\n", newline);
  const parent = valueAt(settings, entry.keys.slice(0, -1));
  // A table that is written in one line can't be continued below.
  const isTaken = parent !== undefined && !isObject(parent);
  if (isTaken || !isDeepStrictEqual(valueAt(readToml(after), entry.keys), entry.value)) {
    throw new UnreadableSettings(`has no room for [${entry.keys.join(".")}]`);
  }
  return after;
}

function tableOf({ keys, value }: SettingsEntry): string {
  if (!isObject(value)) throw new Error("a table is an object");
  const lines = Object.entries(value).map(([key, each]) => `${key} = ${tomlValue(each)}\n`);
  return `[${keys.join(".")}]\n${lines.join("")}`;
}

/** TOML writes strings, and lists of them, as JSON does. */
function tomlValue(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(tomlValue).join(", ")}]` : JSON.stringify(value);
}

/** Without the byte order mark, which no parser wants. */
function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** An entry in a line, for people. */
export function entryShown({ keys, value }: SettingsEntry): string {
  return `${keys.join(".")}  ${JSON.stringify(value)}`;
}
