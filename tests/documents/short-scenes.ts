import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PLANTED } from "../support/planted-secrets.ts";
import type { Reader } from "./reader.ts";
import type { Scene } from "./scene.ts";
import { cloneWidget } from "./widget.ts";

const nothing = async () => undefined;

export const SECRETS: Scene = {
  document: "docs/secrets.md",
  async stage(reader) {
    await cloneWidget(reader);
    await reader.shell.run("memsync start .");
    reader.callsIt("ghp_…", PLANTED.github);
  },
  acts: [],
};

/** Addresses of services that do not know each other. */
async function serveTwo(reader: Reader): Promise<void> {
  const { lab } = reader;
  await cloneWidget(reader);
  await lab.git.repository("src/acme-shop", { "README.md": "" });
  const [first, second] = await Promise.all([lab.emulator(), lab.emulator()]);
  reader.callsIt("https://memory.example.com", first.url);
  reader.callsIt("https://acme.example.com", second.url);
  reader.callsIt("mst_…", "mst_dev_services");
  reader.callsIt("--port 4777", "--port 0");
  await writeFile(join(reader.laptop.folder, "token.txt"), "mst_dev_services\n");
}

export const SERVICES: Scene = {
  document: "docs/services.md",
  stage: serveTwo,
  acts: [
    { command: "memsync up", until: /memsync is up[\s\S]*\n/ },
    {
      command: "memsync login --url https://memory.example.com",
      async before({ shell }) {
        await shell.endLasting();
        await shell.run("unset MEMSYNC_URL MEMSYNC_TOKEN; memsync start .");
      },
      typed: (text) => text.replace(/ +# or/, ""),
    },
    { command: "memsync remote add acme", typed: (text) => `${text} --token-stdin < token.txt` },
    { command: "memsync server --port 4777", until: /memsync server ready at/ },
  ],
};

const YES = (text: string) => text.replace(/(?= +#)/, " --yes");

export const OPERATING: Scene = {
  document: "docs/operating.md",
  async stage(reader) {
    const { path } = reader.lab.git;
    for (const folder of ["var/lib/memsync", "backups"])
      mkdirSync(path(folder), { recursive: true });
    reader.callsIt("/var/lib/memsync", path("var/lib/memsync"));
    reader.callsIt("/backups", path("backups"));
    await reader.shell.run("export MEMSYNC_SERVER_PORT=0");
  },
  acts: [
    ...["pg_basebackup", "pg_ctl", "cp -a", "cat >>", "touch"].map((command) => ({
      command,
      notRun: "tests/long/standby.test.ts runs it",
    })),
    ...["pg_dump", "createdb", "pg_restore"].map((command) => ({
      command,
      notRun: "tests/long/dumped.test.ts runs it",
    })),
    { command: "memsync server user rm", typed: YES },
    { command: "memsync server account rm", typed: YES },
    {
      command: "memsync server restore",
      async before({ shell }) {
        await shell.endLasting();
        await shell.run("cp ~/backups/*.db ~/backups/memsync-2026-01-02.db");
      },
    },
    // Of a command that begins with another one the longer comes first.
    { command: "memsync server account" },
    { command: "memsync server token" },
    { command: "memsync server user" },
    { command: "memsync server backup" },
    {
      command: "memsync server",
      until: /memsync server ready at \S+\n/,
      // It would say so if it had no account.
      after: (_, printed) => expect(printed).not.toContain("account create"),
    },
  ],
};

export const CONTRIBUTING: Scene = {
  document: "CONTRIBUTING.md",
  stage: nothing,
  acts: [
    { command: "npm ci", notRun: "it installed what runs this test" },
    { command: "npm run check", notRun: "it is what runs this test" },
  ],
};

const RELEASE = "tests/package/ makes packages, and release.test.ts there publishes them";

export const RELEASING: Scene = {
  document: "docs/releasing.md",
  stage: nothing,
  acts: [
    { command: "npm ci", notRun: "it installed what runs this test" },
    { command: "npm run check", notRun: "it is what runs this test" },
    { command: "npm run package", notRun: RELEASE },
    { command: "npm login", notRun: "it is for whoever may publish" },
    { command: "npm run -s release", notRun: RELEASE },
  ],
};

export const EMULATOR: Scene = {
  document: "docs/emulator.md",
  async stage(reader) {
    reader.callsIt("--port 4777", "--port 0");
  },
  acts: [
    {
      command: "memsync emulator --port",
      typed: (text) => text.replace(/#.*/, ""),
      until: /ready at \S+\n/,
      after(reader, printed) {
        const { port } = new URL(/ready at (\S+)/.exec(printed)?.[1] ?? "");
        reader.callsIt("emulator env", `emulator env --port ${port}`);
        reader.callsIt("emulator health", `emulator health --port ${port}`);
      },
    },
    { command: "memsync exec", typed: (text) => text.replace("npm test", "true") },
  ],
};
