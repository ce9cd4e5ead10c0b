import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import {
  joinForm,
  PLAIN_FORM,
  splitForm,
  type TextForm,
} from "../../shared/replica/text/text-form.ts";
import { meetFile } from "../files/saves/meet-file.ts";
import { record } from "../files/saves/take-edit.ts";
import { takeSave } from "../files/state/file-edit.ts";
import type { DaemonTables } from "../home/tables.ts";

type Context = WriteContext<DaemonTables>;

/**
 * A version of the text that the service holds or may hold, and where its lines are in the
 * document.
 */
export interface AgreedText {
  readonly base: CapturedText;
  readonly form: TextForm;
}

/** What is known of the service's text. */
export interface PlainText {
  /** The text that it held at the last reading; null before the first. */
  readonly agreed: AgreedText | null;
  /** The text that it was sent since then. */
  readonly pushed: AgreedText | null;
  /**
   * The text that it held before it took one of ours, and when that was, in milliseconds since the
   * Unix epoch.
   */
  readonly before: (AgreedText & { readonly at: number }) | null;
}

/** Nothing is known of the service's text. */
export const UNKNOWN_TEXT: PlainText = { agreed: null, pushed: null, before: null };

const EMPTY_VERSION: AgreedText = { base: { text: "", spans: [] }, form: PLAIN_FORM };

/** Another machine may overwrite our text this long after it read the one before. */
const CROSSING_MS_MAX = 60_000;

/** The result of a look at the service's text. */
export interface TakenText {
  readonly state: PlainText;
  /** The text that the service is to hold instead. */
  readonly send: string | undefined;
}

/** Why the service may show an unexpected text. */
export interface ShownTextCause {
  /** It shows none although nobody deleted it. */
  readonly lost: boolean;
  /** It shows one that it was sent some time ago. */
  readonly late: boolean;
}

/**
 * Takes the service's text like a save of a file: its changes since the last agreed version go into
 * the document by whole lines. A service that does not show its text (undefined) is sent ours and
 * never asked.
 */
export async function applyText(
  context: Context,
  open: OpenDocument,
  {
    known,
    content,
    shownTextCause: { lost, late },
  }: {
    readonly known: PlainText;
    readonly content: string | undefined;
    readonly shownTextCause: ShownTextCause;
  },
): Promise<TakenText> {
  if (content === undefined) return unread(open, known);
  const agreed = await applyContent(context, open, {
    known: lost ? UNKNOWN_TEXT : known,
    content,
    late,
  });
  const { document } = open;
  const send = document.content() === content ? undefined : document.content();
  const pushed = send === undefined ? null : captureVersion(open);
  return { state: { ...agreed, pushed }, send };
}

/** The service's text can't be taken and must not be overwritten: what is known of it stays. */
export function leaveText({ document }: OpenDocument, known: PlainText): TakenText {
  const mine = document.content();
  const isSent = mine === contentOf(known.agreed ?? EMPTY_VERSION);
  return { state: known, send: isSent ? undefined : mine };
}

/** The service took `pushed` and will never show it. */
export function takenUnread(state: PlainText): PlainText {
  return { ...UNKNOWN_TEXT, agreed: state.pushed ?? state.agreed };
}

function unread(open: OpenDocument, known: PlainText): TakenText {
  const mine = open.document.content();
  if (mine === contentOf(known.agreed ?? EMPTY_VERSION)) {
    return { state: { ...known, pushed: null }, send: undefined };
  }
  return { state: { ...known, pushed: captureVersion(open) }, send: mine };
}

type Compared = Pick<PlainText, "agreed" | "before">;

async function applyContent(
  context: Context,
  open: OpenDocument,
  {
    known,
    content,
    late,
  }: { readonly known: PlainText; readonly content: string; readonly late: boolean },
): Promise<Compared> {
  const { agreed, pushed, before } = known;
  if (pushed !== null && contentOf(pushed) === content) {
    return { agreed: pushed, before: agreed && { ...agreed, at: context.now } };
  }
  if (open.document.content() === content) return { agreed: captureVersion(open), before };
  // A text from before the agreed one adds nothing, and removed nothing.
  if (agreed !== null && (late || contentOf(agreed) === content)) return { agreed, before };
  const file = { content, hash: "", savedAt: context.now };
  if (agreed === null) {
    const isSeed = content !== "";
    if (!isSeed) return { agreed: EMPTY_VERSION, before: null };
    // Nobody knows whose it is.
    const { state } = await meetFile(context, open, { ...file, by: { machine: undefined } });
    return { agreed: { base: state.base, form: state.form }, before: null };
  }
  const from = theirBase({ ...known, agreed }, content, context.now);
  const { base, form } = await takeSave(context, open, { base: { ...from, hash: "" }, file });
  if (from === before) await tellKept(context, open, changeOf(before, agreed).brought);
  return { agreed: { base, form }, before: null };
}

/**
 * Records a conflict: whoever overwrote our text may have read it, and have removed on purpose what
 * it brought.
 */
async function tellKept(
  context: Context,
  open: OpenDocument,
  brought: readonly string[],
): Promise<void> {
  if (brought.length === 0) return;
  const text = brought.map((line) => `${line}\n`).join("");
  const versions = [
    { text, machine: open.writer.machine },
    { text: "", machine: undefined, at: context.now },
  ] as const;
  await record(context, open, { conflicts: [{ kind: "unseen", versions }] });
}

/**
 * The version on which the service's text is based. Without compare-and-set two whole texts can
 * cross: somebody who read the text before ours came then overwrites ours without knowing it. As an
 * edit of ours that would delete our lines.
 */
function theirBase(
  known: PlainText & { readonly agreed: AgreedText },
  content: string,
  now: number,
): AgreedText {
  const { agreed, pushed, before } = known;
  const { lines } = splitForm(content);
  if (pushed !== null && keepsChange(agreed, pushed, lines)) return pushed;
  if (before === null || Math.abs(now - before.at) > CROSSING_MS_MAX) return agreed;
  // Somebody who had read that text would have had no reason to send it again: this is deliberate.
  if (contentOf(before) === content) return agreed;
  return missesChange(before, agreed, lines) ? before : agreed;
}

/** Whether `lines` has everything that `to` added and nothing that it removed. */
function keepsChange(from: AgreedText, to: AgreedText, lines: string): boolean {
  const { brought, removed } = changeOf(from, to);
  const there = new Set(lines.split("\n"));
  if (brought.length + removed.length === 0) return false;
  return brought.every((line) => there.has(line)) && removed.every((line) => !there.has(line));
}

/** Whether `lines` has nothing that `to` added and everything that it removed. */
function missesChange(from: AgreedText, to: AgreedText, lines: string): boolean {
  return keepsChange(to, from, lines);
}

/** The lines with a word in them that only one of the versions has. */
function changeOf(from: AgreedText, to: AgreedText) {
  const [before, after] = [wordLines(from), wordLines(to)];
  return {
    brought: [...after].filter((line) => !before.has(line)),
    removed: [...before].filter((line) => !after.has(line)),
  };
}

function wordLines({ base }: AgreedText): Set<string> {
  return new Set(base.text.split("\n").filter(hasWord));
}

/** Whether a content is a version that the service is known to hold or was sent. */
export function isKnownText({ agreed, pushed }: PlainText, content: string | undefined): boolean {
  return [agreed, pushed].some((version) => version !== null && contentOf(version) === content);
}

function captureVersion({ document }: OpenDocument): AgreedText {
  return { base: document.captureText(), form: document.textForm() };
}

function contentOf({ base, form }: AgreedText): string {
  return joinForm(base.text, form);
}
