import { join } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../../shared/ids.ts";
import type { Log } from "../../../shared/log.ts";
import type { Reason } from "../../../shared/reasons.ts";
import { deletionOf } from "../../../shared/replica/document/project-deletion.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import type { Timer, World } from "../../../shared/world.ts";
import type { Git } from "../../git/run-git.ts";
import type { AutoMemoryMode } from "../../home/auto-memory-switch.ts";
import type { Link } from "../../home/links.ts";
import {
  forgetMemoryFile,
  type MemoryFile,
  NEVER_SHOWN,
  putMemoryFile,
  putMemoryFolder,
  readMemoryFiles,
  readMemoryFolders,
} from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { takeIgnoredOf, type WhyIgnored } from "../../ignored/ignore-file.ts";
import type { ClaudeCodePlace } from "../claude-code/memory-folders.ts";
import { addIndexLines } from "./add-index-lines.ts";
import { MemoryFolderOwners, type OwnedFolder } from "./folder-projects.ts";
import { LateMemorySaves } from "./late-memory-saves.ts";
import type { MemoryFolderStatus } from "./memory-folder-status.ts";
import { INDEX_NAME, keyOfName } from "./memory-names.ts";
import { type MemoryArrival, type MemoryNote, planArrivals } from "./plan-arrivals.ts";
import { MemoryFolderReader, type MemoryRead } from "./read-memory-folder.ts";
import { RecentTexts } from "./recent-texts.ts";
import { listSessionFolders } from "./scan-memory-folders.ts";
import type { MemoryText } from "./take-memory-edit.ts";
import { takeMemoryFile } from "./take-memory-file.ts";
import { UnfinishedMemories } from "./unfinished-memories.ts";
import { removeMemoryFile, writeMemoryFile } from "./write-memory-file.ts";

/** How often the folders are looked at. */
const LOOK_MS = 5000;
/** How often it is asked whether they may be; whoever turns it on tells the daemon as well. */
const OFF_MS = 60_000;

/** What the keeper of memory folders works with. */
export interface MemoryKeeperOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
  readonly git: Git;
  /** Undefined: there is no assistant whose folders are looked at. */
  readonly place: ClaudeCodePlace | undefined;
  readonly links: () => readonly Link[];
  /** Who owns a project's memories. */
  readonly accountOf: (project: ProjectId) => AccountId;
  readonly mode: () => AutoMemoryMode;
}

/** So long is a folder not looked into that has not changed. */
const QUIET_MS = 60_000;

/** A folder in which there is nothing to do. */
interface QuietFolder {
  readonly sign: string;
  /** By the steady clock. */
  readonly at: number;
  readonly status: MemoryFolderStatus;
}

/** A folder whose project is known. */
interface Followed {
  readonly path: string;
  readonly project: ProjectId;
}

interface SeenFolder extends Followed {
  /** Why a file of this name stays on this machine; undefined: it does not. */
  readonly whyIgnored: (name: string) => WhyIgnored | undefined;
}

/**
 * Keeps the memories of projects in step with the folders in which Claude Code keeps what it
 * remembers: what it writes there becomes memories, and where somebody agreed to it, memories that
 * came from elsewhere become files. One look at a time; no file is ever deleted by another one's
 * absence.
 *
 * ```
 * const keeper = new MemoryKeeper(options);
 * keeper.start();
 * await keeper.stop();
 * ```
 */
export class MemoryKeeper {
  readonly #options: MemoryKeeperOptions;
  readonly #owners: MemoryFolderOwners | undefined;
  readonly #reader: MemoryFolderReader;
  /** Folders in which there was nothing to do, and what they were like. */
  readonly #quiet = new Map<string, QuietFolder>();
  readonly #unfinished: UnfinishedMemories;
  readonly #recent: RecentTexts;
  readonly #late: LateMemorySaves;
  #status: readonly MemoryFolderStatus[] = [];
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  /** A look that has not begun yet. */
  #next: Promise<void> | undefined;
  #stopped = false;

