import { copyMemoryHistory } from "../../shared/replica/history/copy-history.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { DaemonTables } from "../home/tables.ts";

/**
 * Gives a document the histories of another one's memories. To be called before any memory comes
 * over, so that what comes is not in its own history.
 */
export async function copyHistory(
  context: WriteContext<DaemonTables>,
  { source, target }: { readonly source: OpenDocument; readonly target: OpenDocument },
): Promise<void> {
  for (const each of [source, target]) await context.flush(each);
  const { memories } = target.document;
  await copyMemoryHistory(
    narrowTables(context.db),
    { from: source.id, to: target.id, now: context.now },
    ({ key, value, writtenAt }) =>
      memories.get(key).some((each) => each.value === value && each.updated_at === writtenAt),
  );
}
