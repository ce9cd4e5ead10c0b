import type { Kysely } from "kysely";
import { assert } from "../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { explain, type Reason } from "../../shared/reasons.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { VERSION } from "../../shared/version.ts";
import type { RequestBudget } from "../budget/request-budget.ts";
import { documentsOf, type SyncUnit } from "../budget/sync-units.ts";
import { FOLLOWED_NAMES } from "../disk/followable-files.ts";
import type { FollowedFile } from "../files/followed-file.ts";
import { alsoKey, alsoNameOf } from "../files/names/also-file.ts";
import type { PlaceChange } from "../files/names/place-store.ts";
import type { FollowStatus } from "../files/state/follow-status.ts";
import { findAudience } from "../home/audience-store.ts";
import { deletionStatus, readDeletion } from "../home/deleted-project.ts";
import type { FolderKind } from "../home/folder-switches.ts";
import type { Home } from "../home/home.ts";
import { type KeptText, readKeptText } from "../home/kept-text.ts";
import { findLastChange } from "../home/last-change.ts";
import type { Link } from "../home/links.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../home/local-account.ts";
import { isPlain, type SyncPosition } from "../home/positions.ts";
import { serviceNameOf } from "../home/remote.ts";
import { refusedSessions } from "../home/session-records.ts";
import type { DaemonTables } from "../home/tables.ts";
import { countSavedMemories } from "../home/unlinked-projects.ts";
import { keptOddLines } from "../ignored/odd-lines.ts";
import type { StatusNote } from "../plain/plain-status.ts";
import { readDamageNotes } from "../recovery/set-aside.ts";
import type { OpenRemote, OpenRemotes } from "../remotes/open-remotes.ts";
import { findEmbeddedOfAnother } from "../remotes/refuse-owners.ts";
import type { SyncEngine } from "../sync/engine.ts";
import type { Polled } from "../watch/watch-trouble.ts";
import type { AudienceView } from "./audience-view.ts";
import { readHeldStatus } from "./held-status.ts";
import { joinsOfLinked } from "./joined-projects.ts";
import { readMachineStatus } from "./machine-status.ts";
import type { MemoryFoldersStatus } from "./memory-status.ts";
import type { PersonalStatus } from "./personal-status.ts";
import { serviceState } from "./service-state.ts";
import type {
  DaemonStatus,
  FolderStatus,
  PlaceStatus,
  ProjectStatus,
  RemoteStatus,
  RequestsLeft,
  ServiceStatus,
  ThrottledStatus,
  UnitStatus,
  UnlinkedProject,
} from "./status.ts";
import { listUnlinkedProjects, readDocumentSync } from "./unlinked-status.ts";

/** What a status is read from. */
export interface StatusSources {
  readonly store: ReplicaStore<DaemonTables>;
  readonly home: Home;
  readonly gatewayUrl: string;
  readonly remotes: OpenRemotes;
  readonly links: readonly Link[];
  readonly files: readonly FollowedFile[];
  readonly polled: (dir: string) => Polled | undefined;
  readonly repositoryNote: (dir: string) => Reason | undefined;
  readonly placeChange: (dir: string) => PlaceChange | undefined;
  readonly memoryFolders: (kind: FolderKind) => MemoryFoldersStatus;
  readonly personal: PersonalStatus;
  /** Not all linked folders are followed yet. */
  readonly isBeginning: boolean;
  readonly audience: (open: OpenRemote) => Promise<AudienceView | null>;
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
}

/**
 * Reads the current status; projects in the order of `links`. Calls no service and reads no file.
 */
