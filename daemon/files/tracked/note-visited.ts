import { projectDocument } from "../../../shared/replica/document/address.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { commonLines } from "../../../shared/replica/text/line-diff.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";
import type { TextSpan } from "../../../shared/replica/text/text-spans.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { UNSEEN_MS } from "../arrivals/arrivals.ts";
import type { FileState } from "../lines/file-state.ts";
import { without } from "../lines/span-set.ts";
import { contentLines, linesOf } from "../lines/text-lines.ts";
import { type ArrivalOptions, noteBroughtBack } from "../saves/note-arrival.ts";
import { ownSpans } from "../saves/own-spans.ts";
import { knownBase } from "../state/file-edit.ts";
import type { Sight, Visited } from "../state/follow-facts.ts";
import { readFollowed } from "../state/follow-store.ts";
import type { CameByGit } from "./came-by-git.ts";

type Context = WriteContext<DaemonTables>;

/** What came back into a file, and when. */
interface BroughtBack extends CameByGit {
  readonly brought: readonly TextSpan[];
}

/**
 * Another branch's text has been in the file since it was read: an editor that has it open shows
 * that still, and its save would take away what that text lacks. So these lines count as having
 * just come, though the file may have had them before; but for what a person has written and
 * committed here. What has stood there for a minute everybody has seen. To be called before what is
 * found is taken. Returns the arrival, if there is one.
 */
export async function noteVisited(
  context: Context,
  sight: Sight,
  options: ArrivalOptions,
): Promise<BroughtBack | undefined> {
  const known = await readFollowed(context.db, options.link.dir);
  const { file, visited } = sight;
  if (!visited || !known || file.kind === "absent" || known.path !== file.path) return undefined;
  const isAsFound = file.hash === known.hash;
  if (isAsFound && isOld(context, visited)) return undefined;
  const states = known.next ? [known, known.next] : [known];
  const brought = await lackingIn(context, states, { visited, options });
  return await note(context, brought, { visited, options });
}

/** The same of what git has put there itself. To be called once it is taken. */
export async function noteVisitedPut(
  context: Context,
  { file, visited }: Sight,
  { former, ...options }: ArrivalOptions & { readonly former: BroughtBack | undefined },
): Promise<void> {
  if (!visited?.isPut || file.kind === "absent" || isOld(context, visited)) return;
  const known = await readFollowed(context.db, options.link.dir);
  if (known?.path !== file.path || known.hash !== file.hash) return;
  const lacking = await lackingIn(context, [known], { visited, options });
  const brought = without(lacking, former?.brought ?? []);
  await note(context, brought, { visited, options });
}

function isOld({ now }: Context, { leftAt }: Visited): boolean {
  return now - leftAt >= UNSEEN_MS;
}

/** What is asked about a file that had other texts. */
interface VisitedFile {
  readonly visited: Visited;
  readonly options: ArrivalOptions;
}

/** The characters of a file's lines that one of the other texts lacks. */
async function lackingIn(
  context: Context,
  states: readonly FileState[],
  { visited, options: { account, link } }: VisitedFile,
): Promise<TextSpan[]> {
  const open = await context.open(projectDocument(account, link.projectId));
  const isOwn = await ownSpans(context.db, open);
  return states.flatMap(({ base }) => {
    const lines = linesOf(knownBase(open, base));
    const has = lines.map(({ text }) => withoutMark(text));
    return visited.texts.flatMap(({ text, isOwnWork }) => {
      const stays = new Map(commonLines(has, contentLines(text)));
      const spans = lines.flatMap((line, at) => (stays.has(at) ? [] : line.spans));
      return isOwnWork ? spans.filter((span) => !isOwn(span)) : spans;
    });
  });
}

async function note(
  context: Context,
  brought: readonly TextSpan[],
  { visited: { changes: backFrom, leftAt }, options }: VisitedFile,
): Promise<BroughtBack | undefined> {
  const open = await context.open(projectDocument(options.account, options.link.projectId));
  const arrival = await noteBroughtBack(context, open, { ...options, brought, backFrom });
  return arrival === undefined ? undefined : { arrival, at: leftAt, brought };
}
