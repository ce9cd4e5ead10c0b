import { expect, test } from "bun:test";
import { join } from "node:path";
import { type EndToEndTests, endToEndOf, readEndToEnd } from "../../scripts/changed-tests.ts";

const ROOT = join(import.meta.dir, "../..");

const SAMPLE: EndToEndTests = {
  texts: new Map([
    ["tests/e2e/history.test.ts", 'import "../../shared/limits.ts";'],
    ["tests/e2e/no-daemon.test.ts", ""],
    ["tests/e2e/up.test.ts", 'import "../../cli/writes/save.ts";'],
  ]),
  timings: {},
};

test("a test that differs is run, whatever it takes", () => {
  const timed = { ...SAMPLE, timings: { "tests/e2e/up.test.ts": 600_000 } };
  expect(endToEndOf(["tests/e2e/up.test.ts"], timed)).toEqual(["tests/e2e/up.test.ts"]);
});

test("a module has the tests that import it, or are named after it or its folder", () => {
  expect(endToEndOf(["cli/commands/history.ts"], SAMPLE)).toEqual(["tests/e2e/history.test.ts"]);
  expect(endToEndOf(["shared/replica/history/revisions.ts"], SAMPLE)).toEqual([
    "tests/e2e/history.test.ts",
  ]);
  expect(endToEndOf(["cli/writes/save.ts"], SAMPLE)).toEqual(["tests/e2e/up.test.ts"]);
  expect(endToEndOf(["daemon/daemon.ts", "docs/history.md"], SAMPLE)).toEqual([
    "tests/e2e/offline.test.ts",
  ]);
  expect(endToEndOf(["docs/history.md"], SAMPLE)).toEqual([]);
});

test("the tests of any change are done within a minute, and each command has some", async () => {
  const tests = await readEndToEnd(ROOT);
  const modules = [...new Bun.Glob("{cli,daemon,server,shared}/**/*.ts").scanSync(ROOT)];
  const workOf = (paths: readonly string[]) =>
    paths.reduce((sum, path) => sum + (tests.timings[path] ?? 5000), 0);
  expect(workOf(endToEndOf(modules, tests))).toBeLessThanOrEqual(60_000);
  expect([...tests.texts.keys()]).toContain(endToEndOf(["daemon/daemon.ts"], tests)[0] ?? "");
  expect(endToEndOf(["cli/commands/history.ts"], tests)).toContain("tests/long/history.test.ts");
  const ofFiles = (name: string) => endToEndOf([`daemon/files/${name}.ts`], tests);
  expect(ofFiles("followed-file")).toContain("tests/long/followed-file.test.ts");
  expect(ofFiles("saves/take-edit")).toContain("tests/e2e/editor-saves.test.ts");
});