export async function readStatus(sources: StatusSources): Promise<DaemonStatus> {
  const { remotes: open } = sources;
  const projects: ProjectStatus[] = [];
  for (const { projectId, name } of uniqueProjects(sources.links)) {
    const files = sources.files.filter(({ link }) => {
      return link.projectId === projectId && alsoNameOf(link) === undefined;
    });
    const account = open.bindingOf(projectId) ?? LOCAL_ACCOUNT;
    const kept = await keptStatus(sources, account, projectId);
    const asked = { project: projectId, links: sources.links };
    const joined = await joinsOfLinked(sources.store.reader, sources.home, asked);
    const folders = files.map((file) => folderStatus(sources, file, kept.text));
    if (sources.isBeginning) folders.push(...unlookedFolders(sources, projectId));
    projects.push({ ...kept, name, joined, folders });
  }
  const remotes: RemoteStatus[] = [];
  for (const each of open.list()) {
    const { remote } = each;
    remotes.push({
      name: remote.name,
      default: remote.account === open.view.default?.account,
      service: serviceStatus(each),
      own: await unitStatus(sources, remote.account, { unit: "own" }),
      user: await unitStatus(sources, remote.account, {
        unit: "own",
        documents: [`user/${LOCAL_USER}`],
      }),
      global: await unitStatus(sources, remote.account, { unit: "own", documents: ["global"] }),
      audience: await sources.audience(each),
      of_another: await findEmbeddedOfAnother(sources.store.reader, remote.account),
      token_expires_at: await tokenExpiry(sources.store.reader, each),
    });
  }
  const usual = remotes.find((each) => each.default);
  assert(usual, "the default remote is always open");
  return {
    version: VERSION,
    home: sources.home.dir,
    machine: await readMachineStatus(sources.store.reader, sources.home, sources.now),
    gateway: { url: sources.gatewayUrl },
    service: usual.service,
    remotes,
    unused_remotes: open.view.remotes.flatMap(({ name, url, account, tokenPlace }) => {
      if (url === undefined || open.find(account)) return [];
      return [{ name, url, has_token: tokenPlace !== undefined }];
    }),
    projects,
    unlinked: await unlinkedProjects(sources),
    own: usual.own,
    damaged: readDamageNotes(sources.home.dir),
    auto_memory: sources.memoryFolders("auto-memory"),
    serena: sources.memoryFolders("serena"),
    rules: sources.memoryFolders("rules"),
    personal: sources.personal,
    ignore_lines: await keptOddLines(sources.store.reader),
    held: await readHeldStatus(sources.store.reader, (account) => {
      return open.remoteOf(account)?.name ?? null;
    }),
  };
}

/** What was told of another token than the one that is used now does not count. */
async function tokenExpiry(
  db: StatusSources["store"]["reader"],
  { remote, service }: OpenRemote,
): Promise<string | null> {
  const told = await findAudience(db, remote);
  if (service.tokenDigest === undefined || told.tokens[0] !== service.tokenDigest) return null;
  return told.token_expires_at ?? null;
}

/** What the home has of a project. */
async function keptStatus(sources: StatusSources, account: AccountId, id: ProjectId) {
  const { reader } = sources.store;
  return {
    id,
    remote: sources.remotes.remoteOf(account)?.name ?? "",
    text: await readKeptText(reader, account, id),
    changed_at: timeOf(await findLastChange(reader, account, id)),
    deleted: deletionStatus(await readDeletion(reader, id)),
    ...(await unitStatus(sources, account, { unit: id })),
  };
}

async function unlinkedProjects(sources: StatusSources): Promise<UnlinkedProject[]> {
  const { store, links, remotes } = sources;
  const serviceOf = (account: AccountId) => serviceNameOf(remotes.remoteOf(account));
  const projects: UnlinkedProject[] = [];
  for (const each of await listUnlinkedProjects(store.reader, links, serviceOf)) {
    const kept = await keptStatus(sources, each.account, each.id);
    const { name, position, joined, sending } = each;
    projects.push({ ...kept, name, joined, sending, plain: isPlain(position), folders: [] });
  }
  return projects;
}

function serviceStatus({ service, engine }: OpenRemote): ServiceStatus {
  const { contact } = engine;
  const { online, plain, tokenRefused, busyUntil } = contact;
  const { name } = service;
  const isBlocked = service.isBlocked === true;
  // No call has to fail before it is known what a blocked one waits for.
  const why = service.blockedBy ?? contact.why;
  return {
    name,
    state: serviceState({ name, isBlocked, contact }),
    online,
    live: contact.socket === "live",
    plain,
    last_contact_at: timeOf(contact.lastContactAt),
    unanswered_since: timeOf(contact.unansweredSince),
    busy_until: timeOf(isBlocked ? undefined : busyUntil),
    message: why?.message ?? null,
    code: why?.code ?? null,
    blocked: isBlocked,
    token_refused: online && tokenRefused,
    requests: requestsLeft(service.budget),
    throttled: throttledStatus(engine),
  };
}

function timeOf(time: number | undefined): string | null {
  return time === undefined ? null : timestampOf(time);
}

function requestsLeft(budget: RequestBudget | undefined): Record<string, RequestsLeft> {
  const quotas = budget?.view().quotas ?? [];
  return Object.fromEntries(
    quotas.map(({ name, limit, remaining, moreAt }) => {
      return [name, { limit, remaining, resets_at: timestampOf(moreAt) }];
    }),
  );
}

function throttledStatus({ throttled }: SyncEngine): ThrottledStatus | null {
  if (!throttled) return null;
  const { since, until, projects, why } = throttled;
  return {
    since: timestampOf(since),
    until: timestampOf(until),
    projects,
    reason: explain(why),
    code: why.code,
  };
}

function uniqueProjects(links: readonly Link[]): Link[] {
  const seen = new Set<string>();
  return links.filter(({ projectId }) => !seen.has(projectId) && seen.add(projectId));
}

