import { join } from "node:path";
import type { Replacement } from "../simulate/replacement.ts";

const DRIVER = JSON.stringify(join(import.meta.dir, "driver.ts"));

/** Where the program takes the driver's connections, it takes those of the simulation. */
export const SEAMS: readonly Replacement[] = [
  "shared/postgres/pool.ts",
  "shared/replica/postgres/hints.ts",
].map((file) => ({
  file,
  from: 'import pg from "pg";',
  to: `import { driver as pg } from ${DRIVER};`,
}));
