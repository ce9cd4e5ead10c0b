import { projectOf } from "../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { findBinding } from "./remote-store.ts";
import type { DaemonTables } from "./tables.ts";

/**
 * A document of this account's; made if there is none. Undefined for a project that is bound to
 * another one: it may have been bound anew while a call about it was under way.
 */
export async function openBound(
  context: WriteContext<DaemonTables>,
  { account }: { readonly account: string },
  name: string,
): Promise<OpenDocument | undefined> {
  const project = projectOf(name);
  const bound = project && (await findBinding(context.db, project));
  if (bound !== undefined && bound !== account) return undefined;
  return await context.open({ owner: account, name });
}
