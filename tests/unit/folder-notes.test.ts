import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

test("a folder in it that can't be read is named, and all others come in", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-notes-"));
  const closed = join(folder, "closed");
  try {
    const isLinux = process.platform === "linux";
    const open = ["open", ...(isLinux ? ["Open"] : [])];
    for (const name of ["closed", ...open]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "note.md"), `of ${name}\n`);
    }
    if (isLinux) mkdirSync(Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([0xff])]));
    chmodSync(closed, 0);
    const { notes, unread } = await readNotes(folder);
    const isRoot = process.getuid?.() === 0;
    const read = [...open, ...(isRoot ? ["closed"] : [])];
    expect(notes.map(({ key }) => key).sort()).toEqual(read.map((name) => `${name}/note`).sort());
    expect(unread.map(({ name, code }) => `${name} ${code}`)).toEqual([
      ...(isLinux ? ["a\ufffd/ unfit-name"] : []),
      ...(isRoot ? [] : ["closed/ unfit-folder"]),
    ]);
  } finally {
    chmodSync(closed, 0o700);
    rmSync(folder, { recursive: true, force: true });
  }
});
