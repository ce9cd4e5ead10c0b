import { expect } from "bun:test";
import { chmod, chown, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import { type Machine, MEMSYNC } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const NOBODY = 65534;

interface BadFile {
  readonly what: string;
  readonly note: RegExp;
  /** "left-alone" when left out. */
  readonly state?: "held";
  put(path: string): Promise<void>;
}

const BAD_FILES: readonly BadFile[] = [
  {
    what: "not UTF-8",
    note: /is not UTF-8/,
    put: (path) => writeFile(path, new Uint8Array([0x23, 0x20, 0xff, 0xfe, 0x0a])),
  },
  {
    what: "with a NUL",
    note: /NUL/,
    state: "held",
    put: (path) => writeFile(path, "# One\0\n"),
  },
  {
    what: "a folder",
    note: /is not a file/,
    put: async (path) => {
      await mkdir(path);
    },
  },
  {
    what: "a symbolic link out of the folder",
    note: /is a symbolic link to .*\.target, which is outside/,
    put: async (path) => {
      const target = `${dirname(path)}.target`;
      await writeFile(target, "# Elsewhere\n");
      await symlink(target, path);
    },
  },
  {
    what: "a symbolic link to nothing",
    note: /is a symbolic link/,
    put: (path) => symlink("/nowhere/at/all", path),
  },
  {
    what: "a pipe",
    note: /is not a file/,
    put: async (path) => {
      await Bun.spawn(["mkfifo", path]).exited;
    },
  },
  {
    what: "5 MB",
    note: /is over 1048576 bytes/,
    state: "held",
    put: (path) => writeFile(path, "x".repeat(5e6)),
  },
];

async function untilNoted(
  machine: Machine,
  note: RegExp,
  state: "held" | "left-alone" | "failing" = "left-alone",
): Promise<void> {
  await waitFor(`a note like ${note}`, async () => {
    const file = await machine.fileStatus();
    return file?.state === state && note.test(file.note ?? "");
  });
}

scenario("a file that can't be followed is left alone, and all else goes on", async (lab) => {
  const files = { ".gitignore": `${FILE}*\n` };
  const [a, b] = await lab.twoMachines(emulator.account("bad-files"), files);
  await Promise.all([a.up(), b.up()]);
  const path = join(b.folder, FILE);
  let text = "# Good\n";
  await writeFile(join(a.folder, FILE), text);
  for (const [i, { what, note, state, put }] of BAD_FILES.entries()) {
    await waitFor(`b's file before ${what}`, async () => {
      const file = await b.fileStatus();
      // The file before it may have had a note that is like this one's.
      return !note.test(file?.note ?? "") && (await Bun.file(path).text()) === text;
    });
    await rm(path);
    await put(path);
    await untilNoted(b, note, state);
    expect(await b.memsync("status")).toMatch(note);
    const before = await Array.fromAsync(await readdir(b.folder));
    text += `\nline ${i}\n`;
    await writeFile(join(a.folder, FILE), text);
    await waitFor("the text on b", async () => (await b.memsync("doc")) === text);
    await b.memsync("set", what, "saved");
    await waitFor("the memory on a", async () => (await a.run(["get", what])).status === 0);
    await b.sync();
    expect(await Array.fromAsync(await readdir(b.folder))).toEqual(before);
    await rm(path, { recursive: true });
    await writeFile(path, text);
  }
});

/** Root reads everything, so the daemon runs as somebody else where the tests run as root. */
async function runsAsNobody(lab: Lab): Promise<boolean> {
  const command = ["setpriv", "--reuid", `${NOBODY}`, "--clear-groups", ...MEMSYNC, "--version"];
  const machine = lab.machine("probe", lab.git.folder);
  await chmod(lab.git.folder, 0o777);
  return await machine
    .spawnOther(command)
    .ended()
    .then(
      ({ status }) => status === 0,
      () => false,
    );
}

scenario("a file that can't be read is said, and nothing says that all is synced", async (lab) => {
  const asRoot = process.getuid?.() === 0;
  if (asRoot && !(await runsAsNobody(lab))) {
    process.stderr.write("skipped: no other user can run the program here, and root reads all\n");
    return;
  }
  const machine = lab.machine("a", lab.git.path("plain"), emulator.account("unreadable"));
  for (const folder of [machine.folder, machine.home]) {
    await mkdir(folder);
    if (asRoot) await chown(folder, NOBODY, NOBODY);
  }
  await writeFile(join(machine.folder, FILE), "# Secret\n");
  await chmod(join(machine.folder, FILE), 0o000);
  const as = asRoot ? ["setpriv", "--reuid", `${NOBODY}`, "--clear-groups"] : [];
  const daemon = machine.spawnOther([...as, ...MEMSYNC, "up"]);
  await daemon.untilPrinted(/memsync is up/);
  await untilNoted(machine, /can't be read/, "failing");
  const { id } = await machine.projectOf();
  const memory = { key: "key", content: "value", project_id: id };
  expect((await machine.gateway("POST", "/v1/memories", memory)).status).toBe(200);
  await waitFor("the memory to be acknowledged", async () => {
    await machine.syncOnce();
    const { contacted, waiting } = await machine.projectOf();
    return contacted && waiting === 0;
  });
  const sync = await machine.run(["sync"]);
  expect(sync.status).toBe(1);
  expect(sync.stderr).toMatch(
    /not everything is synced: \S+ is not followed: can't be read: EACCES/,
  );
  expect(await machine.doc(id)).toBe("");
});
