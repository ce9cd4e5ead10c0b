import { projectOf } from "../shared/replica/address.ts";
import type { ReplicaStore } from "../shared/replica/store.ts";
import { VERSION } from "../shared/version.ts";
import { timestampOf } from "../shared/timestamps.ts";
import { type HeldStatus, readHeldStatus } from "./held/held-status.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "./local-account.ts";
import type { Link } from "./links.ts";
import { type DamageNote, readDamageNotes } from "./recovery/set-aside.ts";
import type { FollowedFile } from "./sources/followed-file.ts";
import type { SyncEngine } from "./sync/engine.ts";
import { readPlainStatus } from "./sync/plain/plain-status.ts";
import { isPlain, readPosition } from "./sync/positions.ts";
import type { RequestBudget } from "./sync/request-budget.ts";
import { documentsOf } from "./sync/round.ts";
import type { SyncUnit } from "./sync/schedule.ts";
import type { DaemonTables } from "./tables.ts";

/** How far a unit's documents are: what is durable here, and what the service has acknowledged. */
export interface UnitStatus {
  /** Memories that are saved on this machine. */
  readonly memories: number;
  /** Changes that are saved here and not acknowledged yet. */
  readonly waiting: number;
  /** The service has answered for it before. */
  readonly contacted: boolean;
  /** Why the service won't take it. */
  readonly refused: string | null;
  /** What else is to be said of it, each in words of its own. */
  readonly notes: readonly string[];
}

/** The followed file of one linked folder; `note` says why, in words that follow the path. */
export interface FolderStatus {
  readonly dir: string;
  /** The followed file, from the folder. */
  readonly path: string;
  readonly state: "followed" | "upwards" | "waiting" | "held" | "left alone";
  readonly note: string | null;
}

/** One followed project, by the name of its first link, with its linked folders. */
export interface ProjectStatus extends UnitStatus {
  readonly id: string;
  readonly name: string;
  readonly folders: readonly FolderStatus[];
}

/** A project that is written to here but linked to no folder, so that nothing of it is sent. */
export interface UnlinkedProject {
  readonly id: string;
  /** Changes that are on this machine alone. */
  readonly waiting: number;
}

/** Everything that `memsync status` shows; with `--json`, as it is. */
export interface DaemonStatus {
  readonly version: string;
  readonly home: string;
  readonly gateway: { readonly url: string };
  readonly service: {
    readonly name: string;
    readonly online: boolean;
    readonly live: boolean;
    /** It implements the published interface and nothing else. */
    readonly plain: boolean;
    readonly last_contact_at: string | null;
    readonly message: string | null;
    /** By the name of their window; empty where nothing is limited. */
    readonly requests: Readonly<Record<string, RequestsLeft>>;
    /** Calls wait for more requests since then, and until then; null when none does. */
    readonly held_back: { readonly since: string; readonly until: string } | null;
  };
  readonly projects: readonly ProjectStatus[];
  /** Only those of which something waits. */
  readonly unlinked: readonly UnlinkedProject[];
  /** The `user` and `global` layers together. */
  readonly own: UnitStatus;
  /** Databases that were damaged, for as long as they lie set aside. */
  readonly damaged: readonly DamageNote[];
  /** Kept on this machine, each with why and what to do. */
  readonly held: readonly HeldStatus[];
}

/** What is left of one of the account's quotas of requests. */
export interface RequestsLeft {
  /** Null where the service does not tell. */
  readonly limit: number | null;
  readonly remaining: number;
  /** When there will be more. */
  readonly resets_at: string;
}

/** What a status is read from; `service` is the name that positions are kept under. */
export interface StatusSources {
  readonly store: ReplicaStore<DaemonTables>;
  readonly service: string;
  readonly home: string;
  readonly gatewayUrl: string;
  readonly engine: SyncEngine;
  readonly budget: RequestBudget | undefined;
  readonly links: readonly Link[];
  readonly files: readonly FollowedFile[];
}

