import { expect } from "bun:test";
import { writeFile } from "node:fs/promises";
import { LIMITS } from "../../shared/limits.ts";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

/** As much as a text may have: by exchange it is a large body. */
const TEXT = `# A\n\n${"A line of it, as many have been written.\n".repeat(24_000)}`;

scenario(
  "a large change that another machine's large one leaves no room for is sent after it, whole",
  async (lab) => {
    const account = emulator.account("large-body");
    const { host, port } = new URL(account.url);
    const other = await connectRaw(Number(port));
    const head = [
      "POST /api/sync HTTP/1.1",
      `Host: ${host}`,
      `Authorization: Bearer ${account.token}`,
      `Content-Length: ${LIMITS.exchangeBodyBytes}`,
    ];
    other.write(`${head.join("\r\n")}\r\n\r\n{`);
    const folder = await lab.git.repository("a", { "CLAUDE.md": "# A\n" });
    const machine = lab.machine("a", folder, account);
    await machine.up();
    const { id } = await machine.projectOf(folder);
    await writeFile(`${folder}/CLAUDE.md`, TEXT);
    await waitFor("the refusal", async () => {
      const { service } = await machine.status();
      return service.message?.includes("too many large bodies are under way") ?? false;
    });
    expect(await machine.doc(id)).toBe(TEXT);
    other[Symbol.dispose]();
    await machine.memsync("sync");
    const answer = await fetch(`${account.url}/api/projects/${id}`, {
      headers: { Authorization: `Bearer ${account.token}` },
    });
    expect(await answer.json()).toMatchObject({ claude_md_content: TEXT });
  },
);
