import type { Kysely } from "kysely";
import { findShownText, shownText } from "../../daemon/held/shown-text.ts";
import { readDeletion } from "../../daemon/home/deleted-project.ts";
import { type HeldDocument, type HeldItem, listHeld } from "../../daemon/home/held-store.ts";
import { listLinks } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import {
  EXPORT_FORMAT,
  type PortableHome,
  type PortableMemory,
  type PortableProject,
} from "../../daemon/portable/format.ts";
import { portableTextConflict } from "../../daemon/portable/text-conflicts.ts";
import { findLocalDocument } from "../../daemon/reading/find-document.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { type JsonObject, type JsonValue, parseJson } from "../../shared/json.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { PROJECT_NAME_KEY } from "../../shared/replica/document/document.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { listConflicts } from "../local/local-conflicts.ts";
import { listLocalDocuments } from "../local/local-documents.ts";
import { listLosingVersions } from "../local/losing-versions.ts";
import { ownDocument } from "../place/layer-option.ts";

type Db = Kysely<DaemonTables>;

/** Called for each document that was read, with the total number. */
export type OnRead = (done: number, total: number) => void;

/**
 * Everything on this machine as one value, in an order that depends only on the content: what the
 * daemon has committed, with held writes and the inbox laid over it. User and global memories are
 * those of the account `own`; another remote's need an export of their own.
 *
 * ```
 * sayJson(await exportHome(db, account, () => undefined));
 * ```
 */
export async function exportHome(
  db: Db | undefined,
  own: AccountId,
  onRead: OnRead,
): Promise<PortableHome> {
  if (!db)
    return {
      format: EXPORT_FORMAT,
      projects: [],
      user: { memories: [] },
      global: { memories: [] },
    };
  return await db.transaction().execute(async (one) => {
    const ids = await listProjectIds(one);
    const total = ids.length + 2;
    const projects: PortableProject[] = [];
    let done = 0;
    for (const id of ids) {
      const project = await exportProject(one, id);
      done += 1;
      if (!isEmpty(project) || !(await readDeletion(one, id))) projects.push(project);
      onRead(done, total);
    }
    const user = {
      memories: await exportMemories(one, { account: own, document: ownDocument("user") }),
    };
    const global = {
      memories: await exportMemories(one, { account: own, document: ownDocument("global") }),
    };
    onRead(total, total);
    return { format: EXPORT_FORMAT, projects, user, global };
  });
}

/** What of held writes is in an export, and what is not. */
export interface HeldInExport {
  /** How many writes in the export are held because they look like secrets. */
  readonly secrets: number;
  /**
   * How many held writes are not in the export, such as texts that are too large. What is synced of
   * them is in it.
   */
  readonly leftOut: number;
}

/** How much of what is held is in an export, and how much is not. */
export async function countHeldIn(db: Db | undefined, own: AccountId): Promise<HeldInExport> {
  const all = (db ? await listHeld(db) : []).filter(({ account, document }) => {
    return account === own || projectOf(document) !== undefined;
  });
  const isText = ({ kind }: HeldItem) => kind === "text" || kind === "file";
  const texts = [...Map.groupBy(all.filter(isText), ({ document }) => document).values()];
  const shown = texts.flatMap((items) => shownText(items) ?? []).filter(isImported);
  // Of two files with the same text only one counts.
  const isCopy = ({ document, value }: HeldItem) =>
    shown.some((text) => text.document === document && text.value === value);
  const others = all.filter((item) => !isText(item) && item.value !== undefined);
  const isShown = (item: HeldItem) => item.shown;
  const held = [...others.filter(isShown), ...shown];
  const left = [
    ...others.filter((item) => !isShown(item)),
    ...all.filter((item) => isText(item) && !isCopy(item)),
  ];
  return {
    secrets: held.filter(({ cause }) => cause === "private").length,
    leftOut: left.length,
  };
}

