import { projectDocument } from "../../shared/replica/address.ts";
import type { OpenDocument } from "../../shared/replica/open-document.ts";
import type { WriteContext } from "../../shared/replica/write-context.ts";
import type { Link } from "../links.ts";
import type { DaemonTables } from "../tables.ts";
import type { ArrivalClock } from "./arrival-clock.ts";
import { addArrival, listArrivals } from "./arrival-store.ts";
import { changeBetween, type FileChange } from "./arrivals.ts";
import { bringers } from "./bringers.ts";
import type { FileState } from "./file-state.ts";

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
  to: FileState,
  options: ArrivalOptions,
): Promise<void> {
  const open = await context.open(projectDocument(options.account, options.link.projectId));
  await noteChange(
    context,
    open,
    options,
    changeBetween(from, to, await knownIn(context, options)),
  );
}

/**
 * Notes what of the document came into a file other than by a write of the daemon's: as characters
 * alone, for no line of it took another's place.
 */
export async function noteShown(
  context: Context,
  open: OpenDocument,
  from: FileState,
  to: FileState,
  options: Omit<ArrivalOptions, "account">,
): Promise<void> {
  const change = changeBetween(from, to, await knownIn(context, options));
  if (!change || change.brought.length === 0) return;
  const { brought } = change;
  await noteChange(context, open, options, { brought, taken: [], moved: [], former: undefined });
}

async function knownIn({ db }: Context, { link }: Pick<ArrivalOptions, "link">) {
  const arrivals = await listArrivals(db, link.dir);
  return arrivals.flatMap(({ brought }) => brought);
}

async function noteChange(
  { db, now: at }: Context,
  open: OpenDocument,
  { link, clock }: Omit<ArrivalOptions, "account">,
  change: FileChange | undefined,
): Promise<void> {
  if (!change) return;
  const machine = await bringers(db, open, change.brought);
  clock.came(await addArrival(db, link.dir, change, { at, machine }));
}
