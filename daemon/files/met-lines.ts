import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { TextSpan } from "../../shared/replica/text/text-spans.ts";
import { listLinks } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { addArrival } from "./arrival-store.ts";

/**
 * Notes that lines of a project's text are others' as well as this machine's, whichever of two
 * equal copies has stayed: in the files here they count as having come just now.
 */
export async function noteMetLines(
  { db, now: at }: WriteContext<DaemonTables>,
  { address }: OpenDocument,
  met: readonly TextSpan[],
): Promise<void> {
  if (met.length === 0) return;
  const change = { brought: met, taken: [], moved: [], former: undefined };
  for (const { dir, projectId } of await listLinks(db)) {
    if (projectId === address.name)
      await addArrival(db, dir, { change, arrival: { at, machine: undefined } });
  }
}
