import type { Kysely } from "kysely";
import type { Link } from "../../home/links.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { Sight } from "./follow-facts.ts";
import { importsFurther } from "./followed-imports.ts";

/** Others' changes are written to files that git ignores, or with the user's consent. */
export async function mayWriteOthers(
  db: Kysely<DaemonTables>,
  { standing, file }: Sight,
  { link, content }: { readonly link: Link; readonly content: string },
): Promise<boolean> {
  const { write } = link;
  if (await importsFurther(db, link, content)) return false;
  if (file.kind === "absent") {
    const mayCreate = write || (standing.kind === "untracked" && standing.ignored);
    return mayCreate && content.trim() !== "";
  }
  return standing.kind !== "tracked" || write;
}
