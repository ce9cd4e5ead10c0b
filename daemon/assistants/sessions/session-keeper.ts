import type { Kysely } from "kysely";
import { messageOf } from "../../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../../shared/ids.ts";
import { parseStored } from "../../../shared/json.ts";
import type { Log } from "../../../shared/log.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import { parseTimestamp, timestampOf } from "../../../shared/timestamps.ts";
import type { Session } from "../../../shared/wire/session.ts";
import type { World } from "../../../shared/world.ts";
import type { Git } from "../../git/run-git.ts";
import { withoutPrivate } from "../../held/leaving-sessions.ts";
import type { Link } from "../../home/links.ts";
import {
  findSessionRecord,
  listTranscripts,
  projectsWithUnsentSessions,
  putSession,
  putTranscript,
  withdrawSession,
} from "../../home/session-records.ts";
import type { OffPeriod } from "../../home/session-switch.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { takeIgnored, takeIgnoredOf } from "../../ignored/ignore-file.ts";
import { RegularLooks } from "../../watch/regular-looks.ts";
import { isAsRead, type TranscriptState } from "../transcripts/read-transcript.ts";
import { NO_FACTS, type SessionFacts } from "../transcripts/session-facts.ts";
import type { SessionSource } from "../transcripts/session-source.ts";
import type { TranscriptFile } from "../transcripts/transcript-file.ts";
import { FolderProjects } from "./project-of-folder.ts";
import { sessionRecord } from "./session-record.ts";

/** While somebody works with an assistant, its files are looked at this often. */
const LOOK_MS = 10_000;
/** Otherwise this often. */
const REST_MS = 60_000;
/** Somebody works for this long after the last change. */
const AT_WORK_MS = 5 * 60_000;
/** A record is sent when its session was quiet for this long … */
const SESSION_QUIET_MS = 60_000;
/** … or has waited for this long. */
const WAIT_MS_MAX = 10 * 60_000;

/** The name by which a `.memsyncignore` means the records of all sessions of its folder. */
const ALL_SESSIONS = "sessions/";

/** What the keeper of sessions works with. */
export interface SessionKeeperOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
  readonly git: Git;
  readonly sources: readonly SessionSource[];
  /** This machine's name. */
  readonly machine: () => string;
  readonly links: () => readonly Link[];
  /** Who owns a project's records. */
  readonly accountOf: (project: ProjectId) => AccountId;
  /** False: nothing is read. */
  readonly isOn: () => boolean;
  /** When it was not, as long as nobody has looked since which sessions ran then. */
  readonly offPeriod: () => OffPeriod | undefined;
  /** A look has found them. */
  readonly onOffPeriodSeen: (period: OffPeriod) => void;
  /** Called when records of a project are to be sent. */
  readonly onDue: (project: ProjectId) => void;
}

/** A transcript as it was read last. */
interface Transcript {
  readonly state: TranscriptState;
  readonly cwd: string | undefined;
  readonly project: ProjectId | undefined;
  /** The title that the assistant keeps beside its transcripts; undefined after a start. */
  readonly title?: string | undefined;
}

/** Records of a project wait to be sent. */
interface Waiting {
  /** By the steady clock; since they were told to be due, if they were. */
  readonly since: number;
  readonly isTold: boolean;
}

/** A look at one file. */
interface Seen {
  readonly source: SessionSource;
  readonly file: TranscriptFile;
  readonly known: Transcript | undefined;
  /** See `SessionSource`. */
  readonly titles: ReadonlyMap<string, string>;
  /** The assistant has just said that the session is over. */
  readonly hasEnded: boolean;
  readonly off: OffPeriod | undefined;
}

/** What all files of one look have in common. */
interface Look {
  /** What decides which sessions are recorded is not what it was. */
  readonly isRelinked: boolean;
  /** Paths of transcripts whose sessions are over. */
  readonly ended: ReadonlySet<string>;
  readonly off: OffPeriod | undefined;
}

