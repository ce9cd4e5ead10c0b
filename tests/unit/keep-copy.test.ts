import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepCopy } from "../../daemon/recovery/keep-copy.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-copy-"));

afterAll(() => rmSync(folder, { recursive: true }));

test("a copy takes the former one's place whole, for its owner alone, with nothing beside it", () => {
  const path = join(folder, "choices");
  writeFileSync(`${path}.partial`, "left by a process that was killed", { mode: 0o600 });
  for (const content of ["a longer first copy", "second"]) {
    keepCopy(path, content);
    expect(readFileSync(path, "utf8")).toBe(content);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["choices"]);
  }
});