  constructor(options: MemoryKeeperOptions) {
    const { git, place, world, store } = options;
    this.#options = options;
    this.#reader = new MemoryFolderReader(world);
    this.#owners = place && new MemoryFolderOwners(git, place);
    this.#unfinished = new UnfinishedMemories(world);
    this.#recent = new RecentTexts(world);
    this.#late = new LateMemorySaves({ world, store, look: () => void this.look() });
  }

  /** The folders of linked projects as the last look found them; none while it is off. */
  get status(): readonly MemoryFolderStatus[] {
    return this.#status;
  }

  /** Begins to look. */
  start(): void {
    if (this.#owners) void this.look();
  }

  /** Looks now. Resolves when what the folders have is saved. Never rejects. */
  look(): Promise<void> {
    this.#next ??= this.#looking.then(async () => {
      this.#next = undefined;
      this.#timer?.cancel();
      if (this.#stopped || !this.#owners) return;
      try {
        await this.#look(this.#owners);
      } catch (thrown) {
        const reason = messageOf(thrown);
        this.#options.log.warn({ reason }, "memory folders were not looked at");
      }
      const { world, mode } = this.#options;
      const restMs = mode() === "off" ? OFF_MS : LOOK_MS;
      this.#timer = world.setTimer(restMs, () => void this.look());
    });
    this.#looking = this.#next;
    return this.#next;
  }

  /** The same, also at what did not change: somebody has decided something. */
  lookAnew(): Promise<void> {
    this.#quiet.clear();
    return this.look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#looking;
    this.#timer?.cancel();
    await this.#late.close();
  }

