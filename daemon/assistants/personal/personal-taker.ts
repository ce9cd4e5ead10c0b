import { realpath } from "node:fs/promises";
import type { Kysely } from "kysely";
import type { DocumentAddress } from "../../../shared/replica/document/address.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { CameLine } from "../../files/arrivals/line-arrival-store.ts";
import type { LineArrivals } from "../../files/arrivals/line-arrivals.ts";
import type { ToldLines } from "../../files/arrivals/told-lines.ts";
import { disputedLines, linesWithout, returnedUnseen } from "../../files/arrivals/unseen-lines.ts";
import type { FileContent } from "../../files/state/file-edit.ts";
import { FileGlimpses } from "../../files/state/file-glimpses.ts";
import { findBeginnings } from "../../files/state/unfinished.ts";
import { forgetGlimpses } from "../../home/kept-glimpses.ts";
import type { PersonalFile } from "../../home/personal-files.ts";
import { readPersonalVersions } from "../../home/personal-versions.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { isWording } from "../memory-folders/mended-line.ts";
import { findBlock } from "./block.ts";
import { fileStateOf } from "./late-blocks.ts";
import type { PersonalKeeperOptions } from "./personal-keeper-options.ts";
import type { PersonalRows } from "./personal-rows.ts";
import type { PersonalRead } from "./read-personal-file.ts";
import { settlePersonalLines } from "./settle-personal-lines.ts";
import { type TakenBlock, takeBlock } from "./take-block.ts";
import { parseVersion } from "./version.ts";

type Db = Kysely<DaemonTables>;

interface TakerOptions extends PersonalKeeperOptions {
  /** Where the text is. */
  readonly address: () => DocumentAddress;
  readonly came: LineArrivals;
  readonly told: ToldLines;
  readonly rows: PersonalRows;
}

/** A file as the home knows it, and as it is to be looked at: of another account it is new. */
interface KnownFile {
  readonly known: PersonalFile;
  readonly file: PersonalFile;
}

/** What a look found of a file. */
interface FoundFile {
  readonly read: Exclude<PersonalRead, { kind: "problem" }>;
  /** What it had before it was read. */
  readonly seen: readonly FileContent[];
  /** What all of the file was when it was taken last, if this process knows that. */
  readonly former: string | undefined;
  readonly isLasting: boolean;
}

/** What stands in a block; undefined: there is none. */
interface FoundText {
  readonly text: string | undefined;
  readonly savedAt: number;
  readonly isLasting: boolean;
}

/** An edit of a block that was taken. */
interface NotedEdit {
  readonly from: string;
  readonly to: string;
  readonly savedAt: number;
  readonly unseen: readonly CameLine[];
}

/**
 * Takes what stands in the blocks of files, and notes which of their lines changed when: what
 * several saves had between two looks as well.
 */
export class PersonalTaker {
  readonly #options: TakerOptions;
  readonly #glimpses: FileGlimpses;

  constructor(options: TakerOptions) {
    this.#options = options;
    // A look takes them in its turn: an editor may save at each pause in typing.
    const look = () => undefined;
    this.#glimpses = new FileGlimpses({ ...options, events: options.events, look });
  }

  /** The file is read at each event from here on. What it had until now. */
  async seen({ path }: PersonalFile): Promise<readonly FileContent[]> {
    const real = await realpath(path).catch(() => path);
    return await this.#glimpses.seen(path, real);
  }

  /** Reads no files at events any more but these. */
  async close(files: readonly PersonalFile[] = []): Promise<void> {
    await this.#glimpses.keep((path) => files.some((each) => each.path === path));
  }

  /** Resolves when nothing is being read of which an event told. */
  async glimpsed(): Promise<void> {
    await this.#glimpses.settled();
  }

  /** What a file had is nobody's business: it is ignored. */
  async pass({ path }: PersonalFile, seen: readonly FileContent[]): Promise<void> {
    const isNeeded = () => false;
    await this.#glimpses.missed(path, { seen, known: [], read: undefined, isNeeded });
  }

  /** Takes each text that a file had as an edit of the one before. */
  async take({ known, file }: KnownFile, found: FoundFile): Promise<TakenBlock> {
    const { read, isLasting } = found;
    const { store, world } = this.#options;
    let before: KnownFile = { known, file };
    const missed = await this.#missed(file, found);
    for (const { text, savedAt } of missed) {
      const taken = await this.#takeText(before, { text, savedAt, isLasting: false });
      before = { known: taken.file, file: taken.file };
      if (taken.file.asked) break;
    }
    if (missed.length > 0) {
      const hashes = new Set(missed.map(({ hash }) => hash));
      await store.write(({ db }) => forgetGlimpses(db, file.path, (hash) => hashes.has(hash)));
    }
    const text = read.kind === "file" ? read.block?.text : undefined;
    const savedAt = read.kind === "file" ? read.savedAt : world.now();
    return await this.#takeText(before, { text, savedAt, isLasting });
  }

