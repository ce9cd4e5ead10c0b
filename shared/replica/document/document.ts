// What a document holds, and which write wins; no disk and no network.

import * as Y from "yjs";
import { assert } from "../../errors.ts";
import { equalJson, type JsonValue } from "../../json.ts";
import { inOneTurn, inTurns, type Steps } from "../../steps.ts";
import type { Pause } from "../../turns.ts";
import { wellFormed } from "../../wire/well-formed.ts";
import type { RemovedText } from "../text/removed-text.ts";
import {
  alignBase,
  type CapturedText,
  captureText,
  captureTextInSteps,
  type EditedLines,
  editFromBase,
  editFromBaseInSteps,
} from "../text/text.ts";
import { equalForms, joinForm, readForm, splitForm, type TextForm } from "../text/text-form.ts";
import { TransactionChanges } from "./document-changes.ts";
import { EntryArrays, type EntryKind, visibleItems } from "./entry-arrays.ts";
import { type Entry, type EntryId, EntryIndex, type StoredEntry, sameId } from "./entry-index.ts";
import { OWN_METADATA_PREFIX, REMOVED_PREFIX, removedKey } from "./own-metadata.ts";
import { entryTime, wellFormedValue } from "./stored-value.ts";

/** Name of the Yjs root that holds the text. */
export const TEXT_ROOT = "claude_md";

/** The place of an item: in the text, or in an array of entries. */
export type ItemPlace = "text" | EntryKind;

/** The metadata key of the text's form. */
export const TEXT_FORM_KEY = `${OWN_METADATA_PREFIX}text`;
/** The metadata key of a project's name. */
export const PROJECT_NAME_KEY = `${OWN_METADATA_PREFIX}name`;

/** Where a document changed. */
export interface TouchedParts {
  /** Keys of memories whose value changed, or of which a deletion is told. */
  readonly memoryKeys: ReadonlySet<string>;
  readonly metadataKeys: ReadonlySet<string>;
  readonly text: boolean;
}

/** The changes of several transactions. `drainChanges` reads and resets them. */
export interface DocumentChanges extends TouchedParts {
  /** The parts that this replica changed, and those that others' updates did. */
  readonly by: Readonly<Record<"local" | "remote", TouchedParts>>;
  /** Entries of memories that were deleted, losing versions included. */
  readonly replaced: readonly Entry[];
  /** The clients whose characters were added to the text. */
  readonly textClients: ReadonlySet<number>;
  /** What this replica itself removed from the text. */
  readonly removedText: readonly RemovedText[];
}

/** When an entry was written, and which it replaces. */
export interface WriteOptions {
  /** When the write happened, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** When the entry began, where it was written before, elsewhere. */
  readonly createdAt?: number;
  /** The entries that its author saw; if left out, those of the key that are visible now. */
  readonly seen?: readonly EntryId[];
  /** Even if the value is the same, it settles the key's conflicts. */
  readonly settles?: boolean;
  /** Its author can't have seen that the memory was deleted, whatever is visible here. */
  readonly isBeforeDeletion?: boolean;
}

/**
 * One Yjs document: a text in the root `claude_md`, and entries in the roots `memories/<client id>`
 * and `metadata/<client id>`, one for each client that has written. A write deletes the entries of
 * its key that its author saw, in every array, and appends one to its own. So concurrent writes of
 * a key leave several entries, the same ones on every replica.
 *
 * ```
 * const document = new ReplicaDocument(updates, clientId);
 * document.setEntry("memories", "editor", { value: "vim", now });
 * document.memories.get("editor")[0]?.value; // "vim"
 * ```
 */
export class ReplicaDocument {
  readonly ydoc = new Y.Doc();
  readonly memories = new EntryIndex();
  readonly metadata = new EntryIndex();
  readonly #arrays = new EntryArrays(this.ydoc);
  readonly #text: Y.Text;
  #changes = noChanges();

