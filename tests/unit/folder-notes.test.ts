import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readNotes } from "../../cli/transfer/folders.ts";

test("a note with an odd name is left out, and why is said", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-notes-"));
  try {
    writeFileSync(join(folder, "plain.md"), "plain\n");
    writeFileSync(join(folder, "UP.MD"), "up\n");
    writeFileSync(join(folder, "picture.png"), "no note\n");
    const isLinux = process.platform === "linux";
    if (isLinux) {
      const bytes = Buffer.concat([
        Buffer.from(`${folder}/a`),
        Buffer.from([0xff]),
        Buffer.from(".md"),
      ]);
      writeFileSync(bytes, "bytes\n");
    }
    const { notes, unread } = await readNotes(folder);
    expect(notes.map(({ key }) => key)).toEqual(["plain"]);
    expect(unread.map(({ name, code }) => `${name} ${code}`)).toEqual([
      "UP.MD unfit-name",
      ...(isLinux ? ["a\ufffd unfit-name"] : []),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
