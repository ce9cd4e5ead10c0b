import { expect } from "bun:test";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const GOOD = "# Good\n\ntext\n";

const BAD: readonly (readonly [string, (path: string) => Promise<unknown>, string])[] = [
  ["not UTF-8", (path) => writeFile(path, Buffer.from([0x23, 0xff, 0xfe, 0x0a])), "is not UTF-8"],
  ["UTF-16", (path) => writeFile(path, Buffer.from(`\uFEFF${GOOD}`, "utf16le")), "is not UTF-8"],
  ["a NUL character", (path) => writeFile(path, "# Good\0\n"), "holds a NUL character"],
  ["a folder", (path) => mkdir(path), "is not a file"],
  ["a symbolic link", (path) => symlink("elsewhere.md", path), "is a symbolic link"],
  ["five megabytes", (path) => writeFile(path, "line\n".repeat(1024 * 1024)), "is over 1048576"],
];

async function untilNote(machine: Machine, note: string): Promise<void> {
  await waitFor(`status to say: ${note}`, async () => {
    await machine.syncOnce();
    return (await machine.fileStatus())?.note?.includes(note);
  });
}

scenario(
  "a file that can't be followed is left alone and named, and all else goes on",
  async (lab) => {
    const files = { ".gitignore": `${FILE}\nelsewhere.md\n`, "README.md": "" };
    const [a, b] = await lab.twoMachines(emulator.account("bad-files"), files);
    const path = join(a.folder, FILE);
    await writeFile(path, GOOD);
    await writeFile(join(a.folder, "elsewhere.md"), "# Elsewhere\n");
    await Promise.all([a.up(), b.up()]);
    const { id } = await a.projectOf();
    await waitFor("b to have the text", async () => (await b.doc(id)) === GOOD);
    for (const [name, make, note] of BAD) {
      await rm(path, { recursive: true, force: true });
      await make(path);
      await untilNote(a, note);
      expect((await a.fileStatus())?.state).toBe("left alone");
      await a.memsync("set", "meanwhile", name);
      await waitFor("the memory on b", async () => {
        return (await b.run(["get", "meanwhile"])).stdout === name;
      });
      expect({ name, text: await b.doc(id) }).toEqual({ name, text: GOOD });
    }
    await rm(path, { recursive: true, force: true });
    await writeFile(path, `${GOOD}\nmore\n`);
    await waitFor("the mended file on b", async () => (await b.doc(id)) === `${GOOD}\nmore\n`);
  },
);

scenario("a home that can't be written is one sentence and exit status 1", async (lab) => {
  const [folder] = await lab.clones({ "README.md": "a file" });
  const machine = lab.machine("a", folder);
  const blocked = join(folder, "README.md", "home");
  for (const args of [["up"], ["set", "key", "value", "--layer", "user"]]) {
    const command = ["env", `MEMSYNC_HOME=${blocked}`, ...machine.spawn(args).command];
    const { status, stdout, stderr } = await machine.spawnOther(command).ended();
    expect({ args, status, stdout }).toEqual({ args, status: 1, stdout: "" });
    expect(stderr).toMatch(/^memsync: the home .* can't be written: [^\n]*\n$/);
  }
});

scenario("a port in use is one sentence and exit status 1", async (lab) => {
  const [folder] = await lab.clones({ "README.md": "" });
  const machine = lab.machine("a", folder);
  const { port } = new URL(emulator.account("any").url);
  const { status, stdout, stderr } = await machine.run(["emulator", "--port", port]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^memsync: port \d+ on 127\.0\.0\.1 is in use; [^\n]*\n$/);
});

scenario(
  "a command used wrongly ends with 2 and prints nothing on standard output",
  async (lab) => {
    const [folder] = await lab.clones({ "README.md": "" });
    const machine = lab.machine("a", folder);
    const wrong = [
      ["nonsense"],
      ["set", "key"],
      ["get"],
      ["get", "key", "--nonsense"],
      ["list", "--layer", "team"],
      ["emulator", "--port", "70000"],
      ["emulator", "--plan", "free"],
      ["emulator", "--data-dir", "d", "--memory"],
      ["server", "--database-url", "postgres://host/name"],
      ["server", "token", "create"],
      ["link", "--id", "nonsense"],
      ["sync", "--wait", "soon"],
    ];
    for (const args of wrong) {
      const { status, stdout, stderr } = await machine.run(args);
      expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: "" });
      expect(stderr).toStartWith("memsync: ");
    }
  },
);

scenario(
  "what can't be saved is refused with the reason, with and without a daemon",
  async (lab) => {
    const [folder] = await lab.clones({ "README.md": "" });
    const machine = lab.machine("a", folder);
    await machine.up();
    await machine.down();
    const bad: readonly (readonly [string, string | Uint8Array, string])[] = [
      ["", "value", "the key is empty"],
      ["k".repeat(513), "value", "the key is over 512 bytes"],
      ["key", "v".repeat(32 * 1024 + 1), "the value is over 32768 bytes"],
      ["key", "a\0b", "NUL"],
      ["key", Buffer.from([0x61, 0xff]), "not UTF-8"],
    ];
    for (const up of [false, true]) {
      if (up) await machine.up();
      for (const [key, stdin, reason] of bad) {
        const { status, stderr } = await machine.run(["set", key, "-"], { stdin });
        expect({ up, reason, status }).toEqual({ up, reason, status: 1 });
        expect(stderr).toContain(reason);
      }
      expect(await machine.list()).toEqual([]);
    }
  },
);

scenario("a service's address without a token, or a wrong one, is said", async (lab) => {
  const [folder] = await lab.clones({ "README.md": "" });
  const machine = lab.machine("a", folder);
  const { url } = emulator.account("any");
  const up = machine.spawn(["up"]).command;
  await machine.end();
  const without = await machine.spawnOther(["env", `MEMSYNC_URL=${url}`, ...up]).ended();
  expect(without.status).toBe(1);
  expect(without.stderr).toContain("MEMSYNC_URL is set without MEMSYNC_TOKEN");
  const wrong = await machine.spawnOther(["env", "MEMSYNC_URL=nonsense", ...up]).ended();
  expect(wrong.status).toBe(1);
  expect(wrong.stderr).toContain("MEMSYNC_URL is not an http or https address");

  machine.service = { url, token: "mst_wrong" };
  await machine.up();
  await machine.memsync("set", "key", "kept");
  await waitFor("status to say that the token is refused", async () => {
    await machine.syncOnce();
    return (await machine.projectOf()).refused?.includes("401");
  });
  expect(await machine.memsync("get", "key")).toBe("kept");
  await machine.down();
  machine.service = emulator.account("right");
  await machine.up();
  await machine.untilSynced();
  expect(await machine.memsync("get", "key")).toBe("kept");
});
