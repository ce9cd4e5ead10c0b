import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { anHourLater } from "../support/an-hour-later.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { TERMINALS } from "../support/needs.ts";
import { ON_PLAIN_SERVICE } from "../support/plain-service.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const IGNORING = { ".gitignore": `${FILE}\nAGENTS.md\n.claude\n` };

async function startBoth(
  lab: Lab,
  account: string,
  files: Readonly<Record<string, string>> = IGNORING,
): Promise<readonly [Machine, Machine]> {
  const [a, b] = await lab.twoMachines(emulator.account(account), files);
  await Promise.all([a.up(), b.up()]);
  return [a, b];
}

async function write(machine: Machine, content: string | Uint8Array, file = FILE): Promise<void> {
  await writeFile(`${machine.folder}/${file}`, content);
}

async function untilFile(machine: Machine, content: string | Uint8Array, file = FILE) {
  const wanted = Buffer.from(content);
  await waitFor(`${machine.name}'s ${file} to be ${JSON.stringify(String(wanted))}`, async () => {
    return wanted.equals(await readFile(`${machine.folder}/${file}`));
  });
}

const BOM = "\uFEFF";
const FORMS: readonly (readonly [string, string])[] = [
  ["# One\nüç€🎉\n", "# One\nüç€🎉\nmore\n"],
  [`${BOM}# One\ntwo\n`, `${BOM}# One\ntwo\nmore\n`],
  ["# One\r\ntwo\r\n", "# One\r\ntwo\r\nmore\r\n"],
  ["# One\ntwo", "# One\ntwo\nmore"],
  [`${BOM}# One\r\ntwo`, `${BOM}# One\r\ntwo\r\nmore`],
  ["# One\r\ntwo\nthree\r\n", "# One\r\ntwo\nthree\r\nmore\n"],
  ["\n\n# One\n\n\n", "\n\n# One\n\n\n\n"],
];

scenario("every way to write a text down is the same bytes on both machines", async (lab) => {
  const [a, b] = await startBoth(lab, "forms");
  for (const versions of FORMS) {
    for (const version of versions) {
      await write(a, version);
      await untilFile(b, version);
    }
  }
});

scenario("a change of line ends alone reaches the other machine", async (lab) => {
  const [a, b] = await startBoth(lab, "line-ends");
  await write(a, "# One\ntwo\n");
  await untilFile(b, "# One\ntwo\n");
  await write(b, "# One\r\ntwo\r\n");
  await untilFile(a, "# One\r\ntwo\r\n");
  await write(a, "# One\r\ntwo");
  await untilFile(b, "# One\r\ntwo");
});

scenario("a missing file is made only where git ignores it or the user agreed", async (lab) => {
  const [a, b] = await startBoth(lab, "missing", { "README.md": "" });
  await write(a, "# Text\n");
  await waitFor("the text on b", async () => (await b.memsync("doc")) === "# Text\n");
  await b.untilSynced();
  expect(existsSync(`${b.folder}/${FILE}`)).toBe(false);
  expect((await b.fileStatus())?.note).toContain("memsync doc write");
  await b.memsync("link", "--write");
  await untilFile(b, "# Text\n");
});