  /**
   * Texts that the block had before it was read, and that have a line which would be in no file and
   * no history. While somebody is asked, or after a kill, no text is an edit of the one before.
   */
  async #missed(file: PersonalFile, { read, seen, former: before }: FoundFile) {
    if (seen.length === 0) return [];
    const last = read.kind === "file" ? read : undefined;
    const begun = findBeginnings(
      seen,
      last,
      before === undefined ? undefined : fileStateOf(before),
    );
    const known = await readPersonalVersions(this.#options.store.reader);
    const former = new Set(known.map(({ value }) => parseVersion(value).text));
    const shown = plainLines(shownText(file));
    const isOpen = file.asked ?? file.settled ?? file.next;
    const texts = new Map<string, string>();
    let later = read.kind === "file" ? plainLines(read.block?.text ?? "") : [];
    for (const { content, hash } of isOpen === undefined ? [...seen].reverse() : []) {
      const block = findBlock(content);
      const isBegun = begun.some((each) => each.hash === hash);
      if (block.kind !== "block" || former.has(block.text) || isBegun) continue;
      const lines = plainLines(block.text);
      // Or somebody has gone on with it.
      const stays = (line: string) =>
        line.trim() === "" || later.some((one) => one.startsWith(line));
      if (linesWithout(lines, shown).every(stays)) continue;
      later = [...later, ...lines];
      texts.set(hash, block.text);
    }
    const missed = await this.#glimpses.missed(file.path, {
      seen,
      known: [],
      read: read.kind === "file" ? read.hash : undefined,
      isNeeded: ({ hash }) => texts.has(hash),
    });
    return missed.map(({ hash, savedAt }) => ({ hash, savedAt, text: texts.get(hash) }));
  }

  async #takeText(
    { known, file }: KnownFile,
    { text, savedAt, isLasting }: FoundText,
  ): Promise<TakenBlock> {
    const { store, came, address, rows } = this.#options;
    const { path } = file;
    return await store.write(async (context) => {
      const open = await context.open(address());
      const { db } = context;
      const shown = shownText(file);
      // It may have come to an end before the process did.
      if (known.next !== undefined) {
        await this.noteWritten(db, path, { from: shown, to: parseVersion(known.next).text });
      } else if (text === shown) {
        await came.noteSeen(db, path, shown);
      }
      const unseen = await came.unseen(db, path, savedAt);
      const found = await takeBlock(context, open, { file, text, savedAt, isLasting, unseen });
      const isTaken = found.why === undefined && file.settled === "take";
      const now = isTaken ? { ...found.file, settled: undefined, takes: undefined } : found.file;
      if (JSON.stringify(known) !== JSON.stringify(now)) {
        await rows.put(db, now, context.now);
      }
      const { base } = found;
      if (text !== undefined && base !== undefined && !isTaken) {
        await this.#noteEdit(db, path, { from: base, to: text, savedAt, unseen });
      } else if (text !== undefined && now.shown !== known.shown) {
        await came.note(db, path, { from: text, to: text, isOwn: true });
      }
      return { ...found, file: now };
    });
  }

  /** Only what comes from elsewhere is in doubt. */
  async #noteEdit(db: Db, path: string, { from, to, savedAt, unseen }: NotedEdit): Promise<void> {
    const { came, told } = this.#options;
    const sides = { shown: from, saved: to };
    await came.note(db, path, { from, to, isOwn: true, savedAt, isSeen: true });
    await told.noteSave(db, path, { from, to });
    const returned = returnedUnseen(sides, unseen);
    const gone = disputedLines(sides, unseen, isWording);
    await told.note(db, path, { code: "line-returned", lines: returned });
    await told.note(db, path, { code: "line-gone", lines: gone });
  }

  /** A write of ours comes into a file. */
  async noteWritten(db: Db, path: string, change: Pick<NotedEdit, "from" | "to">): Promise<void> {
    const { came, told } = this.#options;
    await told.noteWritten(db, path, change);
    await came.note(db, path, { ...change, isOwn: false });
  }

  /** Brings about what somebody has decided about lines of a file. */
  async settleLines({ path }: PersonalFile): Promise<void> {
    const { store, told, address } = this.#options;
    await store.write(async (context) => {
      const settled = await told.settled(context.db, path);
      if (settled.length === 0) return;
      const change = await settlePersonalLines(context, await context.open(address()), settled);
      if (change) await told.noteSettled(context.db, path, change);
    });
  }
}

function shownText({ shown }: PersonalFile): string {
  return shown === undefined ? "" : parseVersion(shown).text;
}
