import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { waitFor } from "../support/wait-for.ts";
import type { Reader } from "./reader.ts";
import type { Scene } from "./scene.ts";

const OWN = "# What only Claude Code needs\n\n- Ask before you delete a file.\n";

/** A user with two assistants, one of which has instructions already. */
async function stage(reader: Reader): Promise<void> {
  const { lab } = reader;
  const path = join(lab.git.folder, ".claude", "CLAUDE.md");
  await mkdir(dirname(path), { recursive: true });
  await mkdir(join(lab.git.folder, ".codex"));
  await lab.git.write(path, OWN);
  // Assistants of the machine that runs this are none of the reader's.
  await reader.shell.run("export PATH=$HOME/bin:$(dirname $(command -v git)):/bin; memsync start");
}

async function writeLine({ shell, laptop }: Reader): Promise<void> {
  await shell.run("sed -i 's/^<!-- memsync:personal end/- Say why.\\n&/' ~/.codex/AGENTS.md");
  await waitFor("the line", async () => (await laptop.memsync("personal")).includes("1 line"));
}

export const PERSONAL: Scene = {
  document: "docs/personal.md",
  stage,
  acts: [
    { command: "memsync personal on" },
    { command: "memsync personal off" },
    { command: "memsync personal", before: writeLine },
  ],
};
