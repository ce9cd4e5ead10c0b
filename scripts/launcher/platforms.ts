import { existsSync } from "node:fs";

/** A platform that has a package with the compiled binary, in npm's words. */
export interface Platform {
  readonly os: NodeJS.Platform;
  readonly cpu: NodeJS.Architecture;
  /** What starts programs of the GNU C library. Where it is missing, the binary can't run. */
  readonly loader?: string;
}

/** On all others, Linux with musl among them, the package `bun` runs the program. */
export const PLATFORMS: readonly Platform[] = [
  { os: "darwin", cpu: "arm64" },
  { os: "darwin", cpu: "x64" },
  { os: "linux", cpu: "arm64", loader: "/lib/ld-linux-aarch64.so.1" },
  { os: "linux", cpu: "x64", loader: "/lib64/ld-linux-x86-64.so.2" },
  { os: "win32", cpu: "x64" },
];

/**
 * The platform of this process, if it has a package. npm doesn't install that where the C library
 * is another one, but not every package manager looks.
 */
export function findPlatform(): Platform | undefined {
  return PLATFORMS.find(({ os, cpu, loader }) => {
    const isOurs = os === process.platform && cpu === process.arch;
    return isOurs && (loader === undefined || existsSync(loader));
  });
}

/** The package of a platform: in a scope, so that nobody else can publish one more. */
export function packageNameOf({ os, cpu }: Platform): string {
  return `@memsync/${os}-${cpu}`;
}

/** The binary's name in the package of its platform. */
export function executableOf({ os }: Platform): string {
  return os === "win32" ? "memsync.exe" : "memsync";
}
