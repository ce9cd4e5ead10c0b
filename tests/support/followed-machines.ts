import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as Y from "yjs";
import { listConflicts } from "../../cli/local/local-conflicts.ts";
import { textHistory, type Version } from "../../cli/local/local-history.ts";
import { chooseVersion } from "../../cli/writes/choose-version.ts";
import { dismissal } from "../../cli/writes/dismiss-conflict.ts";
import { textWrites } from "../../cli/writes/save.ts";
import type { FollowedFile } from "../../daemon/files/followed-file.ts";
import { Followers } from "../../daemon/files/followers.ts";
import { contentLines, linesOf } from "../../daemon/files/lines/text-lines.ts";
import { readPlace } from "../../daemon/files/names/folder-place.ts";
import { putKnownPlace } from "../../daemon/files/names/place-store.ts";
import { readFollowed } from "../../daemon/files/state/follow-store.ts";
import { GRACE_MS } from "../../daemon/files/state/grace.ts";
import { QUIET_MS } from "../../daemon/git/read-tracked-text.ts";
import type { Git } from "../../daemon/git/run-git.ts";
import { type Link, putLink } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { unacknowledged } from "../../daemon/home/outgoing.ts";
import { writePosition } from "../../daemon/home/positions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox, type InboxWrite } from "../../daemon/inbox/inbox.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { applyRemote } from "../../daemon/sync/incoming.ts";
import type { WatchFolder } from "../../daemon/watch/watched-folder.ts";
import { silentLog } from "../../shared/log.ts";
import {
  forgetTextConflict,
  listTextConflicts,
  type NewTextConflict,
  recordTextConflict,
  type TextConflictRecord,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { TEXT_CONFLICT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { createDrivenWorld, type DrivenWorld } from "./driven-world.ts";
import { openTestReplica } from "./empty-home.ts";
import { type Life, mortalStore, nextTransaction } from "./mortal-store.ts";
import { projectId } from "./project-id.ts";

const PROJECT = projectId("followed");
const ADDRESS = { owner: LOCAL_ACCOUNT, name: PROJECT };
const SERVICE = "service";

/**
 * Longer than a file system's clock stands still: what is written within that time of git's index
 * may have the very time of it, as only what git writes has else.
 */
const TICK_MS = 20;

/** Tells of nothing: looks are made when a test asks for them. */
const deaf: WatchFolder = () => ({ close: async () => {} });

interface Opened {
  readonly git: Git;
  readonly identity: { home: string };
  readonly life: Life;
  readonly reopened: () => Promise<FollowedMachine>;
}

/** A machine that follows one folder's file, looked at when a test says so, on a driven clock. */
export class FollowedMachine {
  readonly dir: string;
  readonly #world: DrivenWorld;
  readonly #store: ReplicaStore<DaemonTables>;
  readonly #followers: Followers;
  #file: FollowedFile | undefined;
  /** Some program has the followed file open. */
  isOpenToWrite = false;
  readonly #identity: { home: string };
  readonly #life: Life;
  /** The same machine after its process has ended, on the same clock. */
  readonly reopened: () => Promise<FollowedMachine>;
  /** What was logged as a warning. */
  readonly warned: string[] = [];
  /** What of its log the others have. */
  ackedSeq = 0;
  /** How much of the service's log it has. */
  #calledAt = 0;

  private constructor(
    readonly name: string,
    dir: string,
    world: DrivenWorld,
    store: ReplicaStore<DaemonTables>,
    { git, identity, life, reopened }: Opened,
  ) {
    this.reopened = async () => Object.assign(await reopened(), { ackedSeq: this.ackedSeq });
    this.#identity = identity;
    this.#life = life;
    this.dir = dir;
    this.#world = world;
    this.#store = store;
    this.#followers = new Followers({
      store,
      world,
      log: { ...silentLog, warn: (_, message) => this.warned.push(message) },
      git,
      watch: deaf,
      account: LOCAL_ACCOUNT,
      service: SERVICE,
      isOpenToWrite: async () => this.isOpenToWrite,
    });
  }

  /** A machine whose database is in `home` and whose service has answered already. */
  static async open(
    name: string,
    dir: string,
    home: string,
    git: Git,
    world = createDrivenWorld(name),
  ): Promise<FollowedMachine> {
    mkdirSync(home, { recursive: true });
    const identity = { home: basename(home) };
    const store = await openTestReplica(join(home, "memsync.db"), world, {
      machine: name,
      homeId: () => identity.home,
    });
    const life = { left: Number.POSITIVE_INFINITY };
    const reopened = () => FollowedMachine.open(name, dir, home, git, world);
    const options = { git, identity, life, reopened };
    const made = new FollowedMachine(name, dir, world, mortalStore(store, life), options);
    await made.beAnswered(true);
    return made;
  }

  /** Its service has answered for the project, or never has. */
  async beAnswered(isAnswered: boolean): Promise<void> {
    await this.#store.write(async (context) => {
      const { id } = await context.open(ADDRESS);
      const remote = isAnswered ? { epoch: "", seq: 0 } : undefined;
      await writePosition(context.db, SERVICE, {
        documentId: id,
        position: { remote, ackedSeq: 0, refused: undefined },
      });
    });
  }

  async follow(options: Partial<Pick<Link, "write" | "also" | "file">> = {}): Promise<void> {
    await this.beginToFollow(options);
    await this.settle();
  }

  /** One look, for which no time passes. */
  async beginToFollow(options: Partial<Pick<Link, "write" | "also" | "file">> = {}): Promise<void> {
    const link = { dir: this.dir, projectId: PROJECT, name: this.name, write: false, ...options };
    await this.#store.write(({ db, now }) => putLink(db, link, now));
    this.#file = await this.#followers.add(link);
    await this.#followers.settled();
  }

  /** The folder is kept as one that was linked for its repository, and was not looked at yet. */
  async placeFromGit(): Promise<void> {
    const { dir } = this;
    const found = await readPlace(dir);
    if (found.kind !== "folder") throw new Error(`${dir} is no folder`);
    const { place } = found;
    const known = { evidence: "origin", derivedId: PROJECT, rootCommit: undefined } as const;
    await this.#store.write(({ db }) =>
      putKnownPlace(db, dir, { ...known, place, change: undefined }),
    );
  }

  get status() {
    if (!this.#file) throw new Error("the folder is followed before it is asked about");
    return this.#file.status;
  }

  /** Those of the files that follow beside the one that counts. */
  get also() {
    return this.#followers.files().flatMap((file) => (file === this.#file ? [] : file.status));
  }

  /** The other files that could be followed. */
  get beside(): readonly string[] {
    return this.#file?.beside ?? [];
  }

  /**
   * Looks until there is nothing to do, past the quiet second of a tracked file, and past the time
   * after which a text that looks half written is whole.
   */
  async settle(): Promise<void> {
    await this.#rest(false);
  }

  /** As `settle`; one that `isAtRest` already is left to its timers. */
  async #rest(isAtRest: boolean): Promise<void> {
    if (!this.#file) return;
    // A look that committed nothing leaves the next to a timer.
    let isLeft = isAtRest;
    for (let looks = 0; looks < 3 || this.#isBeingWritten; looks++) {
      const before = this.#store.version;
      if (!isLeft) for (const file of this.#followers.files()) file.look();
      await this.#followers.settled();
      this.#world.advance(QUIET_MS);
      await this.#followers.settled();
      isLeft = before === this.#store.version;
    }
  }

  get #isBeingWritten(): boolean {
    return this.#followers.files().some(({ status }) => status.why?.code === "being-written");
  }

  /** As an event does: puts a text there and asks for a look, which may have to wait. */
  async saveDuringLook(text: string): Promise<void> {
    this.put(text);
    this.#file?.look();
    await this.#file?.glimpsed();
  }

  /** The look ends, and a tracked file has not been quiet for long enough to be taken. */
  async saveAndLook(text: string): Promise<void> {
    this.put(text);
    await this.look();
  }

  /** One look, for which no time passes. */
  async look(): Promise<void> {
    this.#file?.look();
    await this.#file?.settled();
  }

  /** Begins a look. Unless it is over, it waits for the home until what this gives is called. */
  async holdLook(): Promise<() => Promise<void>> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = this.#store.write(() => promise);
    const waits = nextTransaction(this.#life);
    this.#file?.look();
    await Promise.race([waits, this.#file?.settled()]);
    return async () => {
      resolve();
      await held;
      await this.settle();
    };
  }

  /** Past the time for which a file may be empty or missing by accident. */
  async settleAfterGrace(): Promise<void> {
    await this.settle();
    await this.pass(GRACE_MS);
    await this.settle();
  }

  /** Its home has this id from now on: another one, or that of the home that it is a copy of. */
  useHome(id: string): void {
    this.#identity.home = id;
  }

  get home(): string {
    return this.#identity.home;
  }

  /** As somebody does who sets its clock. */
  setClockBy(milliseconds: number): void {
    this.#world.setClockBy(milliseconds);
  }

  get now(): number {
    return this.#world.now();
  }

  /** Until something is looked at by itself. */
  get nextLookInMs(): number {
    return this.#world.nextTimerInMs();
  }

  /** Looks that are due by then are made. */
  async pass(milliseconds: number): Promise<void> {
    this.#world.advance(milliseconds);
    await this.#followers.settled();
  }

  /** Puts a text there at the time that this machine's clock shows, and looks at nothing. */
  put(text: string, path = "CLAUDE.md"): void {
    writeFileSync(join(this.dir, path), text);
    const now = this.#world.now() / 1000;
    utimesSync(join(this.dir, path), now, now);
  }

  /** As a person does, who is never as quick as a program. */
  async save(text: string, path = "CLAUDE.md"): Promise<void> {
    const file = join(this.dir, path);
    writeFileSync(file, text);
    const savedAt = (statSync(file).mtimeMs + TICK_MS) / 1000;
    utimesSync(file, savedAt, savedAt);
    await this.settle();
  }

  remove(path = "CLAUDE.md"): void {
    rmSync(join(this.dir, path));
  }

  file(path = "CLAUDE.md"): string {
    return readFileSync(join(this.dir, path), "utf8");
  }

  async doc(): Promise<string> {
    return await this.#read((document) => document.content());
  }

  async #read<Found>(read: (document: ReplicaDocument) => Found): Promise<Found> {
    return await this.#store.write(async (context) => read((await context.open(ADDRESS)).document));
  }

  /** As a person's command or a REST user does. */
  async setDoc(text: string): Promise<void> {
    await this.#store.write(async (context) => {
      (await context.open(ADDRESS)).document.setContent(text, context.now);
    });
    await this.settle();
  }

  async conflicts(): Promise<TextConflictRecord[]> {
    return await this.#read(listTextConflicts);
  }

  /** As a merge of this machine's does that has found a conflict. */
  async tell(conflict: NewTextConflict): Promise<void> {
    await this.#read((document) =>
      recordTextConflict(document, conflict, { now: this.#world.now() }),
    );
  }

  /** The ids of those conflicts that a person is shown. */
  async listed(): Promise<string[]> {
    return (await listConflicts(this.#store.reader)).map(({ id }) => id).sort();
  }

  /** Lines of the followed file that say something and that the document has nowhere. */
  async alone(): Promise<string[]> {
    const state = await readFollowed(this.#store.reader, this.dir);
    const lines = state ? linesOf(state.base) : [];
    const nobodys = lines.filter(({ spans }) => spans.every(({ client }) => client === null));
    const document = contentLines(await this.doc());
    return nobodys
      .map(({ text }) => text)
      .filter((each) => hasWord(each) && !document.includes(each));
  }

  /** As `conflicts dismiss` does; one that is not listed is only forgotten. */
  async dismiss(id: string): Promise<void> {
    const all = await listConflicts(this.#store.reader);
    const conflict = all.find((each) => each.id === id);
    if (conflict?.kind !== "text") {
      return await this.#read((document) => forgetTextConflict(document, id));
    }
    await this.drain(textWrites(PROJECT, dismissal(conflict), this.#world.now()));
  }

  /** As a program does that deletes the conflict's metadata by REST. */
  async deleteConflict(id: string): Promise<void> {
    await this.#store.write(async (context) => {
      const { document } = await context.open(ADDRESS);
      document.deleteEntry("metadata", `${TEXT_CONFLICT_PREFIX}${id}`);
    });
    await this.settle();
  }

  /**
   * What `conflicts choose` would leave in the inbox for one version of a conflict. `last`: of two
   * versions that say the same, the second.
   */
  async choiceOf(text: string, id?: string, last = false): Promise<InboxWrite[]> {
    const { reader } = this.#store;
    const all = await listConflicts(reader);
    for (const each of all) {
      if (each.kind !== "text" || (id !== undefined && each.id !== id)) continue;
      const isMeant = (version: { readonly text: string }) => version.text === text;
      const chosen = each.versions[last ? "findLastIndex" : "findIndex"](isMeant);
      if (chosen === -1) continue;
      return textWrites(PROJECT, chooseVersion(each, chosen, all).choice, this.#world.now());
    }
    throw new Error(`no conflict has the version ${text}`);
  }

  /** What `doc restore` would leave there. */
  async restoreOf(text: string): Promise<InboxWrite[]> {
    const { value: base, seenSeq } = (await readLocalText(this.#store.reader, PROJECT)) ?? {
      value: "",
    };
    return textWrites(PROJECT, { base, values: [text], seenSeq }, this.#world.now());
  }

  /** As the daemon does when it hears of a write. */
  async drain(writes: readonly InboxWrite[]): Promise<void> {
    await this.#store.write(async ({ db }) => {
      for (const write of writes) await appendToInbox(db, write);
    });
    await drainInbox(this.#store);
    await this.settle();
  }

  /** What `doc history` lists, the latest first. */
  async history(): Promise<Version[]> {
    return await textHistory({ db: this.#store.reader, document: PROJECT, machine: this.name });
  }

  /** The saved texts that are kept beside the document's versions, and what became of all saves. */
  async saves() {
    const { reader } = this.#store;
    const rows = await reader.selectFrom("saves").selectAll().orderBy("id").execute();
    const texts = await reader
      .selectFrom("revisions")
      .select(["kind", "value"])
      .orderBy("id")
      .execute();
    return { outcomes: rows.map(({ outcome }) => outcome), texts: texts.map(({ value }) => value) };
  }

  /**
   * Takes all that the other has, as from a service; lines that both wrote are cleaned up.
   * `isAtRest`: its disk has been looked at, so that only news is a reason to look again.
   */
  async receive(other: FollowedMachine, isAtRest = false): Promise<void> {
    await this.#apply(await other.update(), isAtRest);
  }

  /** All that is here. */
  async update(): Promise<Uint8Array> {
    return await this.#read(({ ydoc }) => Y.encodeStateAsUpdate(ydoc));
  }

  /** Takes an update as from a service. */
  async load(update: Uint8Array): Promise<void> {
    await this.#apply(update, false);
  }

  async #apply(update: Uint8Array, isAtRest: boolean): Promise<void> {
    const { version } = this.#store;
    await this.#store.write(async (context) => {
      const problem = await applyRemote(context, await context.open(ADDRESS), {
        ackedSeq: this.ackedSeq,
        update,
      });
      if (problem) throw new Error(problem === "own" ? problem : problem.code);
    });
    await this.#rest(isAtRest && version === this.#store.version);
  }

  /**
   * One call of a service, which keeps in `log` what it was sent: this machine sends what it has
   * not sent yet, and takes what others have sent since its last call.
   */
  async call(log: Uint8Array[]): Promise<void> {
    const answer = log.slice(this.#calledAt);
    const throughSeq = await this.#store.write(async (context) => {
      const { id, head } = await context.open(ADDRESS);
      const part = await unacknowledged(context.db, id, { ackedSeq: this.ackedSeq });
      if (part) log.push(part.update);
      return part?.throughSeq ?? head.seq;
    });
    this.#calledAt = log.length;
    if (answer.length > 0) await this.load(Y.mergeUpdates(answer));
    this.ackedSeq = Math.max(this.ackedSeq, throughSeq);
  }

  /** What it calls from now on is a service that has nothing of the calls before. */
  beginCalls(): void {
    this.#calledAt = 0;
  }

  /** All others have all that is here. */
  async acknowledge(): Promise<void> {
    this.ackedSeq = await this.#store.write(async (context) => {
      return (await context.open(ADDRESS)).head.seq;
    });
  }

  /** Its log no longer says what was written here, as after a compaction. */
  async forgetLog(): Promise<void> {
    await this.#store.write(async ({ db }) => {
      await db.updateTable("updates").set({ origin: "remote" }).execute();
    });
  }

  async stop(): Promise<void> {
    await this.#followers.stop();
    await this.#store.close();
  }

  /** Ends it as a kill does, after so many more transactions of its looks. */
  async killIn(transactions: number): Promise<void> {
    this.#life.left = transactions;
    await this.#followers.lookAll();
    this.#life.left = 0;
    await this.stop();
  }
}
