import type { Kysely } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { EMPTY_POSITION } from "../../shared/replica/log/log-rows.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { openBound } from "./open-bound.ts";
import {
  dropPosition,
  NOT_CONTACTED,
  readPosition,
  type SyncPosition,
  writePosition,
} from "./positions.ts";
import type { DaemonTables } from "./tables.ts";

/**
 * A subscription was answered without this project, so the service has nothing of it. The question
 * of a first contact would have shown the same, at the cost of a request. For a project with an
 * earlier contact it means nothing. Resolves to whether this is news.
 */
export async function noteAbsent(
  context: WriteContext<DaemonTables>,
  options: { readonly service: { readonly name: string }; readonly account: AccountId },
  project: ProjectId,
): Promise<boolean> {
  const { db } = context;
  const { service } = options;
  const open = await openBound(context, options, project);
  if (!open || (await readPosition(db, service.name, open.id)) !== NOT_CONTACTED) return false;
  const position = { ...NOT_CONTACTED, remote: EMPTY_POSITION };
  await writePosition(db, service.name, { documentId: open.id, position });
  return true;
}

/**
 * The service had nothing of a document and has something now, while a text or memories here were
 * not sent yet. They must be merged with it before they are sent, as at first contact; otherwise a
 * line could be there twice in between.
 */
export async function forgetAbsence(
  db: Kysely<DaemonTables>,
  service: string,
  { open, known }: { readonly open: OpenDocument; readonly known: SyncPosition },
): Promise<void> {
  const isAbsent = known.remote?.epoch === EMPTY_POSITION.epoch && known.ackedSeq === 0;
  if (isAbsent && open.head.seq > 0) await dropPosition(db, service, open.id);
}
