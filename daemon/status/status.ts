import { assert } from "../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { explain, type Reason, type ReasonCode } from "../../shared/reasons.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { VERSION } from "../../shared/version.ts";
import type { RequestBudget } from "../budget/request-budget.ts";
import { documentsOf, type SyncUnit } from "../budget/sync-units.ts";
import type { FollowedFile, FollowStatus } from "../files/followed-file.ts";
import type { PlaceChange } from "../files/place-store.ts";
import { type DeletionStatus, deletionStatus, readDeletion } from "../home/deleted-project.ts";
import { type KeptText, readKeptText } from "../home/kept-text.ts";
import type { Link } from "../home/links.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../home/local-account.ts";
import { isPlain, type SyncPosition } from "../home/positions.ts";
import { serviceNameOf } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";
import { countSavedMemories } from "../home/unlinked-projects.ts";
import type { StatusNote } from "../plain/plain-status.ts";
import { type DamageNote, readDamageNotes } from "../recovery/set-aside.ts";
import type { OpenRemote, OpenRemotes } from "../remotes/open-remotes.ts";
import type { SyncEngine } from "../sync/engine.ts";
import type { Polled } from "../watch/watch-trouble.ts";
import { type AudienceView, readAudience } from "./audience-view.ts";
import { type HeldStatus, readHeldStatus } from "./held-status.ts";
import { type ServiceState, serviceState } from "./service-state.ts";
import { listUnlinkedProjects, readDocumentSync } from "./unlinked-status.ts";

/** How far a unit is saved on this machine and acknowledged by its service. */
export interface UnitStatus {
  /** Memories that are saved on this machine. */
  readonly memories: number;
  /** Changes that are saved here and that the service has not acknowledged. */
  readonly waiting: number;
  /** The service has answered about it before. */
  readonly contacted: boolean;
  /**
   * Why the service refuses it, in words; null where it does not. `refused_code`: the same as a
   * code.
   */
  readonly refused: string | null;
  readonly refused_code: ReasonCode | null;
  /** Further remarks. */
  readonly notes: readonly StatusNote[];
}

/** The followed file of one linked folder; `note` says why, in words that follow the path. */
export interface FolderStatus {
  readonly dir: string;
  /** The followed file's path from the folder. */
  readonly path: string;
  readonly state: FollowStatus["state"];
  readonly note: string | null;
  /** The code of what `note` says; null where there is nothing to say. */
  readonly why: ReasonCode | null;
  /** Why the folder is polled every few seconds; null: the system tells of changes. */
  readonly polled: Polled | null;
  /**
   * A contradiction between the link and what the repository says of its project, with what to do;
   * and its code.
   */
  readonly repository: string | null;
  readonly repository_code: ReasonCode | null;
  /** Other files there that could be followed, from the folder. `path` is the one that counts. */
  readonly beside: readonly string[];
  /** What happened to the folder since it was linked. */
  readonly place: PlaceStatus | null;
}

export type PlaceStatus =
  /** It was at another path, and its link moved along. Told for a week. */
  | {
      readonly kind: "moved";
      readonly from: string;
      /**
       * Others' changes were written to the file there. They no longer are, because this may be
       * another folder.
       */
      readonly wrote: boolean;
      readonly at: string;
    }
  /** It took the place of a linked folder of the same project. Both are followed. */
  | {
      readonly kind: "replaced";
      /** Where the linked folder is followed now; null where that is not known. */
      readonly moved_to: string | null;
      /** Others' changes were written in that folder; nobody has agreed to it for this one. */
      readonly wrote: boolean;
      readonly at: string;
    };

/** One followed project, under the name in its first link, with its linked folders. */
export interface ProjectStatus extends UnitStatus {
  readonly id: string;
  readonly name: string;
  /** Name of the remote that it is bound to. */
  readonly remote: string;
  /** Null where the document has no text. */
  readonly text: KeptText | null;
  /** Null for an existing project. */
  readonly deleted: DeletionStatus | null;
  readonly folders: readonly FolderStatus[];
}

/** A project in the home that no folder is linked to; `folders` is empty. */
export interface UnlinkedProject extends Omit<ProjectStatus, "name"> {
  /** The name in its last link, else the one that its creator gave; null where there is neither. */
  readonly name: string | null;
  /** It was last synced with a service that has only the published interface. */
  readonly plain: boolean;
}

/** The contact with a service. Its name is its address, or `embedded`. */
export interface ServiceStatus {
  readonly name: string;
  readonly state: ServiceState;
  readonly online: boolean;
  readonly live: boolean;
  /** The service has only the published interface. */
  readonly plain: boolean;
  readonly last_contact_at: string | null;
  /** Since when a call waits for its answer; null where none does. */
  readonly unanswered_since: string | null;
  /**
   * Why it is not online, or what it refused last, in the service's or the system's words. For
   * people: `state` is the code. Null where there is nothing to say.
   */
  readonly message: string | null;
  /** It is not called until a person has done what `message` says. */
  readonly blocked: boolean;
  /** It answers, but refuses every call because of its token, as `message` says. */
  readonly token_refused: boolean;
  /** The requests left in each window, by its name; empty where nothing is limited. */
  readonly requests: Readonly<Record<string, RequestsLeft>>;
  /** Null where no call waits for the budget. */
  readonly held_back: HeldBackStatus | null;
}

