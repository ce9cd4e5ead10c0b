import { join } from "node:path";
import { plugin } from "bun";
import { type Replacement, replaceOnce } from "./replacement.ts";

const ROOT = join(import.meta.dir, "..", "..", "..");

/**
 * From now on source files are read with these texts replaced. Nothing on the disk is changed. A
 * text that is not there, or twice, ends the import with an error: the list is out of date then.
 */
export function replaceInSources(replacements: readonly Replacement[]): void {
  const byFile = Map.groupBy(replacements, ({ file }) => join(ROOT, file));
  plugin({
    name: "replaced sources",
    setup(build) {
      build.onLoad({ filter: /\/(shared|server|daemon|cli)\/.+\.ts$/ }, async ({ path }) => {
        const text = await Bun.file(path).text();
        const here = byFile.get(path) ?? [];
        return { contents: here.reduce(replaceOnce, text), loader: "ts" };
      });
    },
  });
}
