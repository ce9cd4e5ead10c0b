import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { forgetFollowed } from "../files/follow-store.ts";
import { findHeld, listHeld, putHeld } from "../home/held-store.ts";
import type { Link } from "../home/links.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";

/**
 * Copies a folder's memories when it is linked to another project: they are added to the new
 * project under keys that it does not use, and the folder's file meets the new document for the
 * first time. The former project stays as it is. If it is bound to another remote, its memories
 * stay there. `bringsMemories` is false for another repository's project.
 */
export async function moveToProject(
  context: WriteContext<DaemonTables>,
  account: AccountId,
  {
    former,
    link,
    bringsMemories,
  }: { readonly former: Link | undefined; readonly link: Link; readonly bringsMemories: boolean },
): Promise<void> {
  if (!former || former.projectId === link.projectId) return;
  await forgetFollowed(context.db, link.dir);
  if (!bringsMemories) return;
  if ((await findBinding(context.db, former.projectId)) !== account) return;
  await moveHeld(context.db, account, { from: former.projectId, to: link.projectId });
  const from = await context.find(projectDocument(account, former.projectId));
  if (!from) return;
  const to = await context.open(projectDocument(account, link.projectId));
  to.document.change("local", () => {
    for (const key of from.document.memories.keys()) {
      const [winner] = from.document.memories.get(key);
      if (!winner || to.document.memories.get(key).length > 0) continue;
      to.document.setEntry("memories", key, {
        value: winner.value,
        now: winner.updated_at,
      });
    }
  });
}

/** Moves what is held of the former project, unless something is held there already. */
async function moveHeld(
  db: Kysely<DaemonTables>,
  account: AccountId,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  for (const item of await listHeld(db, { account, document: from })) {
    const moved = { ...item, document: to };
    if (item.kind !== "memory" || (await findHeld(db, moved))) continue;
    await putHeld(db, { ...moved, seen: [] });
  }
}