function folderStatus(
  sources: StatusSources,
  file: FollowedFile,
  text: KeptText | null,
): FolderStatus {
  const { path, state, note, why } = withLines(file.status, text);
  const { dir, also: names = [] } = file.link;
  const beside = file.beside.filter((name) => !names.includes(name));
  const keys = names.map((name) => alsoKey(dir, name));
  const also = sources.files
    .filter(({ link }) => keys.includes(link.dir))
    .map((each) => withLines(each.status, text))
    .map((each) => ({
      path: each.path,
      state: each.state,
      note: each.note ?? null,
      why: each.why?.code ?? null,
    }));
  const polled = sources.polled(dir) ?? null;
  const noted = sources.repositoryNote(dir);
  const repository = noted ? explain(noted) : null;
  const repository_code = noted?.code ?? null;
  const place = placeStatus(sources.placeChange(dir), sources.now);
  const said = { note: note ?? null, why: why?.code ?? null };
  return { dir, path, state, ...said, polled, repository, repository_code, beside, also, place };
}

/** The project's folders that a daemon which begins does not follow yet. */
function unlookedFolders({ links, files }: StatusSources, project: ProjectId): FolderStatus[] {
  const followed = new Set(files.map(({ link }) => link.dir));
  const left = links.filter((link) => link.projectId === project && !followed.has(link.dir));
  const why: Reason = { code: "not-looked-at" };
  return left.map(({ dir, file }) => ({
    ...{ dir, path: file ?? FOLLOWED_NAMES[0], beside: [], also: [] },
    ...{ state: "waiting", note: explain(why), why: why.code },
    ...{ polled: null, repository: null, repository_code: null, place: null },
  }));
}

/** A file that was never here can be created where the document has a text. */
function withLines(status: FollowStatus, text: KeptText | null): FollowStatus {
  if (status.why?.code !== "missing") return status;
  const why: Reason = { code: "missing", lines: text?.lines ?? null };
  return { ...status, why, note: explain(why) };
}

/** A folder's move is told for this long. */
const MOVED_SAID_MS = 7 * 24 * 60 * 60_000;

function placeStatus(change: PlaceChange | undefined, now: number): PlaceStatus | null {
  if (!change) return null;
  const at = timestampOf(change.at);
  if (change.kind === "replaced") {
    return { kind: "replaced", moved_to: change.movedTo, wrote: change.wrote, at };
  }
  const { from, wrote } = change;
  const isNews = wrote || now - change.at < MOVED_SAID_MS;
  return isNews ? { kind: "moved", from, wrote, at } : null;
}

async function unitStatus(
  sources: StatusSources,
  account: AccountId,
  {
    unit,
    documents = documentsOf(unit, LOCAL_USER),
  }: { readonly unit: SyncUnit; readonly documents?: readonly string[] | undefined },
): Promise<UnitStatus> {
  const { store, remotes } = sources;
  const service = serviceNameOf(remotes.remoteOf(account));
  let memories = 0;
  let waiting = 0;
  let contacted = true;
  let refused = remotes.find(account)?.engine.refusal(unit);
  const notes: StatusNote[] = [];
  for (const name of documents) {
    const document = await store.reader
      .selectFrom("documents")
      .select("id")
      .where("owner", "=", account)
      .where("name", "=", name)
      .executeTakeFirst();
    if (!document) {
      contacted = false;
      continue;
    }
    const { position, ...sync } = await readDocumentSync(store.reader, service, document.id);
    const saved = await countSavedMemories(store.reader, document.id);
    const isOut = unit === "own" && isOutOfReach(position);
    memories += saved;
    // What was written and deleted again before any contact is nothing to the service.
    waiting += isOut && saved === 0 ? 0 : sync.waiting;
    contacted &&= position.remote !== undefined || isOut;
    refused ??= position.refused;
    notes.push(...sync.notes);
  }
  if (unit !== "own") notes.push(...(await sessionNotes(store.reader, account, unit)));
  const why = { refused: refused ? explain(refused) : null, refused_code: refused?.code ?? null };
  return { memories, waiting, contacted, ...why, notes };
}

/** Which records of the project's sessions the service does not get. */
async function sessionNotes(
  db: Kysely<DaemonTables>,
  account: AccountId,
  project: ProjectId,
): Promise<StatusNote[]> {
  const lacking = await refusedSessions(db, { account, project });
  const ids = lacking.flatMap(({ id, said }) => (said === undefined ? [] : id));
  const said = lacking.find((each) => each.said !== undefined)?.said;
  const kept = lacking.length - ids.length;
  const notes: Reason[] = [];
  if (said !== undefined) notes.push({ code: "sessions-refused", ids, said });
  if (kept > 0) notes.push({ code: "sessions-private", kept });
  return notes.map((why) => ({ code: why.code, message: explain(why) }));
}

/** The service has said that the token does not reach the document, and never answered about it. */
function isOutOfReach({ remote, refused }: SyncPosition): boolean {
  return remote === undefined && refused?.code === "out-of-reach";
}
