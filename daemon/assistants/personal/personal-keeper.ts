// Keeps the user's own text the same in a block of each assistant's file, both ways.
// Its neighbours keep folders of memories and records of sessions.

import { basename, dirname } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import type { Reason } from "../../../shared/reasons.ts";
import { userDocument } from "../../../shared/replica/document/address.ts";
import { LineArrivals } from "../../files/arrivals/line-arrivals.ts";
import { ToldLines } from "../../files/arrivals/told-lines.ts";
import {
  findProjectFile,
  listProjectFiles,
  type ProjectFile,
} from "../../files/names/find-project-file.ts";
import { clearBegunWrite, finishBegunWrite } from "../../files/saves/begun-write.ts";
import type { FileContent } from "../../files/state/file-edit.ts";
import { LOCAL_USER } from "../../home/local-account.ts";
import {
  askedWhoseText,
  forgetPersonalFile,
  listPersonalFiles,
  type PersonalFile,
} from "../../home/personal-files.ts";
import { readHead } from "../../home/read-head.ts";
import type { Whose } from "../../home/whose.ts";
import { takeIgnored } from "../../ignored/ignore-file.ts";
import { RegularLooks } from "../../watch/regular-looks.ts";
import { listLeftBlocks } from "./held-blocks.ts";
import { isLeftAlike, ledTo, ofAccount, whyProjects } from "./known-file.ts";
import { LateBlocks } from "./late-blocks.ts";
import { type CountedText, settleVersions } from "./personal-document.ts";
import type { PersonalKeeperOptions } from "./personal-keeper-options.ts";
import { PersonalRows } from "./personal-rows.ts";
import type { PersonalFileStatus, PersonalLook } from "./personal-status.ts";
import { PersonalTaker } from "./personal-taker.ts";
import { readMerges } from "./read-merges.ts";
import { glimpsePersonalFile, type PersonalRead, readPersonalFile } from "./read-personal-file.ts";
import { showing } from "./take-block.ts";
import { UncutFiles } from "./uncut-files.ts";
import { NO_TEXT, type PersonalVersion, parseVersion } from "./version.ts";
import {
  contentAdopted,
  contentWith,
  contentWithout,
  type NextContent,
  type Writable,
  whyNotWritten,
  writePersonalFile,
} from "./write-block.ts";

/** How often the files are looked at. */
const LOOK_MS = 5000;
/** The same while no file has the text; whoever turns one on tells the daemon as well. */
const OFF_MS = 60_000;
/** A block that is missing or empty for this long is asked about. */
const LASTING_MS = 10_000;
/** A file that has not changed is not read again for this time. */
const FILES_REREAD_MS = 60_000;

const NOTHING: PersonalLook = { files: [], text: undefined, merges: [] };

/** A file in the midst of a look. */
interface Looked {
  readonly file: PersonalFile;
  readonly read: PersonalRead;
  readonly why: Reason | undefined;
  /** The project that has the same file, or may have it. */
  readonly shared?: ProjectFile | undefined;
}

/** What was read of a file. */
interface ReadFile {
  readonly read: PersonalRead;
  /** What it had before. */
  readonly seen: readonly FileContent[];
  /** Another assistant that has the same file. */
  readonly other: string | undefined;
  /** The project that has the same file. */
  readonly shared: ProjectFile | undefined;
}

/**
 * Keeps a user's own text the same in the files of all assistants that were turned on, and in the
 * user's document, which every machine of that user has. Only the block in each file is read and
 * written. One look at a time.
 *
 * ```
 * const keeper = new PersonalKeeper(options);
 * keeper.start();
 * await keeper.stop();
 * ```
 */