/** The state now, projects in the order of `links`. Calls no service and looks at no file. */
export async function readStatus(sources: StatusSources): Promise<DaemonStatus> {
  const { online, live, plain, lastContactAt, message } = sources.engine.contact;
  const projects: ProjectStatus[] = [];
  for (const { projectId, name } of uniqueProjects(sources.links)) {
    const folders = sources.files.filter((file) => file.link.projectId === projectId);
    projects.push({
      id: projectId,
      name,
      ...(await unitStatus(sources, projectId)),
      folders: folders.map(folderStatus),
    });
  }
  return {
    version: VERSION,
    home: sources.home,
    gateway: { url: sources.gatewayUrl },
    service: {
      name: sources.service,
      online,
      live,
      plain,
      last_contact_at: lastContactAt === undefined ? null : timestampOf(lastContactAt),
      message: message ?? null,
      requests: requestsLeft(sources.budget),
      held_back: heldBackOf(sources.engine),
    },
    projects,
    unlinked: await findUnlinked(sources),
    own: await unitStatus(sources, "own"),
    damaged: readDamageNotes(sources.home),
    held: await readHeldStatus(sources.store.reader),
  };
}

/** Whether the service has acknowledged all that can be sent to it. */
export function isSynced(status: DaemonStatus): boolean {
  const settled = (unit: UnitStatus) => unit.contacted && unit.waiting === 0;
  const files = status.projects.flatMap((project) => project.folders);
  return (
    status.service.online &&
    [...status.projects, status.own].every(settled) &&
    files.every((file) => file.state !== "waiting")
  );
}

function requestsLeft(budget: RequestBudget | undefined): Record<string, RequestsLeft> {
  const quotas = budget?.view().quotas ?? [];
  return Object.fromEntries(
    quotas.map(({ name, limit, remaining, moreAt }) => {
      return [name, { limit, remaining, resets_at: timestampOf(moreAt) }];
    }),
  );
}

function heldBackOf({ heldBack }: SyncEngine) {
  if (!heldBack) return null;
  return { since: timestampOf(heldBack.since), until: timestampOf(heldBack.until) };
}

function uniqueProjects(links: readonly Link[]): Link[] {
  const seen = new Set<string>();
  return links.filter(({ projectId }) => !seen.has(projectId) && seen.add(projectId));
}

/** Projects get here through the gateway, too, and stay when their folder is unlinked. */
async function findUnlinked(sources: StatusSources): Promise<UnlinkedProject[]> {
  const { store, service, links } = sources;
  const linked = new Set<string>(links.map(({ projectId }) => projectId));
  const documents = await store.reader
    .selectFrom("documents")
    .select(["id", "name"])
    .where("owner", "=", LOCAL_ACCOUNT)
    .orderBy("id")
    .execute();
  const unlinked: UnlinkedProject[] = [];
  for (const { id, name } of documents) {
    if (projectOf(name) === undefined || linked.has(name)) continue;
    const { ackedSeq } = await readPosition(store.reader, service, id);
    const waiting = await countUnacknowledged(sources, id, ackedSeq);
    if (waiting > 0) unlinked.push({ id: name, waiting });
  }
  return unlinked;
}

function folderStatus(file: FollowedFile): FolderStatus {
  const { path, state, note } = file.status;
  return { dir: file.link.dir, path, state, note: note ?? null };
}

async function unitStatus(sources: StatusSources, unit: SyncUnit): Promise<UnitStatus> {
  const { store, service, engine } = sources;
  let memories = 0;
  let waiting = 0;
  let contacted = true;
  let refused = engine.refusal(unit) ?? null;
  const notes: string[] = [];
  for (const name of documentsOf(unit, LOCAL_USER)) {
    const document = await store.reader
      .selectFrom("documents")
      .select("id")
      .where("owner", "=", LOCAL_ACCOUNT)
      .where("name", "=", name)
      .executeTakeFirst();
    if (!document) {
      contacted = false;
      continue;
    }
    const position = await readPosition(store.reader, service, document.id);
    memories += await countMemories(sources, document.id);
    waiting += await countUnacknowledged(sources, document.id, position.ackedSeq);
    contacted &&= position.remote !== undefined;
    refused ??= position.refused ?? null;
    if (!isPlain(position)) continue;
    const plain = await readPlainStatus(store.reader, document.id);
    waiting += plain.outstanding;
    notes.push(...plain.notes);
  }
  return { memories, waiting, contacted, refused, notes };
}

async function countMemories({ store }: StatusSources, documentId: number): Promise<number> {
  const { count } = await store.reader
    .selectFrom("memories")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("document_id", "=", documentId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function countUnacknowledged(
  { store }: StatusSources,
  documentId: number,
  ackedSeq: number,
): Promise<number> {
  const { count } = await store.reader
    .selectFrom("updates")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("document_id", "=", documentId)
    .where("origin", "=", "local")
    .where("seq", ">", ackedSeq)
    .executeTakeFirstOrThrow();
  return Number(count);
}
