import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import { isObject, type JsonValue, parseJson } from "../../shared/json.ts";
import type { ReasonOf } from "../../shared/reasons.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { HeldWrite } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { namesKey } from "./headed-assignments.ts";
import {
  allowPersonalLines,
  type LeavingText,
  ownLettersIn,
  personalLinesReason,
} from "./personal-lines.ts";
import { PERSONAL_RULE } from "./personal-rule.ts";
import { secretAlone } from "./secret-alone.ts";
import { findSecrets, type Secret } from "./secret-scan.ts";

type Db = Kysely<DaemonTables>;

/** What was found in a text. Contains nothing of the text itself. */
export type SecretReason = ReasonOf<"looks-like-secret"> | ReasonOf<"personal-block">;

/** The same of a text that is about to leave. */
type WriteReason = SecretReason | ReasonOf<"personal-lines">;

/** What the author of a write says that it may have; each is said by itself. */
export interface Allows {
  /** What looks like a secret in it is none, or is to be synced. */
  readonly allowSecret?: boolean | undefined;
  /** So are lines of one's own text, also between its marks. */
  readonly allowPersonal?: boolean | undefined;
}

/** Where a write goes, and what there is of it. */
type JudgedPlace = Omit<LeavingText, "text"> & { readonly allows?: Allows | undefined };

/** A write that is to enter a document, and what there is of it. */
interface JudgedWrite {
  /** What the document has in its place, and what its author saw. */
  readonly already: readonly string[];
}

/**
 * Why a text must not enter a document; undefined if it may. A secret that one of the texts in
 * `already` contains is in the document already. One that a person has allowed does not count.
 */
export async function secretReason(
  db: Db,
  text: string,
  already: readonly string[],
): Promise<SecretReason | undefined> {
  const secrets = await findSecrets(text, async (found) => {
    const unknown = await notAllowedAmong(db, found);
    return unknown.filter((secret) => !already.some((each) => each.includes(secret.text)));
  });
  const [first] = secrets;
  if (!first) return undefined;
  const { rule, kind: like } = first;
  const line = text.trimEnd().includes("\n") ? first.line : null;
  if (rule === PERSONAL_RULE) return { code: "personal-block", line };
  const more = secrets.length - 1;
  return { code: "looks-like-secret", rule, like, line, more, inKey: false };
}

/**
 * Why a memory must not enter a document; see `secretReason`. `already`: the values it has there.
 */
export async function memoryReason(
  db: Db,
  { key, value }: Entry,
  already: readonly string[],
): Promise<SecretReason | undefined> {
  const reason =
    (await secretReason(db, value, already)) ??
    (await secretReason(db, assignment({ key, value }), already)) ??
    inLineBefore(await secretReason(db, headed({ key, value }), already));
  if (reason !== undefined || already.length > 0) return reason;
  const ofKey = await secretReason(db, key, []);
  return ofKey?.code === "looks-like-secret" ? { ...ofKey, inKey: true } : ofKey;
}

/** Why metadata must not enter a document; see `textReason`. What is there already is JSON. */
export async function metadataReason(
  db: Db,
  { key, value }: { readonly key: string; readonly value: JsonValue },
  place: JudgedPlace,
): Promise<WriteReason | undefined> {
  const [whole = "", named = ""] = metadataTexts(key, value);
  const found =
    (await secretReason(db, whole, place.already)) ??
    (await secretReason(db, named, place.already));
  const reason = found && { ...found, line: null };
  const already = place.already.map((each) => metadataWords("", parseJson(each)));
  const text = metadataWords(place.already.length > 0 ? "" : key, value);
  const own = await personalLinesReason(db, { ...place, already, text });
  return withLines(reason, own && { ...own, lines: [] });
}

/** A memory, or metadata. */
interface Entry {
  readonly key: string;
  readonly value: string;
}

/**
 * The lines of a memory that have what the rules find, by their numbers, the first is 1: the parts
 * that are around it; none where nobody knows which they are. Where the rules find it by the
 * memory's name alone, its value is one line.
 */
export async function linesOfSecrets(
  db: Db,
  memory: Entry,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const unknownIn = (text: string) => findSecrets(text, (found) => notAllowedAmong(db, found));
  const lines = memory.value.split("\n");
  const below = (await unknownIn(headed(memory))).map((each) => ({ ...each, line: each.line - 1 }));
  const found = [...(await unknownIn(memory.value)), ...below].flatMap(({ text, line }) => {
    return text.split("\n").map((part, at) => [line + at, secretAlone(part)] as const);
  });
  const isByName = found.length === 0 && (await unknownIn(assignment(memory))).length > 0;
  if (isByName) return new Map(lines.map((_, at) => [at + 1, []]));
  const around = new Map<number, readonly string[]>();
  for (const [line, secret] of found) {
    const parts = around.get(line) ?? [lines[line - 1] ?? ""];
    const cut = secret === "" ? parts : parts.flatMap((part) => part.split(secret));
    // A word that is the secret in one place may say something in another.
    around.set(line, cut.length > parts.length + 1 ? [] : cut);
  }
  return around;
}