export class PersonalKeeper {
  readonly #options: PersonalKeeperOptions;
  readonly #late: LateBlocks;
  readonly #came: LineArrivals;
  readonly #told: ToldLines;
  readonly #taker: PersonalTaker;
  readonly #looks: RegularLooks;
  readonly #rows = new PersonalRows();
  readonly #uncut: UncutFiles;
  /** Since when a file's block is missing or empty, by the steady clock. */
  readonly #since = new Map<string, number>();
  #quiet: { readonly sign: string; readonly at: number } | undefined;
  /** How often somebody has decided something, which neither the files nor the text show. */
  #decisions = 0;
  #status: PersonalLook = NOTHING;
  #hasBegun = false;

  constructor(options: PersonalKeeperOptions) {
    const { world } = options;
    this.#options = options;
    this.#late = new LateBlocks(world, () => void this.lookAnew());
    this.#uncut = new UncutFiles(world);
    this.#came = new LineArrivals(world);
    this.#told = new ToldLines(world);
    const address = () => this.#address();
    const [came, told, rows] = [this.#came, this.#told, this.#rows];
    this.#taker = new PersonalTaker({ ...options, address, came, told, rows });
    this.#looks = new RegularLooks({
      ...options,
      look: () => this.#look(),
      restMs: () => (this.#status.files.length === 0 ? OFF_MS : LOOK_MS),
      failed: "the personal text was not looked at",
    });
  }

  /** What the last look found. */
  get status(): PersonalLook {
    return this.#status;
  }

  /** Begins to look. */
  start(): void {
    this.#hasBegun = true;
    void this.look();
  }

  /** Looks now, if it has begun. Resolves when all is saved and written. Never rejects. */
  async look(): Promise<void> {
    if (this.#hasBegun) await this.#looks.look();
  }

  /** The same, also where nothing changed: somebody has decided something. */
  lookAnew(): Promise<void> {
    this.#decisions += 1;
    this.#quiet = undefined;
    return this.look();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
    await this.#taker.close();
    await this.#late.close();
  }

  /** Resolves when nothing is being read of which an event told. */
  async glimpsed(): Promise<void> {
    await this.#taker.glimpsed();
  }

  async #look(): Promise<void> {
    const { store, world } = this.#options;
    const files = await listPersonalFiles(store.reader);
    if (files.length === 0) {
      await this.#taker.close();
      this.#status = NOTHING;
      return;
    }
    await this.#late.take();
    const whose = await this.#options.whose();
    const sign = await this.#signOf(files, whose);
    const quiet = this.#quiet;
    if (quiet && sign === quiet.sign && world.monotonic() - quiet.at < FILES_REREAD_MS) return;
    this.#quiet = undefined;
    const decisions = this.#decisions;
    const looked = await this.#take(whose);
    await this.#taker.close(looked.map(({ file }) => file));
    for (const { file, why } of looked) {
      if (!why && !file.asked) await this.#taker.settleLines(file);
    }
    const counted = await this.#counted();
    const { current } = counted;
    const told: PersonalFileStatus[] = [];
    for (const each of looked) {
      const status = await this.#bring(each, counted);
      if (status) told.push(status);
    }
    await this.#tellLeft(told);
    const merges = await readMerges(store.reader, current);
    this.#status = { files: told, text: current?.text, merges };
    const isDone = told.every(({ state, path }) => {
      return state === "current" ? this.#came.isAllSeen(path) : state !== "waiting";
    });
    if (isDone && this.#since.size === 0 && decisions === this.#decisions) {
      // What came in the midst of this look is looked at once more.
      const after = await this.#signOf(await listPersonalFiles(store.reader), whose);
      if (sign !== undefined && after === sign) this.#quiet = { sign, at: world.monotonic() };
    }
  }

