import type { Kysely } from "kysely";
import { leavingSessions } from "../../daemon/held/leaving-sessions.ts";
import { listHeld } from "../../daemon/home/held-store.ts";
import { ALL_LAST_WORDS, lastWordsSeq } from "../../daemon/home/last-words.ts";
import { listLinks } from "../../daemon/home/links.ts";
import {
  countUnacknowledged,
  isPlain,
  NOT_CONTACTED,
  readPosition,
} from "../../daemon/home/positions.ts";
import { serviceNameOf } from "../../daemon/home/remote.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readInbox } from "../../daemon/inbox/inbox.ts";
import { laidOver } from "../../daemon/inbox/overlay.ts";
import { getDefault, type RemoteView } from "../../daemon/remotes/remote-view.ts";
import { type AudienceView, readAudience } from "../../daemon/status/audience-view.ts";
import {
  documentContent,
  knownDocument,
  knownState,
  NO_CONTENT,
} from "../../daemon/sync/known-state.ts";
import { type AccountId, parseProjectId } from "../../shared/ids.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import { diffLines } from "../../shared/replica/text/line-diff.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { Session } from "../../shared/wire/session.ts";
import { loadLocalDocument } from "./load-local-document.ts";
import { type LocalDocument, listLocalDocuments } from "./local-documents.ts";

type Db = Kysely<DaemonTables>;

/** Changes of keys that would be sent. */
export interface KeyChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
}

/** What would be sent of a document, compared with what the service is known to hold. */
export interface DocumentPreview {
  readonly name: string;
  readonly layer: Layer;
  /** The project's name from its link; its id where it is not linked here. */
  readonly title: string;
  /** The service; undefined for a project without a link, of which nothing is sent. */
  readonly service: string | undefined;
  /** Who can read it there, if it is `global`; null: nobody else. */
  readonly audience: AudienceView | null;
  /** Whether the service has answered about the document before. */
  readonly contacted: boolean;
  /** Undefined where sent and unsent changes can no longer be told apart. */
  readonly changes:
    | {
        readonly memories: KeyChanges;
        readonly metadata: KeyChanges;
        readonly lines: { readonly added: number; readonly removed: number };
      }
    | undefined;
  /** Local commits without an acknowledgement, and writes made without a daemon. */
  readonly waiting: number;
  /** How many writes are held and so not sent. */
  readonly held: number;
  /** Records of sessions, with their titles; none to a service that takes none. */
  readonly sessions: readonly Pick<Session, "id" | "title">[];
}

/** What waits to be sent of each document, and to which remote's service. Calls no service. */
export async function previewSync(db: Db, view: RemoteView): Promise<DocumentPreview[]> {
  const linked = new Set<string>((await listLinks(db)).map(({ projectId }) => projectId));
  const known = await listLocalDocuments(db);
  const previews: DocumentPreview[] = [];
  for (const document of [...known, ...(await unknownDocuments(db, known, view))]) {
    const isLinked = document.layer !== "project" || linked.has(document.name);
    const remote = view.remotes.find(({ account }) => account === document.account);
    const service = remote && serviceNameOf(remote);
    const shared = document.layer === "global" ? remote : undefined;
    const audience = shared ? await readAudience(db, shared) : null;
    previews.push({ ...(await previewOne(db, document, { service, isLinked })), audience });
  }
  return previews;
}

/** Documents for which there are only writes in the inbox. */
async function unknownDocuments(
  db: Db,
  known: readonly LocalDocument[],
  view: RemoteView,
): Promise<LocalDocument[]> {
  const rows = await db.selectFrom("inbox").select(["document", "account"]).distinct().execute();
  const links = new Map<string, string>();
  for (const { projectId, name } of await listLinks(db)) links.set(projectId, name);
  const isKnown = (row: (typeof rows)[number]) =>
    known.some(({ name, layer, account }) => {
      return name === row.document && (layer === "project" || account === row.account);
    });
  return rows
    .filter((row) => !isKnown(row))
    .map(({ document: name, account: own }): LocalDocument => {
      const layer = layerOf(name);
      const account = layer === "project" ? getDefault(view).account : own;
      const title = layer === "project" ? (links.get(name) ?? name) : layer;
      return { id: NO_DOCUMENT, name, layer, account, remote: undefined, title };
    });
}

/** No row has this id. */
const NO_DOCUMENT = 0;

async function previewOne(
  db: Db,
  { id, name, layer, title, account }: LocalDocument,
  { service, isLinked }: { readonly service: string | undefined; readonly isLinked: boolean },
): Promise<Omit<DocumentPreview, "audience">> {
  const isNew = id === NO_DOCUMENT;
  const position =
    isNew || service === undefined ? NOT_CONTACTED : await readPosition(db, service, id);
  const before = isNew ? NO_CONTENT : await knownState(db, id, position);
  const { ackedSeq } = position;
  const words = { ackedSeq, words: ALL_LAST_WORDS };
  const untilSeq = isLinked || isNew ? undefined : await lastWordsSeq(db, id, words);
  // Of a project without a link only the last words are sent, and nothing that came after them.
  const isPart = untilSeq !== undefined;
  const said = isPart ? await knownDocument(db, id, untilSeq) : undefined;
  const stored = isNew ? NO_CONTENT : documentContent(said ?? (await loadLocalDocument(db, id)));
  const inbox = isPart ? [] : await readInbox(db, name, account);
  const now = laidOver(stored, inbox);
  return {
    name,
    layer,
    title,
    service: isLinked || isPart ? service : undefined,
    contacted: position.remote !== undefined,
    changes: before && {
      memories: keyChanges(before.memories, now.memories),
      metadata: keyChanges(before.metadata, now.metadata),
      lines: lineChanges(before.text, now.text),
    },
    waiting: (await countUnacknowledged(db, id, { ackedSeq, untilSeq })) + inbox.length,
    held: (await listHeld(db, { account, document: name })).length,
    sessions: isPlain(position) || !isLinked ? [] : await sessionsToSend(db, name, account),
  };
}

async function sessionsToSend(db: Db, name: string, account: AccountId) {
  const project = parseProjectId(name);
  if (project === undefined) return [];
  const { leaving } = await leavingSessions(db, account, project);
  return leaving.map(({ upload: { id, title } }) => ({ id, title }));
}

function keyChanges(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): KeyChanges {
  return {
    added: [...now.keys()].filter((key) => !before.has(key)),
    changed: [...now.keys()].filter((key) => before.has(key) && before.get(key) !== now.get(key)),
    deleted: [...before.keys()].filter((key) => !now.has(key)),
  };
}

function lineChanges(before: string, now: string) {
  let [added, removed] = [0, 0];
  for (const hunk of diffLines(plainLines(before), plainLines(now))) {
    added += hunk.added;
    removed += hunk.removed;
  }
  return { added, removed };
}
