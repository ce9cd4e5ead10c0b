import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { executableOf, PLATFORMS, packageNameOf } from "../../scripts/launcher/platforms.ts";
import { type Manifest, mainManifest, platformManifest } from "../../scripts/npm-manifests.ts";
import { VERSION } from "../../shared/version.ts";
import { type Registry, startRegistry } from "../support/registry.ts";
import { type Consumer, createConsumer, type Outcome, ROOT } from "./consumer.ts";

const COMMIT = "4f1c0b7";
const ALL_PLATFORMS = PLATFORMS.map((each) => `${packageNameOf(each)}@${VERSION}`).sort();

let publisher: Consumer;
let registry: Registry;
let refusesMain: boolean;

beforeAll(async () => {
  publisher = await createConsumer();
  registry = startRegistry((name) => refusesMain && name === "memsync");
  const checkout: Manifest = await Bun.file(join(ROOT, "package.json")).json();
  // No other registry takes this token, and no other token is known.
  await publisher.write({ npmrc: `//${new URL(registry.url).host}/:_authToken=none\n` });
  for (const folder of ["release", "incomplete"]) {
    await put(`${folder}/main.tgz`, mainManifest(checkout, COMMIT), "dist/bin/memsync");
  }
  for (const platform of PLATFORMS) {
    const file = `release/${platform.os}-${platform.cpu}.tgz`;
    const manifest = platformManifest(platform, checkout, COMMIT);
    await put(file, manifest, executableOf(platform));
  }
});

afterAll(async () => {
  await publisher?.[Symbol.asyncDispose]();
  await registry?.[Symbol.asyncDispose]();
});

/** A tarball as `npm run package` makes them, but for a program of a few bytes. */
async function put(file: string, manifest: Manifest, program: string): Promise<void> {
  const files = {
    "package/package.json": JSON.stringify(manifest),
    [`package/${program}`]: "#!/bin/sh\n",
  };
  const path = join(publisher.folder, file);
  await Bun.write(path, await new Bun.Archive(files, { compress: "gzip" }).bytes());
}

function release(...args: readonly string[]): Promise<Outcome> {
  const command = [process.execPath, join(ROOT, "scripts/release.ts"), ...args];
  const config = { userconfig: join(publisher.folder, "npmrc"), registry: `${registry.url}/` };
  const variables = Object.entries(config).map(([name, value]) => `npm_config_${name}=${value}`);
  return publisher.run("env", ...variables, ...command);
}

test("a release publishes the platforms' packages first, and goes on where it was cut off", async () => {
  refusesMain = true;
  const cutOff = await release("release");
  const { published } = registry;
  expect([cutOff.status, published.toSorted()]).toEqual([1, ALL_PLATFORMS]);
  expect(cutOff.stderr).toContain("main.tgz could not be published: run this again to go on\n");
  refusesMain = false;
  const trial = await release("release", "--dry-run");
  expect([trial.status, trial.stdout]).toEqual([0, "would publish main.tgz\n"]);
  expect((await release("release")).status).toBe(0);
  expect(published.slice(ALL_PLATFORMS.length)).toEqual([`memsync@${VERSION}`]);
});

test("what is published already and is not the same is refused", async () => {
  const [first] = PLATFORMS;
  if (first === undefined) throw new Error("there are no platforms");
  const checkout: Manifest = await Bun.file(join(ROOT, "package.json")).json();
  const manifest = { ...platformManifest(first, checkout, COMMIT), description: "another" };
  const { published } = registry;
  const before = [...published];
  await put(`release/${first.os}-${first.cpu}.tgz`, manifest, executableOf(first));
  const { status, stderr } = await release("release");
  expect(status).toBe(1);
  expect(stderr).toContain(`${packageNameOf(first)} ${VERSION} is published already, and is not `);
  expect(published).toEqual(before);
});

test("nothing of a release that lacks platforms is published, and all are named", async () => {
  const { status, stderr } = await release("incomplete");
  expect(status).toBe(1);
  for (const platform of PLATFORMS) {
    expect(stderr).toContain(`${packageNameOf(platform)} is missing: `);
  }
});