  /** Equal as long as neither the files nor the text changed; undefined: nobody can tell. */
  async #signOf(files: readonly PersonalFile[], whose: Whose): Promise<string | undefined> {
    const { store, world } = this.#options;
    const head = await readHead(store.reader, this.#address());
    const glimpses: string[] = [];
    for (const { path } of files) {
      const glimpse = await glimpsePersonalFile(path, world.now());
      if (glimpse === undefined) return undefined;
      glimpses.push(glimpse);
    }
    return JSON.stringify([files, this.#address(), head, glimpses, whose]);
  }

  #address() {
    return userDocument(this.#options.account(), LOCAL_USER);
  }

  async #counted(): Promise<CountedText> {
    return await this.#options.store.write(async (context) => {
      return await settleVersions(context, await context.open(this.#address()));
    });
  }

  /** Takes what the files have into the document, each by itself. */
  async #take(whose: Whose): Promise<Looked[]> {
    const { reader } = this.#options.store;
    const looked: Looked[] = [];
    const owners = new Map<string, string>();
    // In this order: whoever unlinks a file notes in its row whose text it may have.
    const ofProjects = await listProjectFiles(reader);
    for (const listed of await this.#rows.list(reader)) {
      if (whose !== "home") {
        looked.push(await this.#leftAlone(listed, whose));
        continue;
      }
      const each = await this.#finished(listed);
      const { assistant } = each;
      const seen = await this.#taker.seen(each);
      const shared = await findProjectFile(ofProjects, (await readPersonalFile(each.path)).path);
      const read = await this.#read(each, shared);
      const other = owners.get(read.path);
      owners.set(read.path, other ?? assistant);
      try {
        const taken = await this.#takeOne(each, { read, seen, other, shared });
        looked.push({ ...taken, shared });
      } catch (thrown) {
        const said = messageOf(thrown);
        this.#options.log.warn({ path: read.path, reason: said }, "a block was not taken");
        looked.push({ file: each, read, why: { code: "look-failed", said } });
      }
    }
    return looked;
  }

  /** The file after a write that a crash interrupted: a mix of two texts is nobody's edit. */
  async #finished(file: PersonalFile): Promise<PersonalFile> {
    const { begun, ...rest } = file;
    if (!begun) return file;
    try {
      await finishBegunWrite(begun);
      const { path, intended } = begun;
      const takeLate = ({ content }: FileContent) => this.#late.put(path, content, intended);
      await clearBegunWrite({ ...begun, takeLate });
    } catch (thrown) {
      const reason = messageOf(thrown);
      this.#options.log.warn({ path: begun.path, reason }, "a write was not finished");
      return file;
    }
    await this.#put(rest);
    return rest;
  }

  async #takeOne(known: PersonalFile, { read, seen, other, shared }: ReadFile): Promise<Looked> {
    const { store } = this.#options;
    const account = this.#options.account();
    const same = known.account === account ? known : ofAccount(known, account);
    const file = read.kind === "file" ? ledTo(same, read.path) : same;
    if (other !== undefined) return { file, read, why: { code: "personal-same", other } };
    if (read.kind === "problem") return { file, read, why: read.why };
    if (file.begun) return { file, read, why: { code: "write-unfinished" } };
    const ignored = await takeIgnored(store, dirname(file.path), "personal");
    const why = whyProjects(file, shared) ?? ignored.why(basename(file.path));
    if (why) {
      await this.#taker.pass(file, seen);
      return { file: await this.#passed(file, why), read, why };
    }
    const former = this.#uncut.shown(read.path);
    if (read.kind === "file" && (await this.#uncut.isUncut(read.path, read))) {
      return { file, read, why: { code: "being-written" } };
    }
    const isLasting = this.#isLasting(file, read.kind === "file" ? read.block?.text : undefined);
    const taken = await this.#taker.take({ known, file }, { read, seen, former, isLasting });
    return { file: taken.file, read, why: taken.why };
  }

  /**
   * The daemon runs for another user. What comes into a block meanwhile may be that one's: it is
   * asked about once the daemon runs for the text's user. As long as nobody knows for whom it
   * runs, nothing is decided: what came is still there to be taken, or to be asked about.
   */
  async #leftAlone(file: PersonalFile, whose: "another" | "unknown"): Promise<Looked> {
    const read = await readPersonalFile(file.path);
    const seen = await this.#taker.seen(file);
    if (whose === "unknown") return { file, read, why: { code: "personal-unheard" } };
    const why: Reason = { code: "personal-of-another" };
    await this.#taker.pass(file, seen);
    return { file: isLeftAlike(file, read) ? file : await this.#askedAbout(file), read, why };
  }

  async #askedAbout(file: PersonalFile): Promise<PersonalFile> {
    const now = askedWhoseText(file);
    if (file.asked !== now.asked || file.settled !== now.settled) await this.#put(now);
    return now;
  }

