import type { Kysely } from "kysely";
import type { ReplicaTables } from "./tables.ts";

/** One statement looks at the rows of so many documents, however many there are. */
const DOCUMENTS_AT_ONCE = 1000;

/** Documents by their ids: those after one, through another. */
export interface DocumentPart {
  readonly after: number;
  readonly through: number;
}

/** The documents that come next, for work on all of them in short steps; undefined at the end. */
export async function partAfter(
  db: Kysely<ReplicaTables>,
  after: number,
): Promise<DocumentPart | undefined> {
  const { through } = await db
    .selectFrom((from) =>
      from
        .selectFrom("documents")
        .select("id")
        .where("id", ">", after)
        .orderBy("id")
        .limit(DOCUMENTS_AT_ONCE)
        .as("next"),
    )
    .select(({ fn }) => fn.max<number | null>("id").as("through"))
    .executeTakeFirstOrThrow();
  return through === null ? undefined : { after, through };
}
