import type { ProjectId } from "../../shared/ids.ts";
import { equalJson } from "../../shared/json.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { openBound } from "../home/open-bound.ts";
import type { DaemonTables } from "../home/tables.ts";
import { applyItems, itemsOf } from "./apply-items.ts";
import { readState, rememberReading } from "./document-state.ts";
import { type AgreedItem, DELETED_AT_ONCE } from "./merge-items.ts";
import type { PlainOptions } from "./plain-options.ts";
import {
  dropJournal,
  hashOfValue,
  type ItemKind,
  itemName,
  type PlainState,
  type SentValue,
} from "./plain-store.ts";
import { applyText, isKnownText, leaveText, UNKNOWN_TEXT } from "./plain-text.ts";
import type { ProjectReading, ReadItems } from "./reading.ts";
import { keepRefused, type Removal, type SendItem } from "./refusals.ts";
import { sentIndex, sentWith } from "./sent-values.ts";

type Context = WriteContext<DaemonTables>;

/** What to tell a project's service after a reading. */
export interface ProjectChanges {
  readonly items: readonly SendItem[];
  readonly removals: readonly Removal[];
  /** The reading was doubtful, and nothing was taken. */
  readonly doubted: boolean;
}

/** That a project suddenly shows nothing at all is believed after this time. */
const BLANK_MS_MIN = 10_000;

/**
 * Takes a reading of a project into its document. Durable with the transaction's commit. Takes and
 * sends nothing of a project that was bound to another account meanwhile.
 */
export async function applyProject(
  context: Context,
  options: PlainOptions,
  { project, reading }: { readonly project: ProjectId; readonly reading: ProjectReading },
): Promise<ProjectChanges> {
  const open = await openBound(context, options, project);
  if (!open) return { items: [], removals: [], doubted: false };
  const from = open.head.seq;
  const stored = await readState(context.db, options.service.name, open.id);
  const known = stored.missing ? stillAgreed(stored, reading) : stored;
  const wiped = isWiped(open, known, reading);
  const blankSince =
    !wiped && isBlank(open, known, reading) ? (known.blankSince ?? context.now) : null;
  if (blankSince !== null && Math.abs(context.now - blankSince) < BLANK_MS_MIN) {
    const outstanding = Math.max(known.outstanding, 1);
    const doubt = { ...known, blankSince, outstanding, lost: false };
    await rememberReading(context, options, { open, from, known: stored, takenReading: doubt });
    return { items: [], removals: [], doubted: true };
  }
  const putBack = wiped || hasDeleted(known, reading.memories);
  const { document } = open;
  const { now } = context;
  const memories = applyItems(document, "memories", {
    known,
    shown: reading.memories,
    putBack,
    now,
  });
  const lost = wiped || memories.lost;
  const metadata = applyItems(document, "metadata", {
    known,
    shown: reading.metadata,
    putBack: lost,
    now,
  });
  const isUntakable = reading.untakable.some(({ kind }) => kind === "text");
  const text = isUntakable
    ? leaveText(open, known.text)
    : await applyText(context, open, {
        known: known.text,
        content: reading.text,
        shownTextCause: {
          lost,
          late: isLate(known, reading),
        },
      });
  const wanted = {
    items: [
      ...(text.send === undefined ? [] : [{ kind: "text", key: "", value: text.send } as const]),
      ...memories.send.map((each) => ({ kind: "memories", ...each }) as const),
      ...metadata.send.map((each) => ({ kind: "metadata", ...each }) as const),
      ...metadata.remove.map(({ key }) => ({ kind: "metadata", key, value: null }) as const),
    ],
    removals: memories.remove,
    untakable: reading.untakable,
  };
  const changes = await keepRefused(context.db, open.id, { refused: known.refused, wanted });
  await dropTaken(context, known, wanted.removals);
  await rememberReading(context, options, {
    open,
    from,
    known: stored,
    takenReading: {
      text: text.state,
      memories: memories.base,
      metadata: metadata.base,
      sent: sentWith(known.sent, changes.items, { now, isShown: (sent) => isShown(sent, reading) }),
      lost: lost || metadata.lost || (stored.missing && lacksAny(stored, reading)),
      blankSince: null,
      outstanding: wanted.items.length + wanted.removals.length,
    },
  });
  return { ...changes, doubted: false };
}

