import { expect, test } from "bun:test";
import { join } from "node:path";
import { REASONS } from "../../shared/reasons.ts";
import { ROOT } from "./source-tree.ts";

test("the document of codes lists each, with its meaning", async () => {
  const text = await Bun.file(join(ROOT, "docs/codes.md")).text();
  const listed = [...text.matchAll(/^\| `[a-z0-9-]+` \| .+ \|$/gm)].map(([line]) => line);
  const known = Object.entries(REASONS).map(([code, { meaning }]) => {
    return `| \`${code}\` | ${meaning} |`;
  });
  expect(listed).toEqual(known);
});
