import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  executableOf,
  PLATFORMS,
  type Platform,
  packageNameOf,
} from "../../scripts/launcher/platforms.ts";
import { type Manifest, mainManifest, platformManifest } from "../../scripts/npm-manifests.ts";
import { releaseProblems, type Tarball } from "../../scripts/release-problems.ts";
import { VERSION } from "../../shared/version.ts";

const CHECKOUT: Manifest = await Bun.file(join(import.meta.dir, "../../package.json")).json();
const COMMIT = "4f1c0b7";

function mainTarball(changes: object = {}): Tarball {
  const manifest = { ...mainManifest(CHECKOUT, COMMIT), name: "memsync", ...changes };
  return {
    file: `memsync-${manifest.version}.tgz`,
    manifest,
    paths: new Set(["package.json", "dist/bin/memsync"]),
  };
}

function platformTarball(platform: Platform, changes: object = {}): Tarball {
  const name = packageNameOf(platform);
  return {
    file: `${name.replace("@", "").replace("/", "-")}.tgz`,
    manifest: { ...platformManifest(platform, CHECKOUT, COMMIT), name, ...changes },
    paths: new Set(["package.json", executableOf(platform)]),
  };
}

function platformTarballs(): Tarball[] {
  return PLATFORMS.map((platform) => platformTarball(platform));
}

test("the package asks for every platform's package, of its own version", () => {
  const { version, optionalDependencies } = mainManifest(CHECKOUT, COMMIT);
  expect(version).toBe(VERSION);
  expect(optionalDependencies).toEqual({
    ...CHECKOUT.optionalDependencies,
    "@memsync/darwin-arm64": VERSION,
    "@memsync/darwin-x64": VERSION,
    "@memsync/linux-arm64": VERSION,
    "@memsync/linux-x64": VERSION,
    "@memsync/win32-x64": VERSION,
  });
});

test("the checkout can't be published, and what is made of it can", () => {
  expect(CHECKOUT.private).toBe(true);
  const main = mainManifest(CHECKOUT, COMMIT);
  expect(main).not.toHaveProperty("private");
  expect(main).not.toHaveProperty("devDependencies");
  // A script of the checkout would run where the package is installed.
  expect(main.scripts).toEqual({ postinstall: "node dist/bin/link-binary.cjs" });
});

test("a platform's package is installed on that platform alone, with its C library", () => {
  const [linux] = PLATFORMS.filter(({ os, cpu }) => os === "linux" && cpu === "arm64");
  const [mac] = PLATFORMS.filter(({ os, cpu }) => os === "darwin" && cpu === "x64");
  if (!linux || !mac) throw new Error("two platforms are missing");
  expect(platformManifest(linux, CHECKOUT, COMMIT)).toMatchObject({
    name: "@memsync/linux-arm64",
    version: VERSION,
    os: ["linux"],
    cpu: ["arm64"],
    libc: ["glibc"],
  });
  expect(platformManifest(mac, CHECKOUT, COMMIT)).not.toHaveProperty("libc");
  expect(platformManifest(mac, CHECKOUT, COMMIT)).not.toHaveProperty("dependencies");
});

test("the package with those of all platforms is a release", () => {
  expect(releaseProblems(VERSION, [...platformTarballs(), mainTarball()])).toEqual([]);
});

test("a release without a platform, with one twice or with another package is none", () => {
  const [first, second, ...others] = platformTarballs();
  if (!first || !second) throw new Error("two platforms are missing");
  const foreign = { ...first, file: "x.tgz", manifest: { ...first.manifest, name: "@memsync/x" } };
  const tarballs = [second, second, ...others, foreign, mainTarball()];
  expect(releaseProblems(VERSION, tarballs)).toEqual([
    "@memsync/darwin-arm64 is missing: `npm run package` makes it on its platform",
    "@memsync/darwin-x64 is there 2 times",
    "x.tgz holds @memsync/x, which is none of memsync's",
  ]);
});

test("a platform's package of another version or commit, or without the binary, is refused", () => {
  const [first, second, third, ...others] = PLATFORMS;
  if (!first || !second || !third) throw new Error("three platforms are missing");
  const tarballs = [
    platformTarball(first, { version: "0.0.9" }),
    platformTarball(second, { gitHead: "0e2a9d1" }),
    { ...platformTarball(third), paths: new Set(["package.json"]) },
    ...others.map((platform) => platformTarball(platform)),
    mainTarball(),
  ];
  expect(releaseProblems(VERSION, tarballs)).toEqual([
    `memsync-darwin-arm64.tgz is of version 0.0.9, and this checkout of ${VERSION}`,
    "memsync-linux-arm64.tgz holds no memsync",
    "the packages are not of one commit",
  ]);
});

test("a main package that does not ask for the platforms' packages is refused", () => {
  const { optionalDependencies } = CHECKOUT;
  const none = mainTarball({ optionalDependencies });
  const problems = releaseProblems(VERSION, [...platformTarballs(), none]);
  expect(problems).toHaveLength(PLATFORMS.length);
  expect(problems[0]).toBe(
    `memsync-${VERSION}.tgz asks for @memsync/darwin-arm64 not at all, and not for ${VERSION}`,
  );
  const older = mainTarball({
    optionalDependencies: {
      ...mainManifest(CHECKOUT, COMMIT).optionalDependencies,
      "@memsync/win32-x64": "0.0.9",
    },
  });
  expect(releaseProblems(VERSION, [...platformTarballs(), older])).toEqual([
    `memsync-${VERSION}.tgz asks for @memsync/win32-x64 0.0.9, and not for ${VERSION}`,
  ]);
});
