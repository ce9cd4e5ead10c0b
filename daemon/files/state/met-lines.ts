import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import type { TextSpan } from "../../../shared/replica/text/text-spans.ts";
import { listLinks } from "../../home/links.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { addArrival } from "../arrivals/arrival-store.ts";
import { authors } from "../arrivals/bringers.ts";
import { alsoLinks } from "../names/also-file.ts";

/**
 * Records that lines of a project's text are from this machine and from others, whichever of the
 * two equal copies stayed. In this machine's files they count as arriving now.
 */
export async function noteMetLines(
  { db, now: at }: WriteContext<DaemonTables>,
  open: OpenDocument,
  met: readonly TextSpan[],
): Promise<void> {
  if (met.length === 0) return;
  const change = { brought: met, taken: [], moved: [], former: undefined };
  const arrival = { at, machine: authors(db, open, met) };
  const links = (await listLinks(db)).filter(({ projectId }) => projectId === open.address.name);
  for (const { dir } of links.flatMap((link) => [link, ...alsoLinks(link)])) {
    await addArrival(db, dir, { change, arrival });
  }
}
