import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

test("each file of the HTTP suite runs on PostgreSQL, too, or a line says why it can't", async () => {
  const script = await Bun.file(join(ROOT, "scripts/test-on-postgres.ts")).text();
  const named = [...script.matchAll(/^(?: {2}"|\/\/ - )([\w-]+)(?:",$|: )/gm)];
  const files = readdirSync(join(ROOT, "tests/http")).filter((name) => name.endsWith(".test.ts"));
  expect(named.map(([, name]) => `${name}.test.ts`).sort()).toEqual(files.sort());
});