  /**
   * Loads a document from its updates. `clientId` writes from now on. It is set after loading,
   * because Yjs replaces an id that it finds in what it loads.
   */
  constructor(updates: readonly Uint8Array[], clientId: number) {
    for (const update of updates) Y.applyUpdate(this.ydoc, update);
    assert(!this.hasPending(), "a stored document has updates whose predecessors are missing");
    this.ydoc.clientID = clientId;
    this.#text = this.ydoc.getText(TEXT_ROOT);
    this.#indexAll();
    this.ydoc.on("afterTransaction", (transaction: Y.Transaction) => this.#follow(transaction));
  }

  /**
   * Whether Yjs is waiting for updates on which others depend. Nothing may be shown until they
   * come.
   */
  hasPending(): boolean {
    return this.ydoc.store.pendingStructs !== null || this.ydoc.store.pendingDs !== null;
  }

  /** The root that a Yjs type is; undefined for any other type. */
  placeOf(type: unknown): ItemPlace | undefined {
    return type === this.#text ? "text" : this.#arrays.kindOf(type);
  }

  /** Runs `edit` as one change, which makes one update with the origin `origin`. */
  change<Result>(origin: "local" | "remote", edit: () => Result): Result {
    return this.ydoc.transact(edit, origin);
  }

  /** The changes since the last call of `drainChanges`. */
  get changes(): DocumentChanges {
    return this.#changes;
  }

  drainChanges(): DocumentChanges {
    const changes = this.#changes;
    this.#changes = noChanges();
    return changes;
  }

  get text(): Y.Text {
    return this.#text;
  }

  /** Whether the text has, or ever had, any content. */
  everHadText(): boolean {
    return this.#text._start !== null;
  }

  textForm(): TextForm {
    return readForm(this.metadata.get(TEXT_FORM_KEY)[0]?.value);
  }

  /** The text as it is sent and written to files. */
  content(): string {
    return joinForm(this.#text.toString(), this.textForm());
  }

  /** Replaces the text by the smallest edit of whole lines. False: it was equal already. */
  setContent(content: string, now: number): boolean {
    const next = wellFormed(content);
    if (next === this.content()) return false;
    this.change("local", () => inOneTurn(this.#replaceContent(next, now)));
    return true;
  }

  /** The same in turns and several transactions. Nobody else may change the document meanwhile. */
  async setContentInTurns(content: string, now: number, pause: Pause): Promise<boolean> {
    const next = wellFormed(content);
    if (next === this.content()) return false;
    await inTurns(this.#changeEachStep(this.#replaceContent(next, now)), pause);
    return true;
  }

  *#replaceContent(next: string, now: number): Steps<void> {
    const { form, lines } = splitForm(next, this.textForm());
    yield* this.#setTextForm(form, now);
    yield* this.#replaceText(lines);
  }

  *#replaceText(lines: string): Steps<void> {
    const base = yield* captureTextInSteps(this.#text);
    yield* editFromBaseInSteps(this.#text, base, wellFormed(lines));
  }

  /** Each step is a transaction of its own. */
  *#changeEachStep(steps: Steps<void>): Steps<void> {
    while (!this.change("local", () => steps.next()).done) yield;
  }

  /** Applies the change from `base` to `lines` to the current text; see `editFromBase`. */
  editText(base: CapturedText, lines: string, hunks?: EditedLines["hunks"]): CapturedText {
    const change = { lines: wellFormed(lines), hunks };
    return this.change("local", () => editFromBase(this.#text, base, change));
  }

  captureText(): CapturedText {
    return captureText(this.#text);
  }

  /** Treats lines as a version of the text although they are none; see `alignBase`. */
  alignText(lines: string): CapturedText {
    return alignBase(this.#text, lines);
  }

  /**
   * Sets the text's format. If the line ending changes, every line gets the new one. Lines with
   * another ending have to be set by a later edit.
   */
  setTextForm(form: TextForm, now: number): void {
    if (equalForms(form, this.textForm())) return;
    this.change("local", () => inOneTurn(this.#setTextForm(form, now)));
  }

  *#setTextForm(form: TextForm, now: number): Steps<void> {
    const former = this.textForm();
    if (equalForms(form, former)) return;
    if (form.eol !== former.eol) yield* this.#dropMarks();
    this.setEntry("metadata", TEXT_FORM_KEY, { value: { ...form }, now });
  }

  /** Makes every line end as the format says. */
  *#dropMarks(): Steps<void> {
    const text = this.#text.toString();
    const lines = text.replaceAll("\r\n", "\n");
    if (lines !== text) yield* this.#replaceText(lines);
  }

  projectName(): string | undefined {
    const name = this.metadata.get(PROJECT_NAME_KEY)[0]?.value;
    return typeof name === "string" ? name : undefined;
  }

  setProjectName(name: string, now: number): void {
    this.setEntry("metadata", PROJECT_NAME_KEY, { value: name, now });
  }

  /**
   * Writes one value. False: the key has this value already, and nothing changed. Within one
   * `change` a key may be written only once.
   */
  setEntry(
    kind: EntryKind,
    key: string,
    { value, ...options }: { readonly value: JsonValue } & WriteOptions,
  ): boolean {
    const write = this.#writeOf(kind, { key, value }, options);
    if (write) this.#write(kind, [write]);
    return write !== undefined;
  }

  /**
   * Writes many values as `setEntry` would one by one, in time that grows as their number. Returns
   * for each whether it changed anything. No key may be among them twice.
   */
  setEntries(
    kind: EntryKind,
    values: readonly { readonly key: string; readonly value: JsonValue }[],
    now: number,
  ): readonly boolean[] {
    const writes = values.map((each) => this.#writeOf(kind, each, { now }));
    this.#write(
      kind,
      writes.filter((write) => write !== undefined),
    );
    return writes.map((write) => write !== undefined);
  }

  /** The write of a value; undefined if the key has this value already. */
  #writeOf(
    kind: EntryKind,
    { key, value }: { readonly key: string; readonly value: JsonValue },
    options: WriteOptions,
  ): EntryWrite | undefined {
    const entry = { key: wellFormed(key), value: wellFormedValue(value) };
    const current = this.#index(kind).get(entry.key);
    const told = kind === "memories" ? this.deletionsOf(entry.key) : [];
    if (!options.seen && isSettled([...current, ...told], entry.value, options)) return undefined;
    const seen = options.seen ? current.filter((each) => includes(options.seen, each)) : current;
    const stored = { ...entry, ...timesOf(seen, options) };
    return { stored, seen, deletions: seenDeletions(told, { current, options }) };
  }

  /** The entries that say that somebody deleted a memory, the latest first. */
  deletionsOf(key: string): readonly Entry[] {
    return this.metadata.get(REMOVED_PREFIX + key);
  }

  #write(kind: EntryKind, writes: readonly EntryWrite[]): void {
    if (writes.length === 0) return;
    const replaced = writes.flatMap(({ seen }) => seen);
    const stored = writes.map((write) => write.stored);
    const deletions = writes.flatMap((write) => write.deletions);
    this.ydoc.transact((transaction) => {
      this.#arrays.delete(transaction, kind, replaced);
      if (deletions.length > 0) this.#arrays.delete(transaction, "metadata", deletions);
      this.#arrays.append(transaction, kind, stored);
    }, "local");
  }

  /** Deletes a key's entries; only those in `seen`, if given. False: there were none. */
  deleteEntry(kind: EntryKind, key: string, seen?: readonly EntryId[]): boolean {
    const entries = this.#index(kind)
      .get(wellFormed(key))
      .filter((entry) => !seen || includes(seen, entry));
    if (entries.length === 0) return false;
    this.ydoc.transact((transaction) => this.#arrays.delete(transaction, kind, entries), "local");
    return true;
  }

  /** Deletes the entries of many keys, in time that grows as their number. */
  deleteEntries(kind: EntryKind, keys: readonly string[]): void {
    const entries = keys.flatMap((key) => [...this.#index(kind).get(wellFormed(key))]);
    if (entries.length === 0) return;
    this.ydoc.transact((transaction) => this.#arrays.delete(transaction, kind, entries), "local");
  }

  #index(kind: EntryKind): EntryIndex {
    return kind === "memories" ? this.memories : this.metadata;
  }

  #indexAll(): void {
    const changes = new TransactionChanges(this.#arrays, this.#text);
    for (const { array } of this.#arrays.drainNew()) {
      for (const item of visibleItems(array)) changes.item(item, true);
    }
    this.#updateIndexes(changes);
  }

  /** Updates the indexes and the list of changes after a transaction. */
  #follow(transaction: Y.Transaction): void {
    this.#arrays.drainNew();
    const changes = new TransactionChanges(this.#arrays, this.#text);
    changes.collect(transaction);
    this.#updateIndexes(changes);
    for (const { removed } of changes.memories.values()) this.#changes.replaced.push(...removed);
    this.#changes.removedText.push(...changes.removedText);
    for (const client of changes.textClients) this.#changes.textClients.add(client);
    addTouched(this.#changes, changes);
    addTouched(this.#changes.by[transaction.origin === "remote" ? "remote" : "local"], changes);
  }

  #updateIndexes({ memories, metadata }: TransactionChanges): void {
    for (const [key, change] of memories) this.memories.change(key, change);
    for (const [key, change] of metadata) this.metadata.change(key, change);
  }
}

function noChanges() {
  const replaced: Entry[] = [];
  const removedText: RemovedText[] = [];
  return {
    ...noTouch(),
    by: { local: noTouch(), remote: noTouch() },
    replaced,
    textClients: new Set<number>(),
    removedText,
  };
}

function noTouch() {
  return { memoryKeys: new Set<string>(), metadataKeys: new Set<string>(), text: false };
}

function addTouched(
  touched: ReturnType<typeof noTouch>,
  { memories, metadata, text }: TransactionChanges,
): void {
  for (const key of memories.keys()) touched.memoryKeys.add(key);
  for (const key of metadata.keys()) {
    touched.metadataKeys.add(key);
    const removed = removedKey(key);
    if (removed !== undefined) touched.memoryKeys.add(removed);
  }
  if (text || metadata.has(TEXT_FORM_KEY)) touched.text = true;
}

/** A new entry, and those that it replaces. */
interface EntryWrite {
  readonly stored: StoredEntry;
  readonly seen: readonly Entry[];
  /** The deletions of the memory that the author saw. */
  readonly deletions: readonly Entry[];
}

/**
 * The deletions of a memory that the author of a write has seen. Whoever wrote a memory of which
 * there was nothing began it anew, whatever had become of an earlier one.
 */
function seenDeletions(
  told: readonly Entry[],
  { current, options }: { readonly current: readonly Entry[]; readonly options: WriteOptions },
): readonly Entry[] {
  const { seen, isBeforeDeletion } = options;
  if (isBeforeDeletion) return [];
  const isBegun = seen?.length === 0 && current.length === 0;
  return seen && !isBegun ? told.filter((each) => includes(seen, each)) : told;
}

function includes(ids: readonly EntryId[] | undefined, entry: Entry): boolean {
  return ids?.some((id) => sameId(id, entry.id)) ?? false;
}

/** Whether a write of `value` would change nothing. */
function isSettled(current: readonly Entry[], value: JsonValue, options: WriteOptions): boolean {
  const [winner, ...conflicts] = current;
  if (conflicts.length > 0 && options.settles) return false;
  return winner !== undefined && equalJson(winner.value, value);
}

/**
 * The times of an entry that replaces others: updated after each of them, created with the oldest.
 */
function timesOf(
  seen: readonly Entry[],
  options: Pick<WriteOptions, "now" | "createdAt">,
): { created_at: number; updated_at: number } {
  const now = entryTime(options.now);
  let created = entryTime(options.createdAt ?? now);
  let updated = now;
  for (const entry of seen) {
    created = Math.min(created, entry.created_at);
    updated = Math.max(updated, entry.updated_at + 1);
  }
  return { created_at: created, updated_at: entryTime(updated) };
}
