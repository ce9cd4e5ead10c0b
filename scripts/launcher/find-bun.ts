import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Until its install script has run, `bun` holds a short text in place of its executable. */
const EXECUTABLE_BYTES_MIN = 1_000_000;

/** The executable of the `bun` dependency; undefined when npm left it out. */
export function findBun(): string | undefined {
  try {
    const manifest = require.resolve("bun/package.json");
    const installed = join(dirname(manifest), "bin", "bun.exe");
    return isExecutable(installed) ? installed : findPlatformBun(manifest);
  } catch {
    return undefined;
  }
}

/** Where the executable lies when install scripts were not run: in the package of this platform. */
function findPlatformBun(manifest: string): string | undefined {
  const requireThere = createRequire(manifest);
  // It is the manifest of the package `bun`, which names one package for each platform.
  const { optionalDependencies } = requireThere(manifest) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const folders = requireThere.resolve.paths("bun") ?? [];
  return Object.keys(optionalDependencies)
    .flatMap((name) => folders.map((folder) => join(folder, name, "bin")))
    .flatMap((folder) => [join(folder, "bun"), join(folder, "bun.exe")])
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  return existsSync(path) && statSync(path).size >= EXECUTABLE_BYTES_MIN;
}