/** Projects with a link, with a document, or with a waiting write. */
async function listProjectIds(db: Db): Promise<ProjectId[]> {
  const inbox = await db.selectFrom("inbox").select("document").distinct().execute();
  const held = await db.selectFrom("held").select("document").distinct().execute();
  const names = [
    ...(await listLocalDocuments(db)).map(({ name }) => name),
    ...[...inbox, ...held].map(({ document }) => document),
  ];
  const linked = (await listLinks(db)).map(({ projectId }) => projectId);
  return [...new Set([...names.flatMap((name) => projectOf(name) ?? []), ...linked])].sort();
}

/** A deleted project is in no export, unless somebody has written into it since. */
function isEmpty({ claude_md_content, memories }: PortableProject): boolean {
  return claude_md_content === "" && memories.length === 0;
}

async function exportProject(db: Db, id: ProjectId): Promise<PortableProject> {
  const account = (await findBinding(db, id)) ?? LOCAL_ACCOUNT;
  const place = { account, document: id };
  const name = await nameOf(db, id);
  const conflicts = await listConflicts(db, (document) => document.name === id);
  const texts = conflicts.flatMap((conflict) => (conflict.kind === "text" ? [conflict] : []));
  return {
    id,
    ...(name !== undefined && { name }),
    claude_md_content: await exportText(db, place),
    metadata: await exportMetadata(db, place),
    memories: await exportMemories(db, place),
    ...(texts.length > 0 && {
      text_conflicts: texts.map(({ record }) => portableTextConflict(record)).sort(byId),
    }),
  };
}

async function nameOf(db: Db, id: string): Promise<string | undefined> {
  const link = (await listLinks(db)).find(({ projectId }) => projectId === id);
  if (link && link.name !== "") return link.name;
  const metadata = await readMetadata(db, id);
  const name = metadata.get(PROJECT_NAME_KEY);
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** A held text is exported, because it is the one shown, unless no import would accept it. */
async function exportText(db: Db, place: HeldDocument): Promise<string> {
  const held = await findShownText(db, place);
  const text = await readLocalText(db, place.document);
  if (held && isImported(held) && !text?.waits) return held.value;
  return text?.value ?? "";
}

/** Whether an import takes a text. */
function isImported({ value }: { readonly value: string }): boolean {
  return !exceedsBytes(value, LIMITS.claudeMdBytes);
}

async function exportMetadata(db: Db, place: HeldDocument): Promise<JsonObject> {
  const metadata = await readMetadata(db, place.document);
  for (const { kind, key, value, shown } of await listHeld(db, place)) {
    if (kind !== "metadata" || !shown) continue;
    if (value === undefined) metadata.delete(key);
    else metadata.set(key, parseJson(value));
  }
  const shown = [...metadata].filter(([key]) => isPublicKey(key));
  return Object.fromEntries(shown.sort(([one], [other]) => (one < other ? -1 : 1)));
}

async function readMetadata(db: Db, name: string): Promise<Map<string, JsonValue>> {
  const document = await findLocalDocument(db, name);
  if (!document) return new Map();
  const rows = await db
    .selectFrom("metadata")
    .select(["key", "value"])
    .where("document_id", "=", document.id)
    .execute();
  return new Map(rows.map(({ key, value }) => [key, parseJson(value)]));
}

async function exportMemories(db: Db, place: HeldDocument): Promise<PortableMemory[]> {
  const { account, document: name } = place;
  const document = await findLocalDocument(db, name, account);
  const losing = document ? await listLosingVersions(db, { id: document.id, name, account }) : [];
  const memories = (await readLocalMemories(db, name, account)).map(
    ({ key, value, updated_at, held }) => {
      // A held value takes no part in conflicts yet.
      const lost = held === undefined ? losing.filter((each) => each.key === key) : [];
      const conflicts = lost.map((each) => ({
        value: each.value,
        updated_at: timestampOf(each.writtenAt),
      }));
      return { key, value, updated_at, ...(conflicts.length > 0 && { conflicts }) };
    },
  );
  return memories.sort((one, other) => (one.key < other.key ? -1 : 1));
}

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1;
}
