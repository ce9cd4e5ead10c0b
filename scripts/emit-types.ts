import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Specifiers of a declaration file's imports; TypeScript keeps each statement on one line. */
const IMPORT = /(?<=\bfrom |\bimport\()"([^"]+)"/g;

/** A module of the project that others import by its package. */
export interface Library {
  /** Path of its source. */
  readonly entry: string;
  /** What `require` is given has declarations of its own, beside those for `import`. */
  readonly kinds: readonly ("js" | "cjs")[];
  /** Declarations that stand in for those of a source, by its path. */
  readonly written?: Readonly<Record<string, string>>;
}

/**
 * Writes the type declarations of libraries of the project `root`, and of what these need, below
 * `folder`, where they keep their paths. Rejects if they need a package, for those that are
 * bundled are not installed beside them.
 */
export async function emitTypes(
  root: string,
  libraries: readonly Library[],
  folder: string,
): Promise<void> {
  const emitted = await mkdtemp(join(tmpdir(), "memsync-types-"));
  try {
    await declare(root, emitted);
    for (const library of libraries) await emitLibrary(library, emitted, folder);
  } finally {
    await rm(emitted, { recursive: true });
  }
}

async function emitLibrary(
  { entry, kinds, written = {} }: Library,
  emitted: string,
  folder: string,
): Promise<void> {
  const sources = new Set([entry]);
  for (const source of sources) {
    const text = written[source] ?? (await readFile(join(emitted, declarationOf(source)), "utf8"));
    for (const [, specifier = ""] of text.matchAll(IMPORT)) {
      if (!specifier.startsWith(".")) throw new Error(`the types of ${entry} need ${specifier}`);
      sources.add(join(dirname(source), specifier));
    }
    for (const kind of kinds) {
      const path = declarationOf(source).replace(/ts$/, kind === "js" ? "ts" : "cts");
      const named = text.replace(IMPORT, (found) => found.replace(/\.ts"$/, `.${kind}"`));
      await Bun.write(join(folder, path), named);
    }
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
