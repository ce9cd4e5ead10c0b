import { executableOf, PLATFORMS, packageNameOf } from "./launcher/platforms.ts";
import type { Manifest } from "./npm-manifests.ts";

/** A tarball that is to be published. */
export interface Tarball {
  /** The name of its file. */
  readonly file: string;
  readonly manifest: Manifest & { readonly name: string };
  /** Paths of its files, from the package's folder. */
  readonly paths: ReadonlySet<string>;
}

export const MAIN = "memsync";

/**
 * Why tarballs are no release of `version`; empty: they are one. They must be the main package and
 * one package for each platform, each once, of the same version and commit. npm installs a main
 * package in silence where those that it asks for are missing or of another version.
 */
export function releaseProblems(version: string, tarballs: readonly Tarball[]): string[] {
  const wanted = new Map([
    [MAIN, "dist/bin/memsync"],
    ...PLATFORMS.map((each) => [packageNameOf(each), executableOf(each)] as const),
  ]);
  const commits = new Set(tarballs.map(({ manifest }) => manifest.gitHead));
  return [
    ...[...wanted.keys()].flatMap((name) => {
      const count = tarballs.filter(({ manifest }) => manifest.name === name).length;
      if (count === 0) return [`${name} is missing: \`npm run package\` makes it on its platform`];
      return count === 1 ? [] : [`${name} is there ${count} times`];
    }),
    ...tarballs.flatMap((tarball) => problemsOf(tarball, version, wanted)),
    ...(commits.size > 1 ? ["the packages are not of one commit"] : []),
  ];
}

function problemsOf(
  { file, manifest, paths }: Tarball,
  version: string,
  wanted: ReadonlyMap<string, string>,
): string[] {
  const command = wanted.get(manifest.name);
  if (command === undefined) return [`${file} holds ${manifest.name}, which is none of memsync's`];
  const problems: string[] = [];
  if (manifest.version !== version) {
    problems.push(`${file} is of version ${manifest.version}, and this checkout of ${version}`);
  }
  if (!paths.has(command)) problems.push(`${file} holds no ${command}`);
  if (manifest.name !== MAIN) return problems;
  for (const name of wanted.keys()) {
    const asked = manifest.optionalDependencies?.[name];
    if (name === MAIN || asked === manifest.version) continue;
    problems.push(
      `${file} asks for ${name} ${asked ?? "not at all"}, and not for ${manifest.version}`,
    );
  }
  return problems;
}