/** Calls have waited for the budget since then, and the next one will until then. */
export interface HeldBackStatus {
  readonly since: string;
  readonly until: string;
  /** So many projects wait to be called about; none: only `user` and `global` do. */
  readonly projects: number;
  /** What they wait for, and the same as a code. */
  readonly reason: string;
  readonly code: ReasonCode;
}

/** One remote that is in use. */
export interface RemoteStatus {
  readonly name: string;
  readonly default: boolean;
  readonly service: ServiceStatus;
  /** Its `user` and `global` layers together. */
  readonly own: UnitStatus;
  readonly user: UnitStatus;
  readonly global: UnitStatus;
  /** Who can read `global`; null: nobody else. */
  readonly audience: AudienceView | null;
}

/** Everything that `memsync status` shows; with `--json`, as it is. */
export interface DaemonStatus {
  readonly version: string;
  readonly home: string;
  readonly gateway: { readonly url: string };
  /** The default remote's. */
  readonly service: ServiceStatus;
  /** The default remote, and those that something here is bound to. */
  readonly remotes: readonly RemoteStatus[];
  readonly projects: readonly ProjectStatus[];
  /** Of these only a deletion is synced. Those whose deletion was sent are left out. */
  readonly unlinked: readonly UnlinkedProject[];
  /** The default remote's `user` and `global` layers together. */
  readonly own: UnitStatus;
  /** Databases that were damaged, while their files are still there. */
  readonly damaged: readonly DamageNote[];
  /** What is held on this machine, each with the reason and what to do. */
  readonly held: readonly HeldStatus[];
}

/** What is left of one of the account's quotas. */
export interface RequestsLeft {
  /** Null where the service does not tell. */
  readonly limit: number | null;
  readonly remaining: number;
  /** When the quota is renewed. */
  readonly resets_at: string;
}

/** What a status is read from. */
export interface StatusSources {
  readonly store: ReplicaStore<DaemonTables>;
  readonly home: string;
  readonly gatewayUrl: string;
  readonly remotes: OpenRemotes;
  readonly links: readonly Link[];
  readonly files: readonly FollowedFile[];
  readonly polled: (dir: string) => Polled | undefined;
  readonly repositoryNote: (dir: string) => Reason | undefined;
  readonly placeChange: (dir: string) => PlaceChange | undefined;
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
    const files = sources.files.filter((file) => file.link.projectId === projectId);
    const account = open.bindingOf(projectId) ?? LOCAL_ACCOUNT;
    const kept = await keptStatus(sources, account, projectId);
    const folders = files.map((file) => folderStatus(sources, file, kept.text));
    projects.push({ ...kept, name, folders });
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
      audience: await readAudience(sources.store.reader, remote),
    });
  }
  const usual = remotes.find((each) => each.default);
  assert(usual, "the default remote is always open");
  return {
    version: VERSION,
    home: sources.home,
    gateway: { url: sources.gatewayUrl },
    service: usual.service,
    remotes,
    projects,
    unlinked: await unlinkedProjects(sources),
    own: usual.own,
    damaged: readDamageNotes(sources.home),
    held: await readHeldStatus(sources.store.reader, (account) => {
      return open.remoteOf(account)?.name ?? null;
    }),
  };
}

/** What the home has of a project. */
async function keptStatus(sources: StatusSources, account: AccountId, id: ProjectId) {
  const { reader } = sources.store;
  return {
    id,
    remote: sources.remotes.remoteOf(account)?.name ?? "",
    text: await readKeptText(reader, account, id),
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
    projects.push({ ...kept, name: each.name, plain: isPlain(each.position), folders: [] });
  }
  return projects;
}

function serviceStatus({ service, engine }: OpenRemote): ServiceStatus {
  const { contact } = engine;
  const { online, plain, tokenRefused, lastContactAt, unansweredSince, message } = contact;
  const { name } = service;
  const isBlocked = service.isBlocked === true;
  return {
    name,
    state: serviceState({ name, isBlocked, contact }),
    online,
    live: contact.socket === "live",
    plain,
    last_contact_at: timeOf(lastContactAt),
    unanswered_since: timeOf(unansweredSince),
    // No call has to fail before it is known what a blocked one waits for.
    message: service.blockedUntil ?? message ?? null,
    blocked: isBlocked,
    token_refused: online && tokenRefused,
    requests: requestsLeft(service.budget),
    held_back: heldBackOf(engine),
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

function heldBackOf({ throttled }: SyncEngine): HeldBackStatus | null {
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
  const { beside } = file;
  const { dir } = file.link;
  const polled = sources.polled(dir) ?? null;
  const noted = sources.repositoryNote(dir);
  const repository = noted ? explain(noted) : null;
  const repository_code = noted?.code ?? null;
  const place = placeStatus(sources.placeChange(dir), sources.now);
  const said = { note: note ?? null, why: why?.code ?? null };
  return { dir, path, state, ...said, polled, repository, repository_code, beside, place };
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
    memories += await countSavedMemories(store.reader, document.id);
    waiting += sync.waiting;
    contacted &&= position.remote !== undefined || isForbiddenOwn(unit, position);
    refused ??= position.refused;
    notes.push(...sync.notes);
  }
  const why = { refused: refused ? explain(refused) : null, refused_code: refused?.code ?? null };
  return { memories, waiting, contacted, ...why, notes };
}

/** A token for certain projects may not read the other documents, and the service said so. */
function isForbiddenOwn(unit: SyncUnit, { refused }: SyncPosition): boolean {
  return unit === "own" && refused?.code === "token-forbids";
}