/**
 * What still counts after the service said that the project does not exist. The project there may
 * be a new one, so only what it shows unchanged counts.
 */
function stillAgreed(known: PlainState, reading: ProjectReading): PlainState {
  const ofKind = (kind: ItemKind) => {
    const isSame = ([key, { value }]: [string, AgreedItem]) => {
      const shown = reading[kind]?.items.get(key);
      return shown !== undefined && equalJson(shown.value, value);
    };
    return new Map([...known[kind]].filter(isSame));
  };
  const text = isKnownText(known.text, reading.text) ? known.text : UNKNOWN_TEXT;
  return { ...known, text, memories: ofKind("memories"), metadata: ofKind("metadata") };
}

/** Whether the reading lacks something that the service is known to have had. */
function lacksAny({ text, memories, metadata }: PlainState, reading: ProjectReading): boolean {
  const lacks = (items: PlainState[ItemKind], shown: ReadItems | undefined) =>
    [...items.keys()].some((key) => !shown?.items.has(key));
  const hadText = (text.agreed?.base.text ?? "").trim() !== "";
  if (hadText && !reading.text) return true;
  return lacks(memories, reading.memories) || lacks(metadata, reading.metadata);
}

/** Whether it shows a text of ours, of any age, that it was not known to hold. */
function isLate({ sent }: PlainState, { text }: ProjectReading): boolean {
  return text !== undefined && sentIndex(sent)(itemName("text", ""), text);
}

function isShown({ name, hash }: SentValue, { text, memories, metadata }: ProjectReading): boolean {
  const [kind = ""] = name.split("\n", 1);
  const key = name.slice(kind.length + 1);
  const items = kind === "memories" ? memories : metadata;
  const shown = kind === "text" ? text : items?.items.get(key)?.value;
  return shown !== undefined && hashOfValue(shown) === hash;
}

/**
 * Whether nothing is shown of what was agreed and is still here. Either everything was deleted, or
 * the service lost the project and another machine has just created it again.
 */
function isBlank({ document }: OpenDocument, known: PlainState, reading: ProjectReading): boolean {
  const { text, memories, metadata, untakable } = reading;
  if (text !== "" || memories?.items.size !== 0 || metadata?.items.size !== 0) return false;
  if (untakable.length > 0) return false;
  const hadText = (known.text.agreed?.base.text ?? "").trim() !== "";
  const countHere = (kind: ItemKind) => {
    const mine = itemsOf(document, kind);
    return [...known[kind].keys()].filter((key) => mine.has(key)).length;
  };
  const counts = [countHere("memories"), countHere("metadata")];
  // This many at once were certainly lost.
  if (counts.some((count) => count > DELETED_AT_ONCE)) return false;
  return (hadText && document.content() !== "") || counts.some((count) => count > 0);
}

/** Nobody empties the text and deletes every memory at once, so the service lost them. */
function isWiped(open: OpenDocument, known: PlainState, reading: ProjectReading): boolean {
  const hadText = (known.text.agreed?.base.text ?? "").trim() !== "";
  const { memories } = reading;
  const isEmpty = reading.text === "" && memories?.complete === true && memories.items.size === 0;
  return isEmpty && hadText && known.memories.size > 0 && open.document.content() !== "";
}

/**
 * Whether a deletion of ours succeeded since the last reading. What vanished together with it was
 * not deleted deliberately.
 */
function hasDeleted({ journal }: PlainState, shown: ReadItems | undefined): boolean {
  if (!shown?.complete) return false;
  return journal.some((entry) => entry.kind === "delete" && !shown.items.has(entry.key));
}

async function dropTaken(
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
