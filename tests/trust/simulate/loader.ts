import { join } from "node:path";
import { plugin } from "bun";
import { MUTATIONS } from "./mutations.ts";
import { type Replacement, replaceOnce } from "./replacement.ts";
import { SEAMS } from "./seams.ts";

const ROOT = join(import.meta.dir, "..", "..", "..");

/**
 * From now on source files are read with these texts replaced. Nothing on the disk is changed. A
 * text that is not there, or twice, ends the import with an error: the list is out of date then.
 */
export function replaceInSources(mutation: string | undefined): void {
  const mutant = MUTATIONS.find(({ name }) => name === mutation);
  if (mutation !== undefined && !mutant) throw new Error(`there is no mutation "${mutation}"`);
  const byFile = new Map<string, Replacement[]>();
  for (const replacement of [...SEAMS, ...(mutant?.replacements ?? [])]) {
    const path = join(ROOT, replacement.file);
    byFile.set(path, [...(byFile.get(path) ?? []), replacement]);
  }
  plugin({
    name: "replaced sources",
    setup(build) {
      build.onLoad({ filter: /\/(shared|server|daemon)\/.+\.ts$/ }, async ({ path }) => {
        const text = await Bun.file(path).text();
        const replacements = byFile.get(path) ?? [];
        return { contents: replacements.reduce(replaceOnce, text), loader: "ts" };
      });
    },
  });
}
