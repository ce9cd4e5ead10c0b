import { postgresCluster } from "./postgres-cluster.ts";

/** Whether suites that are for every database run on a PostgreSQL now: `MEMSYNC_TEST_ON`. */
export const IS_ON_POSTGRES = process.env.MEMSYNC_TEST_ON === "postgres";

/** Where a test's host keeps its data: in memory, or in a new database of a PostgreSQL. */
export async function newHostAddress(): Promise<string> {
  return IS_ON_POSTGRES ? await (await postgresCluster()).createDatabase() : ":memory:";
}