scenario("a file that git knows nothing of is followed both ways", async (lab) => {
  const [a, b] = await startBoth(lab, "untracked", { "README.md": "" });
  await write(a, "# Text\n\nof a\n");
  await write(b, "# Text\n\nof b\n");
  const merged = await waitFor("both lines on both machines", async () => {
    const [onA, onB] = await Promise.all(
      [a, b].map((machine) => readFile(`${machine.folder}/${FILE}`, "utf8")),
    );
    return onA === onB && onA?.includes("of a") && onA.includes("of b") && onA;
  });
  expect(merged.match(/# Text/g)).toHaveLength(1);
});

scenario("a file keeps its mode when it is written", async (lab) => {
  const [a, b] = await startBoth(lab, "mode");
  await write(a, "# One\n");
  await untilFile(b, "# One\n");
  await chmod(`${b.folder}/${FILE}`, 0o640);
  await write(a, "# One\n\ntwo\n");
  await untilFile(b, "# One\n\ntwo\n");
  expect((await stat(`${b.folder}/${FILE}`)).mode & 0o777).toBe(0o640);
});

/** Saves an hour later, while no daemon runs: nothing of what it wrote was written lately then. */
async function writeLater(machine: Machine, content: string): Promise<void> {
  await machine.down();
  anHourLater(machine);
  await write(machine, content);
  await machine.up();
}

scenario("what came from another machine can be changed, deleted and rewritten", async (lab) => {
  const [a, b] = await startBoth(lab, "rewritten");
  await write(a, "# Old\n\nline one\n\nline two\n");
  await untilFile(b, "# Old\n\nline one\n\nline two\n");
  await writeLater(b, "# Old\n\nline one, changed\n\nline two\n");
  await untilFile(a, "# Old\n\nline one, changed\n\nline two\n");
  await writeLater(a, "# Old\n\nline one, changed again\n");
  await untilFile(b, "# Old\n\nline one, changed again\n");
  await writeLater(b, "# New\n\nnew line\n");
  await untilFile(a, "# New\n\nnew line\n");
});

scenario("a save that has not seen the last change does not undo it", async (lab) => {
  const [a, b] = await startBoth(lab, "old-buffer");
  await write(a, "# Start\n");
  await untilFile(b, "# Start\n");
  await write(b, "# Start\n\nof b\n");
  await untilFile(a, "# Start\n\nof b\n");
  await write(a, "# Start\n\nof b\n\nof a\n");
  await untilFile(b, "# Start\n\nof b\n\nof a\n");
  await write(b, "# Start\n\nof b\n\nmore of b\n");
  const both = await waitFor("the lines of both on both machines", async () => {
    const text = await readFile(`${a.folder}/${FILE}`, "utf8");
    return text.includes("more of b") && text;
  });
  expect(both).toContain("of a");
  await untilFile(b, both);
});

scenario("a save made at once after the daemon wrote the file is not overlooked", async (lab) => {
  const [a, b] = await startBoth(lab, "at-once");
  let text = "# Start\n";
  await write(a, text);
  for (let round = 0; round < 6; round++) {
    const [from, to] = round % 2 === 0 ? [a, b] : [b, a];
    await untilFile(to, text);
    text += `\n${to.name} ${round}\n`;
    await write(to, text);
    await untilFile(from, text);
  }
});

scenario("an emptied file's text goes everywhere, after a grace period", async (lab) => {
  const [a, b] = await startBoth(lab, "emptied");
  await write(b, "# Text\n");
  await untilFile(a, "# Text\n");
  await write(b, "");
  await untilFile(a, "");
});

scenario("a missing file deletes nothing, and is got back or deleted by a command", async (lab) => {
  const [a, b] = await startBoth(lab, "missing");
  await write(a, "# Text\n");
  await untilFile(b, "# Text\n");
  await rm(`${b.folder}/${FILE}`);
  const note = await waitFor("b to say that it is gone", async () => {
    const status = await b.fileStatus();
    return status?.state === "left-alone" && status.note;
  });
  expect(note).toContain("`memsync doc write`");
  expect(note).toContain("`memsync doc clear`");
  await write(a, "# Text\n\nmore\n");
  const { id } = await b.projectOf();
  await waitFor("b to have it", async () => (await b.doc(id)) === "# Text\n\nmore\n");
  expect(existsSync(`${b.folder}/${FILE}`)).toBe(false);
  expect((await b.run(["doc", "write"])).status).toBe(0);
  await untilFile(b, "# Text\n\nmore\n");
  await waitFor("b to follow it again", async () => (await b.fileStatus())?.state === "followed");
  await rm(`${b.folder}/${FILE}`);
  const unasked = await b.run(["doc", "clear"]);
  expect([unasked.status, unasked.stdout]).toEqual([1, ""]);
  expect(unasked.stderr).toStartWith("memsync: nothing was deleted: Delete 3 lines of text here");
  expect(await b.doc(id)).toBe("# Text\n\nmore\n");
  expect((await b.run(["doc", "clear", "--yes"])).status).toBe(0);
  await untilFile(a, "");
});

scenario(
  "a text that went before the service was asked is named, and sent by a command",
  async (lab) => {
    const network = await lab.network(emulator.account("unsent"));
    const folder = await lab.git.repository("a", { "README.md": "" });
    const machine = lab.machine("a", folder, network);
    network.cut();
    await writeFile(`${folder}/${FILE}`, "# Text\n");
    await machine.up();
    await waitFor("the save to be kept", async () => {
      return (await machine.memsync("doc", "history")).includes("saved here, waits");
    });
    await rm(`${folder}/${FILE}`);
    network.restore();
    const note = await waitFor("it to be said", async () => {
      const status = await machine.fileStatus();
      return status?.state === "left-alone" && status.note;
    });
    expect(note).toContain("went before its text was sent");
    const [{ rev } = { rev: "" }] = JSON.parse(
      await machine.memsync("doc", "history", "--json"),
    ) as { rev: string }[];
    await machine.memsync("doc", "restore", rev);
    await waitFor("the text", async () => (await machine.memsync("doc")) === "# Text\n");
  },
);

scenario(
  "at a terminal the text is deleted everywhere after a yes alone",
  async (lab) => {
    const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
    const all = "# Text\n\n- one\n";
    await writeFile(`${machine.folder}/${FILE}`, all);
    await machine.up();
    await waitFor("the text", async () => (await machine.memsync("doc")) === all);
    expect(await machine.memsync("status")).toContain("          3 lines (14 bytes) of ");
    for (const [answer, text, said] of [
      ["n", all, /nothing was deleted/],
      ["y", "", /deleted 3 lines on every machine/],
    ] as const) {
      await using terminal = new TerminalSession(lab, machine, ["doc", "clear"]);
      await terminal.untilShown(/Delete 3 lines of text here and on every other machine/);
      terminal.type(`${answer}\n`);
      await terminal.ended();
      expect(terminal.lines.join("\n")).toMatch(said);
      await waitFor("what was answered", async () => (await machine.memsync("doc")) === text);
    }
  },
  { needs: TERMINALS },
);

scenario("a file that is only gone for a moment loses nothing", async (lab) => {
  const [a, b] = await startBoth(lab, "moment");
  await write(a, "# Text\n");
  await untilFile(b, "# Text\n");
  await rename(`${b.folder}/${FILE}`, `${b.folder}/kept`);
  await waitFor("b to miss it", async () => {
    await b.syncOnce();
    return (await b.fileStatus())?.state === "waiting";
  });
  await rename(`${b.folder}/kept`, `${b.folder}/${FILE}`);
  await write(a, "# Text\n\nmore\n");
  await untilFile(b, "# Text\n\nmore\n");
});

scenario("other names of the file are followed where there is no CLAUDE.md", async (lab) => {
  const [a, b] = await startBoth(lab, "names");
  await write(a, "# Agents\n", "AGENTS.md");
  // A plain service does not carry how the others name it.
  const name = ON_PLAIN_SERVICE ? FILE : "AGENTS.md";
  await untilFile(b, "# Agents\n", name);
  await mkdir(`${b.folder}/.claude`);
  await write(b, "# Agents\n\nfrom b\n", name);
  await untilFile(a, "# Agents\n\nfrom b\n", "AGENTS.md");
});
