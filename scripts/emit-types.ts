import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";

/** Specifiers of a declaration file's imports; TypeScript keeps each statement on one line. */
const IMPORT = /(?<=\bfrom |\bimport\()"([^"]+)"/g;

/**
 * Writes the type declarations of the module `entry` of the project `root`, and of what these need,
 * below `folder`, where they keep their paths. Rejects if they need a package, for those that are
 * bundled are not installed beside them.
 */
export async function emitTypes(root: string, entry: string, folder: string): Promise<void> {
  const emitted = await mkdtemp(join(tmpdir(), "memsync-types-"));
  try {
    await declare(root, emitted);
    const sources = new Set([join(emitted, entry)]);
    for (const source of sources) {
      const text = await readFile(declarationOf(source), "utf8");
      for (const [, specifier = ""] of text.matchAll(IMPORT)) {
        if (!specifier.startsWith(".")) throw new Error(`the types of ${entry} need ${specifier}`);
        sources.add(resolve(dirname(source), specifier));
      }
      const path = join(folder, relative(emitted, declarationOf(source)));
      await Bun.write(
        path,
        text.replace(IMPORT, (found) => found.replace(/\.ts"$/, '.js"')),
      );
    }
  } finally {
    await rm(emitted, { recursive: true });
  }
}

function declarationOf(source: string): string {
  return source.replace(/\.ts$/, ".d.ts");
}

/** The libraries that are declared are the files of `tsconfig.types.json`. */
async function declare(root: string, outDir: string): Promise<void> {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const config = join(root, "scripts/tsconfig.types.json");
  const { exited } = Bun.spawn([process.execPath, compiler, "-p", config, "--outDir", outDir], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if ((await exited) !== 0) throw new Error("the types could not be written");
}
