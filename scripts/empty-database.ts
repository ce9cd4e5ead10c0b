// After a migration: writes `server/stores/empty-database.ts` anew.
// `npx bun scripts/empty-database.ts`
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { hostMigrations } from "../server/stores/open-store.ts";
import { openDatabase } from "../shared/sqlite/database.ts";
import { migrate } from "../shared/sqlite/migrate.ts";

const TARGET = join(import.meta.dir, "../server/stores/empty-database.ts");
const COLUMNS = 96;

const folder = mkdtempSync(join(tmpdir(), "memsync-empty-"));
const path = join(folder, "empty.db");
const database = await openDatabase({ path });
await migrate(database.writer, hostMigrations);
await database.close();
const packed = gzipSync(readFileSync(path), { level: constants.Z_BEST_COMPRESSION });
rmSync(folder, { recursive: true });
const lines = packed.toString("base64").match(new RegExp(`.{1,${COLUMNS}}`, "g")) ?? [];
await Bun.write(
  TARGET,
  `// Made by \`npx bun scripts/empty-database.ts\`: run that after each migration.

/**
 * A host's database in which nothing is, as SQLite's file: gzip in base64. Of an earlier version it
 * would do as well, for then it is migrated.
 */
export const EMPTY_DATABASE = \`
${lines.join("\n")}
\`;
`,
);
