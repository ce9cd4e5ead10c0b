import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SETTING_NAMES, variableOf } from "../../server/settings/setting.ts";
import { VERSION } from "../../shared/version.ts";
import { programs, testWith } from "../support/needs.ts";

const DEPLOY = join(import.meta.dir, "..", "..", "deploy");
const DOCKERFILE = readFileSync(join(DEPLOY, "Dockerfile"), "utf8");
const UNIT = readFileSync(join(DEPLOY, "memsync.service"), "utf8");

const SYSTEMD = programs("systemd-analyze");
const RUBY = programs("ruby");

/** Tenths of an exposure level: systemd calls up to 49 "OK". */
const EXPOSURE_MAX = 20;

const folder = mkdtempSync(join(tmpdir(), "memsync-deploy-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The unit, with a program that is on every machine in the place of ours. */
function writeUnit(): string {
  const path = join(folder, "memsync.service");
  writeFileSync(path, UNIT.replace("/usr/bin/memsync server", "/bin/true"));
  return path;
}

async function analyze(...args: readonly string[]) {
  const child = Bun.spawn(["systemd-analyze", ...args], { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { status: await child.exited, stdout, stderr };
}

testWith(SYSTEMD, "systemd finds nothing wrong with the unit", async () => {
  expect(await analyze("verify", writeUnit())).toEqual({ status: 0, stdout: "", stderr: "" });
});

testWith(SYSTEMD, "systemd calls the unit's exposure low", async () => {
  const args = ["security", "--offline=true", `--threshold=${EXPOSURE_MAX}`, writeUnit()];
  expect((await analyze(...args)).status).toBe(0);
});

testWith(SYSTEMD, "the unit lets V8 make the system calls that guard its code", async () => {
  const [, named = ""] = /^SystemCallFilter=(@.*)$/m.exec(UNIT) ?? [];
  const { stdout } = await analyze("syscall-filter", ...named.split(" "));
  // Without it Node is killed as it starts ("Bad system call").
  expect(stdout).toContain("pkey_alloc");
});

testWith(RUBY, "Ruby finds nothing wrong with the Homebrew formula", async () => {
  const checked = Bun.spawn(["ruby", "-c", join(DEPLOY, "homebrew", "memsync.rb")]);
  expect(await checked.exited).toBe(0);
});

test("the image and the unit set what is a setting", () => {
  const known = SETTING_NAMES.map(variableOf);
  const named = [DOCKERFILE, UNIT].flatMap((text) => text.match(/MEMSYNC_SERVER_[A-Z_]+/g) ?? []);
  expect(named.length).toBeGreaterThan(3);
  // `MEMSYNC_SERVER_…` in a comment stands for all of them.
  expect(named.filter((name) => !known.includes(name) && name !== "MEMSYNC_SERVER_")).toEqual([]);
});

/** The instructions of each stage, by its name. */
function stagesOf(dockerfile: string): Map<string, string[]> {
  const texts = dockerfile.split(/^(?=FROM )/m).slice(1);
  return new Map(
    texts.map((text) => {
      const [, name = ""] = /^FROM \S+ AS (\w+)$/m.exec(text) ?? [];
      return [name, text.split("\n").filter((line) => /^[A-Z]+ /.test(line))];
    }),
  );
}

test("the images are of this version, nobody's root runs in them, and the server keeps its data", () => {
  expect(DOCKERFILE).toContain(`\nARG VERSION=${VERSION}\n`);
  const stages = stagesOf(DOCKERFILE);
  // The last one is made where none is named.
  expect([...stages.keys()]).toEqual(["package", "emulator", "server"]);
  const { package: common = [], emulator = [], server = [] } = Object.fromEntries(stages);
  for (const start of ["EXPOSE 4777", "STOPSIGNAL SIGTERM", "ENTRYPOINT "])
    expect(common.some((line) => line.startsWith(start))).toBe(true);
  for (const stage of [emulator, server]) {
    const at = (start: string) => stage.findIndex((line) => line.startsWith(start));
    expect(at("FROM package ")).toBe(0);
    expect(at("USER node")).toBeGreaterThan(at("RUN "));
    expect(at("HEALTHCHECK ")).toBeGreaterThan(at("USER node"));
  }
  expect(server).toContain("VOLUME /data");
});
