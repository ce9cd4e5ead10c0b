import type { AccountId } from "../../../shared/ids.ts";
import { projectDocument } from "../../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import type { TextSpan } from "../../../shared/replica/text/text-spans.ts";
import type { Link } from "../../home/links.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { ArrivalClock } from "../arrivals/arrival-clock.ts";
import { addArrival, forgetSeen, listBrought } from "../arrivals/arrival-store.ts";
import { changeBetween, type FileChange, newIn } from "../arrivals/arrivals.ts";
import { bringers, othersAmong } from "../arrivals/bringers.ts";
import type { FileState } from "../lines/file-state.ts";
import { SpanSet, without } from "../lines/span-set.ts";
import type { MovedLine } from "./take-edit.ts";

type Context = WriteContext<DaemonTables>;

/** Whose file a change came into, and by which clock. */
export interface ArrivalOptions {
  readonly account: AccountId;
  readonly link: Link;
  readonly clock: ArrivalClock;
}

/**
 * Records what a write of ours brought into a file. To be called in the transaction that records
 * the write: nobody can have seen the change earlier, and the write may still fail.
 */
export async function noteWritten(
  context: Context,
  from: FileState,
  { to, options }: { readonly to: FileState; readonly options: ArrivalOptions },
): Promise<void> {
  const change = changeBetween(from, to);
  if (!change) return;
  const open = await context.open(projectDocument(options.account, options.link.projectId));
  await noteChange(context, open, { ...options, change });
}

/**
 * Records text of the document that came into a file without a write of the daemon. Only the
 * characters are recorded, because no line of the file was replaced.
 */
export async function noteShown(
  context: Context,
  open: OpenDocument,
  {
    from,
    to,
    options,
  }: {
    readonly from: FileState;
    readonly to: FileState;
    readonly options: Omit<ArrivalOptions, "account">;
  },
): Promise<void> {
  const brought = without(to.base.spans, from.base.spans);
  await noteChange(context, open, {
    ...options,
    change: { brought, taken: [], moved: [], former: undefined },
  });
}

/**
 * Records what a commit has brought into a file, and returns the arrival. Who made it is known of
 * others' lines only.
 */
export async function noteFromGit(
  context: Context,
  open: OpenDocument,
  { change, ...options }: { readonly change: FileChange } & ArrivalOptions,
): Promise<number | undefined> {
  return await noteChange(context, open, { ...options, change: { ...change, isFromGit: true } });
}

/**
 * Records what git has taken out of a file and brought back, and returns the arrival: it counts as
 * new though the file had it before.
 */
export async function noteBroughtBack(
  context: Context,
  open: OpenDocument,
  {
    brought,
    backFrom,
    ...options
  }: {
    readonly brought: readonly TextSpan[];
    readonly backFrom: readonly string[];
  } & ArrivalOptions,
): Promise<number | undefined> {
  const all = new SpanSet(brought).spans();
  if (all.length === 0) return undefined;
  const change = {
    brought: all,
    taken: [],
    moved: [],
    former: undefined,
    isFromGit: true,
    backFrom,
  };
  return await addNew(context, open, { ...options, change });
}

/** Lines of others that a save has moved stay as new in the file as they were. */
export async function noteMoved(
  db: Context["db"],
  moved: readonly MovedLine[],
  { link, clock }: Omit<ArrivalOptions, "account">,
): Promise<void> {
  for (const { arrival, spans } of moved) {
    if (spans.length === 0) continue;
    const change = { brought: spans, taken: [], moved: [], former: undefined };
    clock.came(await addArrival(db, link.dir, { change, arrival }), arrival.id);
  }
}

type NotedChange = { readonly change: FileChange } & Omit<ArrivalOptions, "account">;

async function noteChange(
  context: Context,
  open: OpenDocument,
  { change, ...options }: NotedChange,
): Promise<number | undefined> {
  const { db, now } = context;
  const { clock, link } = options;
  await forgetSeen(db, link.dir, { clock, now, isFoundOnly: true });
  const former = await listBrought(db, link.dir);
  clock.keep(former);
  const fresh = newIn(change, former);
  return fresh && (await addNew(context, open, { ...options, change: fresh }));
}

async function addNew(
  { db, now: at }: Context,
  open: OpenDocument,
  { link, clock, change }: NotedChange,
): Promise<number> {
  const by = change.isFromGit ? othersAmong : bringers;
  const machine = by(db, open, change.brought);
  const id = await addArrival(db, link.dir, { change, arrival: { at, machine } });
  clock.came(id);
  return id;
}
