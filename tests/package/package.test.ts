import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { copyFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { manPage } from "../../scripts/man-page.ts";
import { VERSION } from "../../shared/version.ts";
import { HomeCommands } from "../released/home-state.ts";
import { expectRefused, tryNewerHome } from "../released/newer-home.ts";
import { takeOn } from "../released/take-on.ts";
import { LINUX, type Need, testWith } from "../support/needs.ts";
import { type Consumer, createConsumer, ROOT } from "./consumer.ts";
import { testExamples } from "./examples.ts";
import {
  contentsOf,
  installed,
  installedGlobally,
  type Packed,
  PLATFORM_PACKAGE,
  pack,
} from "./installed.ts";
import { ESM, testLibraries } from "./libraries.ts";

const INSTALL_DEADLINE_MS = 600_000;
const READY = /^memsync emulator ready at (http:\S+)\n/;
const COMMAND = "node_modules/.bin/memsync";

/** Where this platform has no package with the binary, Bun runs the command in all of these. */
const BINARY: Need = {
  isMet: PLATFORM_PACKAGE !== undefined,
  missing: "this platform has no package with the binary",
};
const LINUX_BINARY: Need = { ...BINARY, isMet: BINARY.isMet && LINUX.isMet };

let packed: Packed;
/** The binary is in the place of the launcher. */
let consumer: Consumer;
/** Installed without install scripts: the launcher starts the binary, nothing is compiled. */
let scriptless: Consumer;
/** Installed without optional dependencies, the binary among them: the launcher starts Bun. */
let binaryless: Consumer;

beforeAll(async () => {
  packed = await pack();
  [consumer, scriptless, binaryless] = await Promise.all([
    installed(packed),
    installed(packed, "--ignore-scripts"),
    installed(packed, "--omit=optional"),
  ]);
}, INSTALL_DEADLINE_MS);

afterAll(async () => {
  for (const each of [consumer, scriptless, binaryless]) await each?.[Symbol.asyncDispose]();
  await packed?.[Symbol.asyncDispose]();
});

/** Each way in which the command may be installed. */
const INSTALLATIONS = {
  "as the binary itself": () => consumer,
  "without install scripts": () => scriptless,
  "without optional dependencies": () => binaryless,
};

async function answerOf(url: string | undefined): Promise<number> {
  const headers = { Authorization: "Bearer mst_dev_pro" };
  const { status } = await fetch(`${url}/v1/memories`, { headers });
  return status;
}

/** Runs `work` while a folder of an installation is not there. */
async function without(
  { folder }: Consumer,
  path: string,
  work: () => Promise<void>,
): Promise<void> {
  const [there, aside] = [join(folder, path), join(folder, "aside")];
  await rename(there, aside);
  try {
    await work();
  } finally {
    await rename(aside, there);
  }
}

function platformPackagesIn(folder: string): string[] {
  const scope = join(folder, "node_modules/@memsync");
  return existsSync(scope) ? readdirSync(scope) : [];
}

test("the package holds what is built and its documents, and nothing else", async () => {
  const documents = /^(package\.json|(README|ARCHITECTURE|PROTOCOL|CHANGELOG)\.md|LICENSE)$/;
  const { files } = await contentsOf(packed.path);
  expect(files.filter((path) => !/^(dist|plugin)\//.test(path) && !documents.test(path))).toEqual(
    [],
  );
  expect(files).toContain("dist/bin/memsync");
});

testWith(BINARY, "a platform's package holds the binary, and is of the same version", async () => {
  const main = await contentsOf(packed.path);
  const { manifest, files } = await contentsOf(packed.binaryPath ?? "");
  const binary = process.platform === "win32" ? "memsync.exe" : "memsync";
  expect(files).toEqual(["LICENSE", binary, "package.json", "third-party-notices.txt"]);
  expect([main.manifest.version, manifest.version]).toEqual([VERSION, VERSION]);
  expect(main.manifest.optionalDependencies).toHaveProperty([PLATFORM_PACKAGE ?? ""], VERSION);
});

test("the package has a manual page, which npm installs", async () => {
  const installedAt = join(consumer.folder, "node_modules/memsync");
  const { man } = await Bun.file(join(installedAt, "package.json")).json();
  expect(await Bun.file(join(installedAt, man[0])).text()).toBe(await manPage());
});

test("the Homebrew formula is of this tarball", async () => {
  const script = join(ROOT, "scripts/formula.ts");
  const url = `https://example.com/memsync-${VERSION}.tgz`;
  const { status, stdout } = await consumer.run(process.execPath, script, packed.path, url);
  expect(status).toBe(0);
  const bytes = await Bun.file(packed.path).bytes();
  const sum = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  expect(stdout).toContain(`  url "${url}"\n  sha256 "${sum}"\n`);
  expect(stdout).not.toContain("__");
});

test("no file of the package names a folder of the machine that built it", async () => {
  const dist = join(consumer.folder, "node_modules/memsync/dist");
  const { stdout } = await consumer.run("grep", "-rlF", ROOT, dist);
  expect(stdout).toBe("");
});

test("npx runs the emulator, which answers", async () => {
  const emulator = consumer.start("npx", "memsync", "emulator", "--port", "0");
  const [, url] = await emulator.prints(READY);
  expect(await answerOf(url)).toBe(200);
});

testWith(BINARY, "the installed command is the binary, which needs no Node", async () => {
  const alone = await consumer.run("env", "-i", COMMAND, "--version");
  expect(alone).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
});

testWith(BINARY, "without install scripts the launcher starts the binary, not Bun", async () => {
  await without(scriptless, "node_modules/bun", async () => {
    const version = await scriptless.run(COMMAND, "--version");
    expect(version).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
  });
});

test("without optional dependencies there is no binary, and no other platform's anywhere", async () => {
  const held = [consumer, scriptless].map(({ folder }) => platformPackagesIn(folder));
  const own = PLATFORM_PACKAGE?.replace("@memsync/", "");
  expect(held).toEqual(own === undefined ? [[], []] : [[own], [own]]);
  expect(platformPackagesIn(binaryless.folder)).toEqual([]);
});

for (const [how, installation] of Object.entries(INSTALLATIONS)) {
  test(`${how}, the command exits with the status of what it ran`, async () => {
    const version = await installation().run(COMMAND, "--version");
    expect(version).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
    const refused = await installation().run(COMMAND, "emulator", "--port", "x");
    expect(refused).toMatchObject({ status: 2, stdout: "" });
  });

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    test(`${how}, ${signal} to the command ends the emulator in good order`, async () => {
      const emulator = installation().start(COMMAND, "emulator", "--port", "0");
      const [, url] = await emulator.prints(READY);
      emulator.kill(signal);
      expect(await emulator.ended).toEqual({ status: 0, signal: null });
      expect(answerOf(url)).rejects.toThrow();
    });
  }

  test(`${how}, the daemon takes nothing but its project from where the user stands`, async () => {
    await installation().write({
      "elsewhere/bunfig.toml": 'preload = ["./preload.ts"]',
      "elsewhere/preload.ts": 'console.log("preloaded");',
      "elsewhere/.env": "MEMSYNC_URL=nonsense",
    });
    const up = `cd elsewhere && MEMSYNC_HOME=$PWD/home exec ../${COMMAND} up`;
    const daemon = installation().start("sh", "-c", up);
    await daemon.prints(/^memsync is up/);
    daemon.kill("SIGTERM");
    expect(await daemon.ended).toEqual({ status: 0, signal: null });
  });
}

testWith(BINARY, "a binary of another version is not used, and it is said", async () => {
  const path = join(scriptless.folder, "node_modules", PLATFORM_PACKAGE ?? "", "package.json");
  const manifest = await Bun.file(path).text();
  await writeFile(path, manifest.replace(`"${VERSION}"`, '"0.0.9"'));
  const { status, stdout, stderr } = await scriptless.run(COMMAND, "--version");
  await writeFile(path, manifest);
  expect([status, stdout]).toEqual([0, `${VERSION}\n`]);
  expect(stderr).toBe(
    `memsync: ${PLATFORM_PACKAGE} is of version 0.0.9 and is not used: install memsync again\n`,
  );
});

testWith(LINUX_BINARY, "the binary is not started where its C library is not there", async () => {
  const [launcher, moved] = ["memsync", "memsync-on-musl"].map((name) =>
    join(scriptless.folder, "node_modules/memsync/dist/bin", name),
  );
  const text = await Bun.file(launcher ?? "").text();
  await Bun.write(moved ?? "", text.replaceAll(/"\/lib\S*\/ld-linux\S*"/g, '"/nowhere/ld.so"'));
  const onBun = await scriptless.run("node", moved ?? "", "--version");
  expect(onBun).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
  await without(scriptless, "node_modules/bun", async () => {
    expect((await scriptless.run("node", moved ?? "", "--version")).status).toBe(1);
  });
});

test("the emulator runs as a process of Node, too", async () => {
  const program = "node_modules/memsync/dist/cli-node.mjs";
  const emulator = consumer.start("node", program, "emulator", "--port", "0");
  const [, url] = await emulator.prints(READY);
  expect(await answerOf(url)).toBe(200);
  emulator.kill("SIGTERM");
  expect(await emulator.ended).toEqual({ status: 0, signal: null });
});

test("an emulator whose reader has gone ends on Node as any other", async () => {
  const command = "node node_modules/memsync/dist/cli-node.mjs emulator --port 0 --data-dir kept";
  const script = `mkfifo gone && {
    read _ < gone; ${command} & until [ -e kept/emulator.db ]; do :; done
    kill "$!"; wait "$!"; echo "$?" >&2; } | { exec 0<&-; echo > gone; }`;
  expect((await consumer.run("sh", "-c", script)).stderr).toBe("0\n");
});

test("installed for all projects it runs from anywhere, and its manual page is there", async () => {
  const { consumer: everywhere, prefix } = await installedGlobally(packed);
  await using _ = everywhere;
  const command = join(everywhere.folder, prefix, "bin/memsync");
  await everywhere.write({ "a project/CLAUDE.md": "# Kept\n" });
  const script = `cd 'a project' && export MEMSYNC_HOME="$PWD/home" && "$0" --version &&
    printf 'npm run build' | "$0" set --layer user build - &&
    "$0" get --layer user build`;
  const { stdout, stderr } = await everywhere.run("sh", "-c", script, command);
  const waits = "memsync: saved; will be sent when the daemon runs: `memsync start`\n";
  expect([stdout, stderr]).toEqual([`${VERSION}\nnpm run build`, waits]);
  const page = Bun.file(join(everywhere.folder, prefix, "share/man/man1/memsync.1"));
  expect(await page.exists()).toBe(true);
});

test("the command on Bun takes on a home of 0.1.0, and refuses a newer one", async () => {
  const memsync = [join(binaryless.folder, COMMAND)];
  const released = join(ROOT, "tests/released/0.1.0");
  const sql = await Bun.file(join(released, "home.sql")).text();
  using home = new HomeCommands(memsync);
  await takeOn(home, sql, await Bun.file(join(released, "home.json")).json());
  for (const attempt of await tryNewerHome(sql, memsync)) {
    expectRefused(attempt);
  }
});

test("without better-sqlite3 the emulator on Node says in a sentence what to do", async () => {
  await scriptless.write({ "ask.mjs": ESM });
  const { status, stderr } = await scriptless.run("node", "ask.mjs");
  expect(status).not.toBe(0);
  expect(stderr).toContain("memsync under Node needs the package better-sqlite3");
});

test("with neither binary nor Bun the command says in a sentence what to do", async () => {
  await using bare = await createConsumer();
  const launcher = "node_modules/memsync/dist/bin/memsync";
  await copyFile(join(scriptless.folder, launcher), join(bare.folder, "memsync"));
  const { status, stderr } = await bare.run("node", "memsync", "--version");
  expect(status).toBe(1);
  expect(stderr).toMatch(/^memsync: no package that memsync could run from is there for .*\n$/);
});

testLibraries(() => consumer);
testExamples(() => consumer);
