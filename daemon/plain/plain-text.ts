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
import { takeFirst, takeSave } from "../files/file-edit.ts";
import { record } from "../files/take-edit.ts";
import type { DaemonTables } from "../home/tables.ts";

type Context = WriteContext<DaemonTables>;

/** A version of the text that the service held, or may hold, and where its lines stand here. */
export interface AgreedText {
  readonly base: CapturedText;
  readonly form: TextForm;
}

/** What is known of the service's text. */
export interface PlainText {
  /** What it was last seen to hold; null before it was read. */
  readonly agreed: AgreedText | null;
  /** What it was sent since then. */
  readonly pushed: AgreedText | null;
  /** What it held before it took a text of ours, at `at` (milliseconds since the Unix epoch). */
  readonly before: (AgreedText & { readonly at: number }) | null;
}

/** Nothing is known of the service's text. */
export const UNKNOWN_TEXT: PlainText = { agreed: null, pushed: null, before: null };

const EMPTY_VERSION: AgreedText = { base: { text: "", spans: [] }, form: PLAIN_FORM };

/** Another machine may have read the text this long before it writes over ours. */
const CROSSING_MS_MAX = 60_000;

/** What a look at the service's text came to. */
export interface TakenText {
  readonly state: PlainText;
  /** What the service is to hold instead. */
  readonly send: string | undefined;
}

/** How it comes that the service shows a text. */
export interface ShownTextCause {
  /** It holds none, and nobody meant that. */
  readonly lost: boolean;
  /** It is one that the service was sent some time ago. */
  readonly late: boolean;
}

/**
 * Takes the service's text as a save is taken from a file: what it changed since the version last
 * agreed goes into the document by whole lines. A service that shows no text (undefined) is sent
 * ours and never asked.
 */
export async function takeText(
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
  const agreed = await takeContent(context, open, {
    known: lost ? UNKNOWN_TEXT : known,
    content,
    late,
  });
  const { document } = open;
  const send = document.content() === content ? undefined : document.content();
  const pushed = send === undefined ? null : captureVersion(open);
  return { state: { ...agreed, pushed }, send };
}

/** The service's text can't be taken and is not to be written over: what is known of it stays. */
export function leaveText({ document }: OpenDocument, known: PlainText): TakenText {
  const mine = document.content();
  const isSent = mine === contentOf(known.agreed ?? EMPTY_VERSION);
  return { state: known, send: isSent ? undefined : mine };
}

/** The service answered that it took `pushed`, and will never show it. */
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

type Held = Pick<PlainText, "agreed" | "before">;

async function takeContent(
  context: Context,
  open: OpenDocument,
  {
    known,
    content,
    late,
  }: { readonly known: PlainText; readonly content: string; readonly late: boolean },
): Promise<Held> {
  const { agreed, pushed, before } = known;
  if (pushed !== null && contentOf(pushed) === content) {
    return { agreed: pushed, before: agreed && { ...agreed, at: context.now } };
  }
  if (open.document.content() === content) return { agreed: captureVersion(open), before };
  // What was sent before what is agreed brings nothing, and took nothing away.
  if (agreed !== null && (late || contentOf(agreed) === content)) return { agreed, before };
  const file = { content, hash: "", savedAt: context.now };
  if (agreed === null) {
    const isSeed = content !== "";
    const first = isSeed ? takeFirst(context, open, file) : EMPTY_VERSION;
    return { agreed: { base: first.base, form: first.form }, before: null };
  }
  const from = theirBase({ ...known, agreed }, content, context.now);
  const { base, form } = await takeSave(context, open, { base: { ...from, hash: "" }, file });
  if (from === before) await tellKept(context, open, changeOf(before, agreed).brought);
  return { agreed: { base, form }, before: null };
}

/** Who wrote over ours may have read it, and have wanted to be rid of what it brought. */
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
 * The version that the service's text was made from. Without compare-and-set two whole texts can
 * cross: whoever had read the text before ours came writes over ours with one that knows nothing of
 * it. Taken for an edit of ours, that would delete our lines.
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
  // Who had read that would have had no reason to send it: it was meant.
  if (contentOf(before) === content) return agreed;
  return missesChange(before, agreed, lines) ? before : agreed;
}

/** Whether `lines` has all that `to` brought and nothing that it took away. */
function keepsChange(from: AgreedText, to: AgreedText, lines: string): boolean {
  const { brought, removed } = changeOf(from, to);
  const there = new Set(lines.split("\n"));
  if (brought.length + removed.length === 0) return false;
  return brought.every((line) => there.has(line)) && removed.every((line) => !there.has(line));
}

/** Whether `lines` has nothing that `to` brought and all that it took away. */
function missesChange(from: AgreedText, to: AgreedText, lines: string): boolean {
  return keepsChange(to, from, lines);
}

/** The lines, and only those with a word, that one version has and the other has not. */
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

/** Whether a content is a version that the service was known or sent to hold. */
export function isKnownText({ agreed, pushed }: PlainText, content: string | undefined): boolean {
  return [agreed, pushed].some((version) => version !== null && contentOf(version) === content);
}

function captureVersion({ document }: OpenDocument): AgreedText {
  return { base: document.captureText(), form: document.textForm() };
}

function contentOf({ base, form }: AgreedText): string {
  return joinForm(base.text, form);
}
