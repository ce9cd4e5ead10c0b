import type { AccountId } from "../../shared/ids.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { findBinding } from "./remote-store.ts";
import type { DaemonTables } from "./tables.ts";

/**
 * Opens a document of this account, and creates it if necessary. Undefined for a project of another
 * account: it may have been bound anew during a call about it.
 */
export async function openBound(
  context: WriteContext<DaemonTables>,
  { account }: { readonly account: AccountId },
  name: string,
): Promise<OpenDocument | undefined> {
  const project = projectOf(name);
  const bound = project && (await findBinding(context.db, project));
  if (bound !== undefined && bound !== account) return undefined;
  return await context.open({ owner: account, name });
}
