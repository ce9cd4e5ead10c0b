import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../../server/emulator/state/make-folder.ts";
import { failureOf } from "../support/failure.ts";

test("a folder is made with all that it is in, or refused", async () => {
  const root = mkdtempSync(join(tmpdir(), "memsync-folder-"));
  try {
    const folder = join(root, "a", "b", "c");
    await Promise.all([makeFolder(folder, 0o700), makeFolder(folder, 0o700)]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    writeFileSync(join(root, "file"), "");
    for (const path of [join(root, "file"), join(root, "file", "x"), ""]) {
      expect(await failureOf(() => makeFolder(path, 0o700))).toBeInstanceOf(Error);
    }
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("under Node what is in /proc is refused", async () => {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../server/emulator/state/make-folder.ts")],
    target: "node",
  });
  const text = await built.outputs[0]?.text();
  const call = 'makeFolder("/proc/x/y", 0o700).catch(() => console.log("refused"));';
  const node = Bun.spawn(["node", "--input-type=module", "-e", `${text}\n${call}`], {
    stdout: "pipe",
    timeout: 20_000,
  });
  expect(await new Response(node.stdout).text()).toBe("refused\n");
});