/** In a longer value, the rules find a password without the name of its memory. */
const ASSIGNED_LENGTH_MAX = 256;

/** A password is recognised by the name before it, which may be its memory's key. */
function assignment({ key, value }: Entry): string {
  const isOneLine = !/[\r\n]/.test(value.trim());
  return isOneLine && value.length <= ASSIGNED_LENGTH_MAX ? `${key}: ${value.trim()}` : "";
}

/** A text whose key says that it has keys, as below a heading that says it. */
function headed({ key, value }: Entry): string {
  const title = key.replace(/\.[a-z]{1,4}$/i, "").replace(/[-_./]+/g, " ");
  return namesKey(title) ? `# ${title}\n${value}` : "";
}

/** The heading stands before the first line. */
function inLineBefore(reason: SecretReason | undefined): SecretReason | undefined {
  return reason && { ...reason, line: reason.line === null ? null : Math.max(1, reason.line - 1) };
}

/** The texts of metadata to check, one by one; see `memoryTexts`. */
export function metadataTexts(key: string, value: JsonValue): string[] {
  return [JSON.stringify({ [key]: value }), namedValues(key, value).join("\n\n")];
}

/** Each text in metadata behind all that names it: `API keys, prod: …`. */
function namedValues(name: string, value: JsonValue): string[] {
  if (typeof value === "string") return [`${name}: ${value}`];
  const parts = Array.isArray(value) ? value.map((part) => ["", part] as const) : [];
  const named = isObject(value) ? Object.entries(value) : parts;
  return named.flatMap(([part, each]) =>
    namedValues(part === "" ? name : `${name}, ${part}`, each),
  );
}

/** What metadata say, each word or sentence in a line. */
export function metadataWords(key: string, value: JsonValue): string {
  if (typeof value === "string") return [key, value].join("\n");
  const parts = isObject(value) ? Object.entries(value) : [];
  const each = Array.isArray(value) ? value.map((part) => ["", part] as const) : parts;
  return [key, ...each.map(([name, part]) => metadataWords(name, part))].join("\n");
}

/** What a key says: a file's name is one of its parts, without what says how it is written. */
export function keyWords(key: string): string {
  return [key, ...key.split("/").map((part) => part.replace(/\.[a-z]{1,4}$/i, ""))].join("\n");
}

/**
 * The texts of a memory to check, one by one, so that an allowing mark counts only for its own
 * text.
 */
export function memoryTexts(memory: Entry): string[] {
  return [memory.key, memory.value, assignment(memory), headed(memory)];
}

/** Why a write of a text must not enter its document: for a secret, for one's own text, or both. */
export async function textReason(
  db: Db,
  text: string,
  place: JudgedPlace,
): Promise<WriteReason | undefined> {
  const reason = await secretReason(db, text, place.already);
  return withLines(reason, await personalLinesReason(db, { ...place, text }));
}

/** The same for a memory. */
export async function entryReason(
  db: Db,
  memory: Entry,
  place: JudgedPlace,
): Promise<WriteReason | undefined> {
  const { allowSecret = false, allowPersonal = false } = place.allows ?? {};
  const found = await memoryReason(db, memory, place.already);
  const isAllowed = found?.code === "personal-block" ? allowPersonal : allowSecret;
  const lines = allowPersonal ? undefined : await ownLinesOf(db, memory, place);
  return withLines(isAllowed ? undefined : found, lines);
}

/** A key says what a file is called, or what an assistant has heard: it has lines of its own. */
async function ownLinesOf(
  db: Db,
  { key, value }: Entry,
  place: JudgedPlace,
): Promise<ReasonOf<"personal-lines"> | undefined> {
  const reason = await personalLinesReason(db, { ...place, text: value });
  if (reason !== undefined || place.already.length > 0) return reason;
  const ofKey = await personalLinesReason(db, { ...place, text: keyWords(key) });
  return ofKey && { ...ofKey, lines: [], inKey: true };
}

/** Who takes out the one still has the other in it, and is told of both. */
function withLines(
  reason: SecretReason | undefined,
  lines: ReasonOf<"personal-lines"> | undefined,
): WriteReason | undefined {
  const isBoth = reason?.code === "looks-like-secret" && lines;
  return isBoth ? { ...reason, personal: lines.lines } : (reason ?? lines);
}

/** Where a write into an open document goes; see `LeavingText`. */
export function leavingFor(open: OpenDocument, already: readonly string[]): JudgedPlace {
  return { document: open.address.name, already, others: () => textsOf(open) };
}

function* textsOf({ document }: OpenDocument): Generator<string> {
  yield document.content();
  for (const key of document.memories.keys()) {
    yield keyWords(key);
    for (const { value } of document.memories.get(key)) yield String(value);
  }
  for (const key of document.metadata.keys()) {
    for (const { value } of document.metadata.get(key)) yield metadataWords(key, value);
  }
}

/** Why a write is held, as it is stored. */
export type WhyHeld = Pick<HeldWrite, "cause" | "reason">;