  async #look(owners: MemoryFolderOwners): Promise<void> {
    const mode = this.#options.mode();
    if (mode === "off") {
      this.#status = [];
      return;
    }
    await this.#late.take();
    const status: MemoryFolderStatus[] = [];
    for (const folder of await owners.find(await this.#places())) {
      if (this.#stopped) return;
      const told = await this.#lookAt(folder, mode).catch((thrown): MemoryFolderStatus => {
        const why = { code: "look-failed", said: messageOf(thrown) } as const;
        return { path: folder.path, project: null, files: 0, asked: [], notes: [], why };
      });
      if (told) status.push(told);
    }
    this.#status = status;
  }

  async #places() {
    const { store, links } = this.#options;
    const cwds = await listSessionFolders(store.reader);
    return { links: links(), cwds, kept: await readMemoryFolders(store.reader) };
  }

  /** Undefined where there is nothing to tell. */
  async #lookAt(
    { path, owner, isLink, isNew }: OwnedFolder,
    mode: "read" | "write",
  ): Promise<MemoryFolderStatus | undefined> {
    const nothing = { path, project: null, files: 0, asked: [], notes: [] };
    const { store, world } = this.#options;
    if (owner.kind === "nobody") return undefined;
    if (isNew && (owner.kind === "several" || mode === "read")) {
      if ((await readMemoryFiles(store.reader, path)).size === 0) return undefined;
    }
    if (owner.kind === "several") {
      return { ...nothing, why: { code: "memory-several", paths: owner.paths } };
    }
    const { project } = owner;
    if (isLink) return { ...nothing, project, why: { code: "memory-folder-link" } };
    const followed = { path, project };
    const sign = await this.#signOf(followed, mode);
    const quiet = this.#quiet.get(path);
    if (quiet && sign === quiet.sign && world.monotonic() - quiet.at < QUIET_MS) {
      return quiet.status;
    }
    this.#quiet.delete(path);
    await store.write(({ db }) => putMemoryFolder(db, path, project));
    const before = await readMemoryFiles(store.reader, path);
    const read = await this.#reader.read(path, before);
    if (read.kind === "problem") return { ...nothing, project, why: read.why };
    // Only now: what is named before a file is saved counts for that save.
    const ignored = await takeIgnoredOf(store, this.#options.links(), project);
    const whyIgnored = (name: string) => ignored.why(keyOfName(name));
    const seen = { ...followed, whyIgnored };
    const notes = await this.#take(seen, read.files);
    const arrivals = await this.#planned(seen, read.files, mode);
    const known = await readMemoryFiles(store.reader, path);
    const asked = [...known.values()].flatMap(({ name, asked: what, settled }) => {
      return what && !settled && !whyIgnored(name) ? [{ name, asked: what }] : [];
    });
    const all = [...notes, ...arrivals.notes];
    if (isNew && known.size === 0 && all.length === 0) return undefined;
    const status = { path, project, files: known.size, asked, notes: all, why: undefined };
    const isDone = arrivals.written === 0 && all.every(({ why }) => why.code !== "look-failed");
    const open = new Map([...read.files].filter(([name]) => !whyIgnored(name)));
    if (sign !== undefined && isDone && isAllTaken(open, known)) {
      this.#quiet.set(path, { sign, at: world.monotonic(), status });
    }
    return status;
  }

  /** Equal as long as neither the folder nor the memories changed; undefined: nobody can tell. */
  async #signOf({ path, project }: Followed, mode: AutoMemoryMode): Promise<string | undefined> {
    const glimpse = await this.#reader.glimpse(path);
    if (glimpse === undefined) return undefined;
    const { store, links } = this.#options;
    const address = this.#address(project);
    const head = await store.write(async (context) => {
      return (await context.find(address))?.head;
    });
    const ignored = await takeIgnoredOf(store, links(), project);
    return head && JSON.stringify([mode, address, head, glimpse, ignored.sign]);
  }

  /** Takes what the files have into the document, each by itself. */
  async #take(
    { path, project, whyIgnored }: SeenFolder,
    files: ReadonlyMap<string, MemoryRead>,
  ): Promise<MemoryNote[]> {
    const { store, log } = this.#options;
    const known = await readMemoryFiles(store.reader, path);
    const notes: MemoryNote[] = [];
    const gone = [...known.keys()].filter((name) => !files.has(name)).length;
    const isBegunAnew = gone > 1 && 2 * gone > known.size;
    for (const name of new Set([...files.keys(), ...known.keys()])) {
      if (this.#stopped) break;
      const read = files.get(name);
      const ignored = whyIgnored(name);
      if (ignored) {
        if (read) notes.push({ name, why: await this.#sayIgnored(project, name, ignored) });
        continue;
      }
      if (read?.kind === "problem") {
        notes.push({ name, why: read.why });
        continue;
      }
      const former = known.get(name);
      const file = withoutEmptied(read);
      if (file && this.#unfinished.isUnfinished(join(path, name), former, file)) continue;
      const staleBase = file && this.#staleBase(path, name, file);
      try {
        await store.write(async (context) => {
          const open = await context.open(this.#address(project));
          if (deletionOf(open.document)) return;
          await takeMemoryFile(context, open, { folder: path, name, file, isBegunAnew, staleBase });
        });
        if (file) this.#recent.note(join(path, name), file.content);
      } catch (thrown) {
        const said = messageOf(thrown);
        log.warn({ path: join(path, name), reason: said }, "a memory file was not taken");
        notes.push({ name, why: { code: "look-failed", said } });
      }
    }
    return notes;
  }

  /** What was sent before a file was ignored stays until somebody deletes it. */
  async #sayIgnored(project: ProjectId, name: string, why: WhyIgnored): Promise<Reason> {
    if (why.code !== "ignored") return why;
    const key = keyOfName(name);
    const isSent = await this.#options.store.write(async (context) => {
      const { document } = await context.open(this.#address(project));
      return document.memories.get(key).length > 0;
    });
    return isSent ? { code: "ignored-sent", command: `memsync rm ${key}` } : why;
  }

  /** Only in an index several sessions write at once, each a line. */
  #staleBase(path: string, name: string, { content }: MemoryText): string | undefined {
    return name === INDEX_NAME ? this.#recent.staleBase(join(path, name), content) : undefined;
  }

  #address(project: ProjectId) {
    return { owner: this.#options.accountOf(project), name: project };
  }

  /** Brings what came from elsewhere into the files, where that is agreed to. */
  async #planned(
    followed: SeenFolder,
    files: ReadonlyMap<string, MemoryRead>,
    mode: "read" | "write",
  ): Promise<{ readonly written: number; readonly notes: readonly MemoryNote[] }> {
    await this.#remove(followed, files);
    if (mode === "read") return { written: 0, notes: [] };
    const { store } = this.#options;
    const { path, project, whyIgnored } = followed;
    const plan = await store.write(async (context) => {
      const open = await context.open(this.#address(project));
      if (deletionOf(open.document)) return { arrivals: [], notes: [] };
      const full = whyIgnored(INDEX_NAME)
        ? []
        : await addIndexLines(context, open, { folder: path, files });
      const known = await readMemoryFiles(context.db, path);
      const planned = planArrivals(open, { files, known });
      const arrivals = planned.arrivals.filter(({ name }) => !whyIgnored(name));
      const notes = planned.notes.filter(({ name }) => !whyIgnored(name));
      for (const { name, next } of arrivals) {
        const arrivedAt = name === INDEX_NAME ? undefined : context.now;
        const former = known.get(name) ?? { name, arrivedAt, ...NEVER_SHOWN };
        await putMemoryFile(context.db, path, { ...former, next });
      }
      return { arrivals, notes: [...full, ...notes] };
    });
    const notes = [...plan.notes];
    for (const arrival of plan.arrivals) {
      if (this.#stopped) break;
      const why = await this.#write(followed, arrival);
      if (why) notes.push(why);
    }
    return { written: plan.arrivals.length, notes };
  }

  async #write(
    { path, project }: Followed,
    arrival: MemoryArrival,
  ): Promise<MemoryNote | undefined> {
    const { store, world, place } = this.#options;
    const { name, next } = arrival;
    const within = place?.configDir ?? path;
    const outcome = await writeMemoryFile({ path, within }, arrival, world);
    if (outcome.kind === "refused") return { name, why: outcome.why };
    if (outcome.kind === "changed") return undefined;
    const former = (await readMemoryFiles(store.reader, path)).get(name);
    const arrivedAt = former?.arrivedAt;
    await store.write(({ db }) => putMemoryFile(db, path, { name, arrivedAt, ...next }));
    this.#recent.note(join(path, name), next.text);
    if (outcome.replaced && former) {
      const at = { folder: path, name, address: this.#address(project) };
      await this.#late.add(outcome.replaced, { ...at, base: former });
    } else await outcome.replaced?.close();
    return undefined;
  }

  /** Removes the files whose deletion somebody has agreed to. */
  async #remove({ path }: Followed, files: ReadonlyMap<string, MemoryRead>): Promise<void> {
    const { store, world } = this.#options;
    for (const [name, known] of await readMemoryFiles(store.reader, path)) {
      const file = files.get(name);
      if (known.settled !== "delete" || known.asked !== "deleted" || file?.kind !== "text")
        continue;
      const { hash } = known;
      if (file.hash !== hash) continue;
      if (!(await removeMemoryFile(join(path, name), { hash, world }))) continue;
      await store.write(({ db }) => forgetMemoryFile(db, path, name));
    }
  }
}

/** Whether no file waits for anything but a decision. */
function isAllTaken(
  files: ReadonlyMap<string, MemoryRead>,
  known: ReadonlyMap<string, MemoryFile>,
): boolean {
  const isSame = [...files].every(([name, file]) => {
    const { hash, held } = known.get(name) ?? {};
    return file.kind === "problem" || file.hash === hash || file.hash === held;
  });
  return (
    isSame &&
    [...known.values()].every(({ settled, next, arrivedAt }) => {
      return settled === undefined && next === undefined && arrivedAt === undefined;
    })
  );
}

/** Whoever empties a file is about to write it, or has lost it. Nothing is deleted for that. */
function withoutEmptied(read: MemoryText | undefined): MemoryText | undefined {
  return read?.content.trim() === "" ? undefined : read;
}
