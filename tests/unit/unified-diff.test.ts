import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { unifiedDiff } from "../../cli/screen/unified-diff.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";
import { anyText } from "../support/text-arbitraries.ts";

const git = createGitSandbox();
afterAll(() => git.remove());

test("git makes the second text of the first by it", async () => {
  const file = join(git.folder, "file");
  const patch = join(git.folder, "patch");
  await fc.assert(
    fc.asyncProperty(anyText(), anyText(), async (before, after) => {
      const diff = unifiedDiff(before, after, { from: "a/file", to: "b/file" });
      expect(diff === "").toBe(before === after);
      if (diff === "") return;
      await git.write(file, before);
      await git.write(patch, diff);
      await git.run(git.folder, "apply", "--whitespace=nowarn", "patch");
      expect(readFileSync(file, "utf8")).toBe(after);
    }),
    { numRuns: 60 },
  );
}, 60_000);

test("changes are shown with three lines around them, near ones together", () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`);
  const changed = lines.with(3, "four").with(9, "ten").with(18, "nineteen");
  const diff = unifiedDiff(`${lines.join("\n")}\n`, changed.join("\n"), {
    from: "document",
    to: "~/CLAUDE.md",
  });
  expect(diff.split("\n").filter((line) => /^(@@|---|\+\+\+|\\)/.test(line))).toEqual([
    "--- document",
    "+++ ~/CLAUDE.md",
    "@@ -1,13 +1,13 @@",
    "@@ -16,5 +16,5 @@",
    "\\ No newline at end of file",
  ]);
});