/** Why a write of `text` is to be held; undefined if it may enter. See `secretReason`. */
export async function whyHeld(
  db: Db,
  open: OpenDocument,
  { text, already }: { readonly text: string } & JudgedWrite,
): Promise<WhyHeld | undefined> {
  const reason = await textReason(db, text, leavingFor(open, already));
  return asHeld(reason) ?? whyFull(open, text, already);
}

/** The same for a memory and its key; `already`: the values it has. */
export async function whyMemoryHeld(
  db: Db,
  open: OpenDocument,
  { memory, already }: { readonly memory: Entry } & JudgedWrite,
): Promise<WhyHeld | undefined> {
  const reason = await entryReason(db, memory, leavingFor(open, already));
  return asHeld(reason) ?? whyFull(open, memory.value, already);
}

/** The same for metadata; `already`: its values as JSON. */
export async function whyMetadataHeld(
  db: Db,
  open: OpenDocument,
  {
    key,
    value,
    already,
  }: { readonly already: readonly string[] } & { readonly key: string; readonly value: JsonValue },
): Promise<WhyHeld | undefined> {
  const reason = await metadataReason(db, { key, value }, leavingFor(open, already));
  return asHeld(reason) ?? whyFull(open, JSON.stringify(value), already);
}

function asHeld(reason: WriteReason | undefined): WhyHeld | undefined {
  return reason === undefined ? undefined : { cause: "private", reason };
}

function whyFull(
  open: OpenDocument,
  text: string,
  already: readonly string[],
): WhyHeld | undefined {
  const hasRoom = !open.isFull || !addsLines(text, already);
  return hasRoom ? undefined : { cause: "limit", reason: { code: "no-room" } };
}

function addsLines(text: string, already: readonly string[]): boolean {
  const known = new Set(already.flatMap((each) => each.split("\n")));
  return text.split("\n").some((line) => !known.has(line));
}

/**
 * From now on nothing in a held write counts as a secret on this machine, and nothing as one's own
 * text in its document; or only what is allowed of that.
 */
export async function allowPrivateOf(
  db: Db,
  write: Pick<HeldWrite, "kind" | "document" | "key" | "value">,
  { now, allows = EVERYTHING }: { readonly now: number; readonly allows?: Allows },
): Promise<void> {
  if (allows.allowPersonal) {
    await allowPersonalLines(db, { document: write.document, text: wordsIn(write) }, now);
  }
  const isMeant = ({ rule }: Secret) => {
    return (rule === PERSONAL_RULE ? allows.allowPersonal : allows.allowSecret) === true;
  };
  for (const text of textsIn(write)) await allowFoundIn(db, text, { now, isMeant });
}

/** What is private in a held write, and allowed by nobody: what it is held for, part by part. */
export async function privateIn(
  db: Db,
  write: Pick<HeldWrite, "kind" | "document" | "key" | "value">,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const text of textsIn(write)) {
    const secrets = await findSecrets(text, (all) => notAllowedAmong(db, all));
    for (const secret of secrets) found.add(`secret ${hashOf(secret)}`);
  }
  const own = await ownLettersIn(db, { document: write.document, text: wordsIn(write) });
  for (const letters of own) found.add(`line ${letters}`);
  return found;
}

/** Of what somebody has seen held. */
const EVERYTHING: Allows = { allowSecret: true, allowPersonal: true };

function textsIn({ kind, key, value = "" }: Pick<HeldWrite, "kind" | "key" | "value">): string[] {
  if (kind === "memory") return memoryTexts({ key, value });
  return kind === "metadata" ? metadataTexts(key, parseJson(value || "null")) : [value];
}

function wordsIn({ kind, key, value = "" }: Pick<HeldWrite, "kind" | "key" | "value">): string {
  if (kind === "memory") return [value, keyWords(key)].join("\n");
  return kind === "metadata" ? metadataWords(key, parseJson(value || "null")) : value;
}

async function allowFoundIn(
  db: Db,
  text: string,
  { now, isMeant }: { readonly now: number; readonly isMeant: (secret: Secret) => boolean },
): Promise<void> {
  for (;;) {
    const found = await findSecrets(text, (all) => notAllowedAmong(db, all));
    const secrets = found.filter(isMeant);
    if (secrets.length === 0) return;
    for (const secret of secrets) {
      await db
        .insertInto("allowances")
        .values({ hash: hashOf(secret), allowed_at: now })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  }
}

async function notAllowedAmong(db: Db, secrets: readonly Secret[]): Promise<Secret[]> {
  if (secrets.length === 0) return [];
  const hashes = new Map(secrets.map((secret) => [secret, hashOf(secret)]));
  const rows = await db
    .selectFrom("allowances")
    .select("hash")
    .where("hash", "in", [...new Set(hashes.values())])
    .orderBy("hash")
    .execute();
  const allowed = new Set(rows.map(({ hash }) => hash));
  return secrets.filter((secret) => !allowed.has(hashes.get(secret) ?? ""));
}

function hashOf({ text }: Secret): string {
  return createHash("sha256").update(text).digest("hex");
}
