import { executableOf, PLATFORMS, type Platform, packageNameOf } from "./launcher/platforms.ts";

/** The checkout's `package.json`, which says all that the packages have in common. */
export interface Manifest {
  readonly version: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** What is for work on the checkout alone, and what keeps `npm publish` from publishing that. */
const OF_THE_CHECKOUT = ["private", "scripts", "devDependencies", "allowScripts"];

/** Run where the package is installed; without it the command is a little slower. */
const SCRIPTS = { postinstall: "node dist/bin/link-binary.cjs" };

/**
 * The manifest of the package `memsync`. It asks for the packages of all platforms, of which npm
 * installs the one that fits. They can't stand in the checkout's manifest: `npm ci` would want them
 * from the registry before they are published. `commit` is what the package is made of, if known.
 */
export function mainManifest(checkout: Manifest, commit: string | undefined): Manifest {
  const kept = Object.entries(checkout).filter(([field]) => !OF_THE_CHECKOUT.includes(field));
  const { version, optionalDependencies } = checkout;
  const binaries = PLATFORMS.map((platform) => [packageNameOf(platform), version] as const);
  return {
    ...Object.fromEntries(kept),
    version,
    scripts: SCRIPTS,
    optionalDependencies: { ...optionalDependencies, ...Object.fromEntries(binaries) },
    ...(commit !== undefined && { gitHead: commit }),
  };
}

/** The manifest of the package that holds the compiled binary for a platform. */
export function platformManifest(
  platform: Platform,
  { version, license, engines }: Manifest,
  commit: string | undefined,
): Manifest {
  const { os, cpu, loader } = platform;
  return {
    name: packageNameOf(platform),
    version,
    description: `The program of the package memsync for ${os} on ${cpu}; install that one.`,
    license,
    engines,
    os: [os],
    cpu: [cpu],
    ...(loader !== undefined && { libc: ["glibc"] }),
    files: [executableOf(platform), "third-party-notices.txt"],
    // A program can't be started from within an archive, where Yarn may leave packages.
    preferUnplugged: true,
    publishConfig: { access: "public" },
    ...(commit !== undefined && { gitHead: commit }),
  };
}
