import { invalidAt } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import {
  type DocumentAddress,
  globalDocument,
  projectDocument,
  userDocument,
} from "../../shared/replica/document/address.ts";
import { TEXT_CONFLICT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { beginAnew } from "../../shared/replica/document/project-deletion.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { whyHeld, whyMetadataHeld } from "../held/judge.ts";
import { findShownText } from "../held/shown-text.ts";
import { findHeld, placeOf, putHeld } from "../home/held-store.ts";
import { listLinks } from "../home/links.ts";
import { LOCAL_USER } from "../home/local-account.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { writeText } from "../home/text-write.ts";
import { replaceHeld } from "../overwritten/replace-held.ts";
import type { PortableHome, PortableProject } from "./format.ts";
import { importMemories, type MemoryCounts, NO_MEMORIES } from "./import-memories.ts";
import { storedTextConflict } from "./text-conflicts.ts";

type Context = WriteContext<DaemonTables>;

/** The result of an import. */
export interface ImportResult extends MemoryCounts {
  readonly projects: number;
  /** How many description documents changed. */
  readonly texts: number;
}

/** Called after each memory, with the total number. */
export type OnImported = (done: number, total: number) => void;

/**
 * Writes everything in an export into the replica, in one transaction. Each value is a write of
 * this machine: what it replaces goes to the history, an equal value changes nothing, and what
 * looks like a secret is held. Nothing is deleted. Durable when it resolves. `own`: the account
 * that gets the user and global memories, and projects that the home does not have yet.
 */
export async function importHome(
  store: ReplicaStore<DaemonTables>,
  home: PortableHome,
  {
    own,
    onImported = () => {},
  }: { readonly own: AccountId; readonly onImported?: OnImported | undefined },
): Promise<ImportResult> {
  const layers = [...home.projects, home.user, home.global];
  const total = layers.reduce((sum, { memories }) => sum + memories.length, 0);
  let done = 0;
  const onMemory = () => onImported(++done, total);
  return await store.write(async (context) => {
    const linked = new Set<string>((await listLinks(context.db)).map((link) => link.projectId));
    let result: ImportResult = { ...NO_MEMORIES, projects: home.projects.length, texts: 0 };
    const take = async (address: DocumentAddress, part: PortableHome["user"]) => {
      const open = await context.open(address);
      result = added(
        result,
        await importMemories(context, open, { memories: part.memories, onMemory }),
      );
      return open;
    };
    // One's own text first: what of it stands in a project is held.
    await context.flush(await take(userDocument(own, LOCAL_USER), home.user));
    await context.flush(await take(globalDocument(own), home.global));
    for (const project of home.projects) {
      const { id } = project;
      const account = (await findBinding(context.db, id)) ?? own;
      const open = await take(projectDocument(account, id), project);
      // Somebody who imports a deleted project wants it back.
      if (project.memories.length > 0 || project.claude_md_content !== "") beginAnew(open.document);
      const text = await importText(context, open, project);
      const metadata = await importMetadata(context, open, {
        portableProject: project,
        isLinked: linked.has(project.id),
      });
      result = {
        ...result,
        texts: result.texts + (text.isWritten ? 1 : 0),
        left_held: result.left_held + text.left + metadata.left,
      };
      await context.flush(open);
    }
    return result;
  });
}

function added(result: ImportResult, counts: MemoryCounts): ImportResult {
  return {
    ...result,
    created: result.created + counts.created,
    updated: result.updated + counts.updated,
    unchanged: result.unchanged + counts.unchanged,
    held: result.held + counts.held,
    left_held: result.left_held + counts.left_held,
    left_out: result.left_out + counts.left_out,
  };
}

/** How many held values were left. */
interface Left {
  readonly left: number;
}

/** An empty text stands for none. */
async function importText(
  { db, now }: Context,
  open: OpenDocument,
  { claude_md_content: value }: PortableProject,
): Promise<Left & { readonly isWritten: boolean }> {
  const base = open.document.content();
  const shown = await findShownText(db, placeOf(open));
  if (value === "" || value === (shown?.value ?? base)) return { left: 0, isWritten: false };
  const why = await whyHeld(db, open, { text: value, already: [base] });
  const place = { ...placeOf(open), kind: "text", key: "" } as const;
  const left = (await replaceHeld(db, place, { base, value })) ? 1 : 0;
  if (why) await putHeld(db, { ...place, value, base, seen: [], writtenAt: now, ...why });
  else writeText(open.document, { base, value, writtenAt: now });
  return { left, isWritten: true };
}

async function importMetadata(
  context: Context,
  open: OpenDocument,
  {
    portableProject: { name, metadata, text_conflicts = [] },
    isLinked,
  }: { readonly portableProject: PortableProject; readonly isLinked: boolean },
): Promise<Left> {
  const { document } = open;
  const { db, now } = context;
  let left = 0;
  if (name !== undefined && !isLinked && document.projectName() === undefined) {
    document.setProjectName(name, now);
  }
  for (const [key, value] of Object.entries(metadata)) {
    const entries = document.metadata.get(key);
    const text = JSON.stringify(value);
    const current = entries.map((entry) => JSON.stringify(entry.value));
    const place = { ...placeOf(open), kind: "metadata", key } as const;
    const held = await findHeld(db, place);
    if (text === (held ? held.value : current[0])) continue;
    const why = await whyMetadataHeld(db, open, { key, value, already: current });
    if (await replaceHeld(db, place, { base: current[0], value: text })) left += 1;
    if (!why) {
      document.setEntry("metadata", key, { value, now });
      continue;
    }
    const seen = entries.map((entry) => entry.id);
    await putHeld(db, { ...place, value: text, seen, writtenAt: now, ...why });
  }
  if (Object.keys(metadata).length > 0) assertMetadataFits(open);
  for (const conflict of text_conflicts) {
    const key = TEXT_CONFLICT_PREFIX + conflict.id;
    if (document.metadata.get(key).length > 0) continue;
    document.setEntry("metadata", key, { value: storedTextConflict(conflict), now });
  }
  return { left };
}

/** The limit applies to the result, including what was there. */
function assertMetadataFits({ address, document: { metadata } }: OpenDocument): void {
  const keys = [...metadata.keys()].filter(isPublicKey);
  const merged = Object.fromEntries(keys.map((key) => [key, metadata.get(key)[0]?.value]));
  if (!exceedsBytes(JSON.stringify(merged), LIMITS.metadataBytes)) return;
  throw invalidAt(
    "/metadata",
    `the metadata of ${address.name} would take more than ${LIMITS.metadataBytes} bytes as JSON ` +
      "together with what is there",
  );
}
