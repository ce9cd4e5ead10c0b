import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { VERSION } from "../../shared/version.ts";
import { executableOf, findPlatform, packageNameOf } from "./platforms.ts";

/**
 * `none`: the platform has no package, or npm left it out. `mismatch`: the package is not of this
 * version, so it is left alone.
 */
export type BinarySearch =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "none" }
  | { readonly kind: "mismatch"; readonly name: string; readonly version: string };

/** Looks for the compiled binary in the package of this platform, where npm has put it. */
export function findBinary(): BinarySearch {
  const platform = findPlatform();
  if (platform === undefined) return { kind: "none" };
  const name = packageNameOf(platform);
  const manifest = findManifest(name);
  if (manifest === undefined) return { kind: "none" };
  // npm installs no package without a version.
  const { version } = require(manifest) as { readonly version: string };
  if (version !== VERSION) return { kind: "mismatch", name, version };
  const path = join(dirname(manifest), executableOf(platform));
  return existsSync(path) ? { kind: "found", path } : { kind: "none" };
}

function findManifest(name: string): string | undefined {
  try {
    return require.resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}
