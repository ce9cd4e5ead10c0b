import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../tidy/source-tree.ts";
import { readDocuments } from "./commands.ts";

/** Where what the page imports is in this checkout. */
const PARTS: Readonly<Record<string, string>> = {
  "memsync/client": "client/client.ts",
  "memsync/emulator": "server/emulator/start-emulator.ts",
};

/** What the page says in words alone before a block that has this. */
const BEFORE: Readonly<Record<string, string>> = {
  'frame: "changed"': `
    const headers = { authorization: "Bearer " + token };
    const live = new WebSocket(emulator.url.replace("http", "ws") + "/api/live", { headers });
    const heard = Promise.withResolvers();
    live.onmessage = heard.resolve;
    live.onopen = () => live.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
    await heard.promise;
    const writer = createClient({ url: emulator.url, token }).v1;
    for (const content of ["a", "b"]) await writer.createMemory({ layer: "user", content });`,
};

/** The page's blocks, one after another, as a reader would put them together. */
function programOf(page: string): string {
  const blocks = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  const imports = ['import { expect } from "bun:test";'];
  // What begins with a runner's hooks is run by every runner, in examples/testing.
  const parts = blocks.filter((block) => !block.includes("useMemsync("));
  const bodies = parts.map((block) => {
    const before = Object.entries(BEFORE).filter(([has]) => block.includes(has));
    const text = [...before.map(([, each]) => each), block].join("\n");
    return text.replaceAll(/^import (.*) from "([\w/]+)".*$/gm, (_, names, part: string) => {
      imports.push(`import ${names} from ${JSON.stringify(join(ROOT, PARTS[part] ?? part))};`);
      return "";
    });
  });
  expect(bodies.length).toBeGreaterThan(5);
  return [...imports, ...bodies, "live.close();"].join("\n");
}

test("the page about the emulator in tests is a program that runs to its end", async () => {
  const page = (await readDocuments()).get("docs/emulator.md") ?? "";
  const folder = mkdtempSync(join(tmpdir(), "memsync-page-"));
  try {
    mkdirSync(join(folder, "tests/seed/user"), { recursive: true });
    writeFileSync(join(folder, "tests/seed/user/editor.md"), "vim");
    writeFileSync(join(folder, "page.mjs"), programOf(page));
    const child = Bun.spawn([process.execPath, "page.mjs"], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", HOME: folder, VITEST_POOL_ID: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [printed, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect({ status: await child.exited, printed, said }).toEqual({
      status: 0,
      printed: "",
      said: "",
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
