import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../../shared/version.ts";
import { programs, testWith } from "../support/needs.ts";
import { type Compiled, compiled } from "./compiled.ts";
import { ROOT } from "./consumer.ts";

const MAKE_DEADLINE_MS = 300_000;

/** What Debian's machines have; elsewhere nobody makes the package. */
const TOOLS = programs("make", "dpkg-deb", "dpkg-gencontrol");
const OBJDUMP = programs("objdump");

let made: Compiled;

beforeAll(async () => {
  made = await compiled();
  if (!TOOLS.isMet) return;
  const { folder } = made;
  const places = [`OUT=${folder}`, `FILES=${folder}/files`, `DEB_FOLDER=${folder}`];
  await run("make", "-C", ROOT, "-f", "deploy/debian/rules", "binary", ...places);
}, MAKE_DEADLINE_MS);

afterAll(() => made?.[Symbol.dispose]());

/** Resolves to what a command prints; rejects unless it succeeds. */
async function run(...command: readonly string[]): Promise<string> {
  // The time goes into compressing, and how small it becomes is not what is tested.
  const env = { ...process.env, DPKG_DEB_COMPRESSOR_TYPE: "none" };
  const child = Bun.spawn([...command], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout;
}

function debPath(): string {
  const name = readdirSync(made.folder).find((each) => each.endsWith(".deb"));
  return join(made.folder, name ?? "none.deb");
}

test("the Debian package is of the version that the package is of", async () => {
  const changelog = await Bun.file(join(ROOT, "deploy/debian/changelog")).text();
  expect(changelog).toStartWith(`memsync (${VERSION}) `);
});

testWith(TOOLS, "the Debian package says what it is and needs", async () => {
  const fields = await run("dpkg-deb", "--field", debPath());
  expect(fields).toContain(`\nVersion: ${VERSION}\n`);
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  expect(fields).toContain(`\nArchitecture: ${architecture}\n`);
  expect(fields).toContain("\nDepends: libc6 (>= 2.17)\n");
});

testWith(TOOLS, "its files are root's, readable by all and writable by nobody", async () => {
  const lines = (await run("dpkg-deb", "--contents", debPath())).trim().split("\n");
  const files = lines.map((line) => line.split(/ +/)).filter(([mode]) => mode?.startsWith("-"));
  expect(files.map(([mode, owner, , , , path]) => [mode, owner, path]).sort()).toEqual(
    [
      ["-rwxr-xr-x", "root/root", "./usr/bin/memsync"],
      ["-rw-r--r--", "root/root", "./usr/share/doc/memsync/README.Debian"],
      ["-rw-r--r--", "root/root", "./usr/share/doc/memsync/changelog.gz"],
      ["-rw-r--r--", "root/root", "./usr/share/doc/memsync/copyright"],
      ["-rw-r--r--", "root/root", "./usr/share/doc/memsync/examples/memsync.service"],
      ["-rw-r--r--", "root/root", "./usr/share/doc/memsync/third-party-notices.txt.gz"],
      ["-rw-r--r--", "root/root", "./usr/share/man/man1/memsync.1.gz"],
    ].sort(),
  );
});

testWith(TOOLS, "what it installs runs, and is what its checksums say", async () => {
  const installed = join(made.folder, "installed");
  await run("dpkg-deb", "--raw-extract", debPath(), installed);
  expect(await run(join(installed, "usr/bin/memsync"), "--version")).toBe(`${VERSION}\n`);
  const sums = await Bun.file(join(installed, "DEBIAN/md5sums")).text();
  const lines = sums.trim().split("\n");
  expect(lines).toHaveLength(7);
  for (const line of lines) {
    const [, path = ""] = line.split("  ");
    const bytes = await Bun.file(join(installed, path)).bytes();
    expect(`${new Bun.CryptoHasher("md5").update(bytes).digest("hex")}  ${path}`).toBe(line);
  }
});

testWith(OBJDUMP, "the binary needs no newer C library than the package", async () => {
  const symbols = await run("objdump", "-T", made.binary);
  const versions = [...symbols.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  expect(Math.max(...versions)).toBeLessThanOrEqual(17);
});

test("the manual page and the notices come with the binary", () => {
  for (const name of ["memsync.1", "third-party-notices.txt"]) {
    expect(existsSync(join(made.folder, name))).toBe(true);
  }
});
