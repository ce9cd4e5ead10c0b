import { projectDocument } from "../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { ArrivalClock } from "./arrival-clock.ts";
import { addArrival, listBrought } from "./arrival-store.ts";
import { changeBetween, type FileChange, newIn } from "./arrivals.ts";
import { bringers } from "./bringers.ts";
import type { FileState } from "./file-state.ts";
import { without } from "./span-set.ts";

type Context = WriteContext<DaemonTables>;

/** Whose file something came into, and by what clock. */
export interface ArrivalOptions {
  readonly account: string;
  readonly link: Link;
  readonly clock: ArrivalClock;
}

/**
 * Notes what a write of ours has brought into a file. Belongs in the transaction that notes that it
 * was written: before, nobody can have seen it, and a write may come to nothing.
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
 * Notes what of the document came into a file other than by a write of the daemon's: as characters
 * alone, for no line of it took another's place.
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

async function noteChange(
  { db, now: at }: Context,
  open: OpenDocument,
  { link, clock, change }: { readonly change: FileChange } & Omit<ArrivalOptions, "account">,
): Promise<void> {
  const former = change.brought.length > 0 ? await listBrought(db, link.dir) : [];
  clock.keep(former);
  const fresh = newIn(change, former);
  if (!fresh) return;
  const machine = await bringers(db, open, fresh.brought);
  clock.came(await addArrival(db, link.dir, { change: fresh, arrival: { at, machine } }));
}