/**
 * Keeps a record of each session of an assistant in a linked folder: from its transcript, of which
 * only what was appended is read. A record stays when the transcript goes. It is saved at once, and
 * sent when its session rests or ends.
 *
 * ```
 * const keeper = new SessionKeeper(options);
 * await keeper.start();
 * await keeper.stop();
 * ```
 */
export class SessionKeeper {
  readonly #options: SessionKeeperOptions;
  readonly #folders: FolderProjects;
  readonly #looks: RegularLooks;
  readonly #known = new Map<string, Transcript>();
  /** Projects with a session that goes on, and when it last did, by the steady clock. */
  readonly #busy = new Map<ProjectId, number>();
  /** Transcripts whose sessions are over, as their assistants said since the last look. */
  #ended = new Set<string>();
  /** Projects with records that the service lacks. */
  readonly #waiting = new Map<ProjectId, Waiting>();
  /** Assistants whose sessions could not be listed at the last look, and why. */
  readonly #failing = new Map<string, string>();
  /** What decides which sessions are recorded, as of the last look. */
  #linked = "";
  #changedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SessionKeeperOptions) {
    this.#options = options;
    this.#folders = new FolderProjects(options.git);
    this.#looks = new RegularLooks({
      ...options,
      look: async () => {
        if (options.isOn()) await this.#look();
      },
      restMs: () => this.#restMs(),
      failed: "sessions were not looked at",
    });
  }

  /** Begins to look. Resolves before the first look is over. */
  async start(): Promise<void> {
    for (const { path, state, ...known } of await listTranscripts(this.#options.store.reader)) {
      this.#known.set(path, { ...known, state: parseStored<TranscriptState>(state) });
    }
    void this.look();
  }

  /** Looks now. Resolves when what the transcripts told is saved. Never rejects. */
  look(): Promise<void> {
    return this.#looks.look();
  }

  /**
   * Takes back what was recorded and not yet sent of sessions that are ignored by now. To be called
   * before each call of a service.
   */
  async heedIgnored(): Promise<void> {
    if ((await this.#signOfLinks()) !== this.#linked) await this.look();
  }

  /** The session of this transcript is over: its record says so, and is sent now. See `look`. */
  end(transcript: string): Promise<void> {
    this.#ended.add(transcript);
    return this.look();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  #restMs(): number {
    const isAtWork = this.#options.world.monotonic() - this.#changedAt < AT_WORK_MS;
    return isAtWork ? LOOK_MS : REST_MS;
  }

  async #look(): Promise<void> {
    const { sources, offPeriod, onOffPeriodSeen } = this.#options;
    const off = offPeriod();
    const ended = this.#ended;
    this.#ended = new Set();
    const linked = await this.#signOfLinks();
    const isRelinked = linked !== this.#linked;
    if (isRelinked) this.#folders.forget();
    for (const source of sources) {
      await this.#lookAt(source, { isRelinked, ended, off }).then(
        () => this.#failing.delete(source.name),
        (thrown) => this.#sayFailing(source.name, messageOf(thrown)),
      );
    }
    // Whoever could not be looked at may have sessions of then.
    if (off && this.#failing.size === 0 && !this.#looks.isStopped) onOffPeriodSeen(off);
    this.#linked = linked;
    for (const path of ended) {
      const project = this.#known.get(path)?.project;
      if (project !== undefined) this.#busy.delete(project);
    }
    await this.#tellDue();
  }

  /** Once: the next look will fail as well. */
  #sayFailing(name: string, reason: string): void {
    if (this.#failing.get(name) === reason) return;
    this.#failing.set(name, reason);
    this.#options.log.warn({ name, reason }, "an assistant's sessions were not looked at");
  }

  async #signOfLinks(): Promise<string> {
    const { links, store } = this.#options;
    const signs = links().map(async ({ dir, projectId }) => {
      return [dir, projectId, (await takeIgnored(store, dir)).sign];
    });
    return JSON.stringify(await Promise.all(signs));
  }

  /** Whether a session that began in this folder stays on this machine. */
  async #isIgnored(project: ProjectId, cwd: string | undefined): Promise<boolean> {
    const { links, store } = this.#options;
    const ignored = await takeIgnoredOf(store, links(), project);
    if (ignored.sign === "") return false;
    if (ignored.why(ALL_SESSIONS)) return true;
    const place = cwd === undefined ? undefined : await this.#folders.find(cwd, links());
    // A folder that is gone may have been one that is named.
    if (place?.project !== project) return true;
    return place.path !== "" && ignored.why(`${place.path}/`) !== undefined;
  }

  async #lookAt(source: SessionSource, { isRelinked, ended, off }: Look): Promise<void> {
    const { log } = this.#options;
    const titles = (await source.titles?.()) ?? new Map<string, string>();
    for (const file of await source.list()) {
      if (this.#looks.isStopped) return;
      const known = this.#known.get(file.path);
      const title = titleAmong(titles, file, known?.state);
      const hasEnded = ended.has(file.path);
      const isRead = isAsRead(file, known?.state) && title === known?.title && !hasEnded;
      if (isRead && !(isRelinked && (await this.#mayBeOther(known?.project)))) continue;
      try {
        await this.#keep({ source, file, known, titles, hasEnded, off });
      } catch (thrown) {
        log.warn({ path: file.path, reason: messageOf(thrown) }, "a transcript was not read");
        if (off && file.modifiedMs >= off.from) await this.#withhold(file, known);
      }
    }
  }

  async #keep({ source, file, known, titles, hasEnded, off }: Seen): Promise<void> {
    const { store, world, machine, links, accountOf } = this.#options;
    const isRead = isAsRead(file, known?.state);
    const state = await this.#stateOf({ source, file, known });
    const { facts } = state;
    if (off && !isRead && !state.isWithheld && ranIn(off, { file, facts })) {
      await this.#withhold(file, known);
      return;
    }
    const cwd = known?.cwd ?? file.cwd ?? facts.cwd;
    // Once found it stays, but for a project whose folders were unlinked: nothing more is recorded.
    const former = known?.project;
    const found = this.#isLinked(former) ? former : await this.#projectAt(cwd, links());
    const isIgnored = found !== undefined && (await this.#isIgnored(found, cwd));
    const project = isIgnored ? undefined : found;
    const title = titleAmong(titles, file, state);
    const owner = { source: source.name, machine: machine(), id: file.id, title };
    const record = found && sessionRecord(facts, { project: found, ...owner });
    const { path } = file;
    if (off && isRead && record && (await this.#isRetitled(accountOf(found), record))) {
      await this.#withhold(file, known);
      return;
    }
    await store.write(async ({ db }) => {
      await putTranscript(db, { path, state: JSON.stringify(state), cwd, project });
      if (!record) return;
      const account = accountOf(found);
      if (isIgnored) {
        await withdrawSession(db, account, record.id);
        return;
      }
      if (state.isWithheld) return;
      const ended_at = hasEnded ? timestampOf(world.now()) : await endOf(db, account, record);
      await putSession(db, account, { ...(await withoutPrivate(db, record)), ended_at });
    });
    this.#known.set(path, { state, cwd, project, title });
    if (project && record && !state.isWithheld) this.#noteActivity(project, record);
  }

  async #stateOf({ source, file, known }: Pick<Seen, "source" | "file" | "known">) {
    const { size, modifiedMs, inode } = file;
    if (known?.state.isWithheld) return { ...known.state, size, modifiedMs, inode };
    return known && isAsRead(file, known.state)
      ? known.state
      : await source.read(file, known?.state);
  }

  /** Whether it has another title than its record, which is kept beside the transcript. */
  async #isRetitled(account: AccountId, record: Session): Promise<boolean> {
    const { reader } = this.#options.store;
    const former = await findSessionRecord(reader, account, record.id);
    const { title } = await withoutPrivate(reader, record);
    return former !== undefined && former.title !== title;
  }

  /** Nothing more of a session is recorded. What was before stays. */
  async #withhold(file: TranscriptFile, known: Transcript | undefined): Promise<void> {
    const { path, size, modifiedMs, inode } = file;
    const unread = { facts: NO_FACTS, offset: 0, head: "" };
    const state = { ...unread, ...known?.state, size, modifiedMs, inode, isWithheld: true };
    const now = { cwd: known?.cwd, project: known?.project, title: known?.title, state };
    const row = { path, state: JSON.stringify(state), cwd: now.cwd, project: now.project };
    await this.#options.store.write(({ db }) => putTranscript(db, row));
    this.#known.set(path, now);
  }

  /** Whether a session of the project is recorded may be another matter than at the last look. */
  async #mayBeOther(project: ProjectId | undefined): Promise<boolean> {
    if (!project || !this.#isLinked(project)) return true;
    const { links, store } = this.#options;
    return (await takeIgnoredOf(store, links(), project)).sign !== "";
  }

  #isLinked(project: ProjectId | undefined): boolean {
    return this.#options.links().some(({ projectId }) => projectId === project);
  }

  async #projectAt(cwd: string | undefined, links: readonly Link[]) {
    return cwd === undefined ? undefined : (await this.#folders.find(cwd, links))?.project;
  }

  /** An old session that is read for the first time is at rest. */
  #noteActivity(project: ProjectId, { last_activity_at }: Session): void {
    const { world } = this.#options;
    const quietMs = world.now() - (parseTimestamp(last_activity_at) ?? 0);
    if (quietMs >= SESSION_QUIET_MS) return;
    this.#changedAt = world.monotonic();
    this.#busy.set(project, this.#changedAt);
    if (this.#waiting.get(project)?.isTold) this.#waiting.delete(project);
  }

  async #tellDue(): Promise<void> {
    const { store, world, onDue } = this.#options;
    const now = world.monotonic();
    const unsent = await projectsWithUnsentSessions(store.reader);
    for (const project of [...this.#waiting.keys()]) {
      if (!unsent.includes(project)) this.#waiting.delete(project);
    }
    for (const project of unsent) {
      const { since, isTold } = this.#waiting.get(project) ?? { since: now, isTold: false };
      const rests = now - (this.#busy.get(project) ?? Number.NEGATIVE_INFINITY) >= SESSION_QUIET_MS;
      const isDue = (rests && !isTold) || now - since >= WAIT_MS_MAX;
      this.#waiting.set(project, isDue ? { since: now, isTold: true } : { since, isTold });
      if (isDue) onDue(project);
    }
  }
}

/** Whether a session that was changed since then may have been in that time. */
function ranIn(
  { from, until }: OffPeriod,
  { file, facts }: { readonly file: TranscriptFile; readonly facts: SessionFacts },
): boolean {
  return file.modifiedMs >= from && (facts.startedAt ?? 0) <= until;
}

/** The title that the assistant keeps beside its transcripts. */
function titleAmong(
  titles: ReadonlyMap<string, string>,
  file: TranscriptFile,
  state: TranscriptState | undefined,
): string | undefined {
  return titles.get(file.id ?? state?.facts.id ?? "");
}

/**
 * When the session ended, as its assistant says or once said. One that went on since has not ended.
 */
async function endOf(
  db: Kysely<DaemonTables>,
  account: AccountId,
  { id, ended_at, last_activity_at }: Session,
): Promise<string | null> {
  const end = ended_at ?? (await findSessionRecord(db, account, id))?.ended_at ?? null;
  return end !== null && end >= last_activity_at ? end : null;
}