  /** What stands in a file's block after a project had the file may be by its members. */
  async #passed(file: PersonalFile, why: Reason): Promise<PersonalFile> {
    if (why.code !== "personal-in-project") return file;
    return await this.#askedAbout(file);
  }

  /** The file as it is; all of it in the block, where somebody has asked for that. */
  async #read(
    { path, settled, ...file }: PersonalFile,
    shared: ProjectFile | undefined,
  ): Promise<PersonalRead> {
    const read = await readPersonalFile(path);
    if (settled !== "adopt" || file.begun || read.kind === "problem") return read;
    if (shared?.isTaken) return read;
    const { git, store } = this.#options;
    const content = contentAdopted(read);
    if (content !== undefined) {
      const why = await whyNotWritten(read, { path, ...file }, { git, text: "" });
      if (why) return { kind: "problem", path: read.path, why };
      const failed = await this.#replace({ path, settled, ...file }, read, content);
      if (failed && failed !== "changed") return { kind: "problem", path: read.path, why: failed };
    }
    await store.write(({ db, now }) => this.#rows.put(db, { path, ...file }, now));
    return await readPersonalFile(path);
  }

  /** Whether a block has been missing or empty for long enough. */
  #isLasting({ assistant, shown }: PersonalFile, text: string | undefined): boolean {
    const isThere = text !== undefined && text.trim() !== "";
    const hadText =
      shown !== undefined && (text === undefined || parseVersion(shown).text.trim() !== "");
    if (isThere || !hadText) {
      this.#since.delete(assistant);
      return false;
    }
    const now = this.#options.world.monotonic();
    const since = this.#since.get(assistant) ?? now;
    this.#since.set(assistant, since);
    if (now - since < LASTING_MS) return false;
    this.#since.delete(assistant);
    return true;
  }

  /** Brings a file to what it is to have. Undefined: it is no longer one of them. */
  async #bring(
    { file, read, why, shared }: Looked,
    { current, apart }: CountedText,
  ): Promise<PersonalFileStatus | undefined> {
    const { assistant, path, settled } = file;
    const is = (state: PersonalFileStatus["state"], reason?: Reason): PersonalFileStatus => {
      return {
        assistant,
        path,
        state,
        asked: state === "asked" ? file.asked : undefined,
        why: reason,
      };
    };
    if (settled === "off" || settled === "keep") {
      const left = await this.#turnOff({ file, read, why, shared });
      return left && is("left-alone", left);
    }
    if (why?.code === "being-written") return is("waiting", why);
    if (why || read.kind === "problem") return is("left-alone", why);
    if (file.asked) return is("asked", { code: `personal-${file.asked}`, assistant });
    const block = read.kind === "file" ? read.block : undefined;
    const { text } = current ?? NO_TEXT;
    if (block?.text === text) {
      if (file.shown === undefined) await this.#put(showing(file, current ?? NO_TEXT));
      if (apart) return is("current", { code: "personal-apart", ...apart });
      const [told] = await this.#told.told(this.#options.store.reader, path, text);
      return is("current", told);
    }
    const shown = file.shown === undefined ? undefined : parseVersion(file.shown);
    if (this.#since.has(assistant)) return is("waiting", { code: "personal-just-gone" });
    const isTaken = block ? isSame(block.text, shown?.text ?? "") : shown === undefined;
    if (!isTaken || (block && !current)) return is("waiting");
    const refused = await whyNotWritten(read, file, { git: this.#options.git, text });
    if (refused) return is("left-alone", refused);
    const failed = await this.#write({ file, read, version: current ?? NO_TEXT });
    return failed === "changed" ? is("waiting") : failed ? is("left-alone", failed) : is("current");
  }

  /** What is held and in no file is told of the first one of which nothing else is. */
  async #tellLeft(told: PersonalFileStatus[]): Promise<void> {
    const { owner: account, name: document } = this.#address();
    const [left] = await listLeftBlocks(this.#options.store.reader, { account, document });
    const at = told.findIndex(({ state, why }) => state === "current" && why === undefined);
    const first = told[at];
    if (!left || !first) return;
    told[at] = { ...first, why: { code: "memory-held-gone", id: left.id } };
  }

  async #put(file: PersonalFile): Promise<void> {
    await this.#options.store.write(({ db, now }) => this.#rows.put(db, file, now));
  }

  /** What is to be written is noted before: a daemon that ends in between takes it for its own. */
  async #write({
    file,
    read,
    version,
  }: {
    readonly file: PersonalFile;
    readonly read: Writable;
    readonly version: PersonalVersion;
  }): Promise<Reason | "changed" | undefined> {
    const isMade = file.isMade || (read.kind === "absent" && file.shown === undefined);
    const begun = { ...file, isMade, next: version.value };
    const failed = await this.#replace(begun, read, contentWith(read, version.text, file));
    if (failed) return failed;
    const from = read.kind === "file" ? (read.block?.text ?? "") : "";
    await this.#options.store.write(async ({ db, now }) => {
      await this.#rows.put(db, showing(begun, version), now);
      await this.#taker.noteWritten(db, file.path, { from, to: version.text });
    });
    return undefined;
  }

  /** Both texts are noted before: after a crash in the midst of it the file may be a mix. */
  async #replace(
    file: PersonalFile,
    read: Writable,
    content: NextContent,
  ): Promise<Reason | "changed" | undefined> {
    const former = read.kind === "file" ? read.content : "";
    const begun = { path: read.path, former, intended: content ?? "" };
    await this.#put(content === undefined ? file : { ...file, begun });
    const outcome = await writePersonalFile(read, content, this.#options.world);
    if (outcome.kind === "refused") return outcome.why;
    if (outcome.kind === "changed") return "changed";
    const { replaced } = outcome;
    this.#uncut.show(read.path, content ?? "");
    if (!replaced || read.kind === "absent" || content === undefined) await replaced?.close();
    else await this.#late.add(replaced, { path: read.path, before: read.content, after: content });
    return undefined;
  }

  /** Takes the block out, with its text if that is safe. Undefined: done. */
  async #turnOff({ file, read, why, shared }: Looked): Promise<Reason | undefined> {
    const { store } = this.#options;
    const forget = () => store.write(({ db }) => forgetPersonalFile(db, file.assistant));
    // What is not taken stays where it is, as does another assistant's file, and what is written
    // nowhere because it has further names: the command has said so.
    const isShared = read.kind === "file" && read.isShared;
    if (read.kind === "problem" || isShared || why?.code === "personal-same") {
      await forget();
      return undefined;
    }
    if (read.kind === "file" && read.block) {
      const shown = file.shown === undefined ? undefined : parseVersion(file.shown);
      const isSaved = read.block.text === (shown?.text ?? "");
      const isTextKept = file.settled === "keep" || !isSaved;
      // Without the marks it would go to whoever has the project.
      if (shared && !isSaved && file.settled === "off") {
        return { code: "personal-unsaved", assistant: file.assistant };
      }
      const failed = await this.#replace(file, read, contentWithout(read, file, isTextKept));
      if (failed) return failed === "changed" ? { code: "being-written" } : failed;
    }
    await forget();
    return undefined;
  }
}

/** Empty lines alone are no text. */
function isSame(one: string, other: string): boolean {
  return one === other || (one.trim() === "" && other.trim() === "");
}
