import { projectDocument } from "../../../shared/replica/address.ts";
import type { OpenDocument } from "../../../shared/replica/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store.ts";
import type { ProjectId } from "../../../shared/ids.ts";
import type { DaemonTables } from "../../tables.ts";
import type { PlainOptions } from "./plain-options.ts";
import { takeItems } from "./apply-items.ts";
import { dropJournal, type PlainState } from "./plain-store.ts";
import { takeText } from "./plain-text.ts";
import type { ProjectReading, ReadItems } from "./reading.ts";
import { keepRefused, NO_ID, type Removal, type SendItem } from "./refusals.ts";
import { readState, rememberReading } from "./document-state.ts";

type Context = WriteContext<DaemonTables>;

/** What a project's service is to be told after a reading. */
export interface ProjectChanges {
  readonly items: readonly SendItem[];
  readonly removals: readonly Removal[];
}

/** Takes a reading of a project into its document; durable with the transaction's commit. */
export async function takeProject(
  context: Context,
  options: PlainOptions,
  project: ProjectId,
  reading: ProjectReading,
): Promise<ProjectChanges> {
  const open = await context.open(projectDocument(options.account, project));
  const from = open.head.seq;
  const known = await readState(context.db, options.service.name, open.id);
  const wiped = isWiped(open, known, reading);
  const putBack = wiped || hasDeleted(known, reading.memories);
  const { document } = open;
  const { now } = context;
  const memories = takeItems(document, "memories", known.memories, reading.memories, putBack, now);
  const lost = wiped || memories.lost;
  const metadata = takeItems(document, "metadata", known.metadata, reading.metadata, lost, now);
  const text = await takeText(context, open, known.text, reading.text, lost);
  const wanted = {
    items: [
      ...(text.send === undefined ? [] : [{ kind: "text", key: "", value: text.send } as const]),
      ...memories.send.map((each) => ({ kind: "memories", ...each }) as const),
      ...metadata.send.map((each) => ({ kind: "metadata", ...each }) as const),
      ...metadata.remove.map(({ key }) => ({ kind: "metadata", key, value: null }) as const),
    ],
    removals: memories.remove,
  };
  const changes = await keepRefused(context.db, open.id, known.refused, wanted, NO_ID);
  await settleJournal(context, known, wanted.removals);
  await rememberReading(context, options, open, from, known, {
    text: text.state,
    memories: memories.base,
    metadata: metadata.base,
    lost: lost || metadata.lost,
    outstanding: wanted.items.length + wanted.removals.length,
  });
  return changes;
}

/** Nobody empties the text and deletes every memory at once, so the service has lost them. */
function isWiped(open: OpenDocument, known: PlainState, reading: ProjectReading): boolean {
  const hadText = (known.text.agreed?.base.text ?? "").trim() !== "";
  const { memories } = reading;
  const isEmpty = reading.text === "" && memories?.complete === true && memories.items.size === 0;
  return isEmpty && hadText && known.memories.size > 0 && open.document.content() !== "";
}

/**
 * Whether a deletion of ours came through since the last reading. What vanished with it was not
 * meant.
 */
function hasDeleted({ journal }: PlainState, shown: ReadItems | undefined): boolean {
  if (!shown?.complete) return false;
  return journal.some((entry) => entry.kind === "delete" && !shown.items.has(entry.key));
}

async function settleJournal(
  { db }: Context,
  { journal }: PlainState,
  removals: readonly Removal[],
): Promise<void> {
  const open = new Set(removals.map(({ key }) => key));
  await dropJournal(
    db,
    journal.filter(({ key }) => !open.has(key)),
  );
}
