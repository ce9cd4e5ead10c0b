import { expect } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const OWN = "MINE-ALONE";
const END = "<!-- memsync:personal end -->";

/** A user whose `~/.codex/AGENTS.md` is a link to the project's file in `~/dots`. */
function annaAndBen(lab: Lab, service: ServiceConfig): [Machine, Machine] {
  const [a, b] = ["a", "b"].map((name) => {
    const home = lab.git.path(`user-${name}`);
    const machine = lab.machine(name, join(home, "dots"), service);
    mkdirSync(machine.folder, { recursive: true });
    machine.variables = { HOME: home, XDG_CONFIG_HOME: "", CLAUDE_CONFIG_DIR: "", CODEX_HOME: "" };
    return machine;
  }) as [Machine, Machine];
  for (const folder of [".claude", ".codex"]) mkdirSync(join(dirname(a.folder), folder));
  writeFileSync(join(dirname(a.folder), ".claude", "CLAUDE.md"), "# Claude\n");
  writeFileSync(join(a.folder, "AGENTS.md"), "# Of all\n");
  symlinkSync("../dots/AGENTS.md", join(dirname(a.folder), ".codex", "AGENTS.md"));
  return [a, b];
}

const shared = ({ folder }: Machine) => readFileSync(join(folder, "AGENTS.md"), "utf8");
const claude = ({ folder }: Machine) =>
  readFileSync(join(dirname(folder), ".claude", "CLAUDE.md"), "utf8");

async function writeOwn(machine: Machine): Promise<void> {
  const path = join(dirname(machine.folder), ".claude", "CLAUDE.md");
  writeFileSync(path, claude(machine).replace(END, `${OWN}\n${END}`));
}

/** What the project has at the service, as the other machine knows it. */
async function docAt(machine: Machine): Promise<string> {
  await machine.untilSynced();
  return await machine.doc((await machine.projectOf()).id);
}

async function linkBoth(a: Machine, b: Machine): Promise<void> {
  await a.memsync("link", "--write");
  const { id } = await a.projectOf();
  await b.memsync("link", "--write", "--id", id);
}

scenario(
  "a file with one's own text that is linked afterwards stays out of the project",
  async (lab) => {
    const [a, b] = annaAndBen(lab, emulator.account("personal-first"));
    for (const machine of [a, b]) await machine.up(machine.folder);
    await a.memsync("unlink");
    await b.memsync("unlink");
    await a.memsync("personal", "on", "claude", "codex", "--yes");
    await writeOwn(a);
    await waitFor("the text in both", () => shared(a).includes(OWN));
    await linkBoth(a, b);
    await waitFor("the file to be held", async () => (await a.fileStatus())?.state === "held");
    const { stdout } = await a.run(["status"]);
    expect(stdout).toContain("has a personal text between memsync's marks");
    expect(await docAt(b)).not.toContain(OWN);
    // It is still one's own.
    writeFileSync(join(a.folder, "AGENTS.md"), shared(a).replace(END, `second\n${END}`));
    await waitFor("the edit in the other file", () => claude(a).includes("second"));
    await a.memsync("personal", "off", "codex", "--yes");
    await waitFor("the project to have the rest", async () => (await docAt(b)) === "# Of all\n");
    expect(shared(a)).toBe("# Of all\n");
  },
);

scenario("a project's file gets no text of one's own, and gives none", async (lab) => {
  const [a, b] = annaAndBen(lab, emulator.account("link-first"));
  for (const machine of [a, b]) await machine.up();
  await linkBoth(a, b);
  await waitFor("the project's text", async () => (await docAt(b)) === "# Of all\n");
  const refused = await a.run(["personal", "on", "codex", "--yes"]);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain("which others see and write");
  const left = await a.run(["personal", "on", "claude", "codex", "--yes"]);
  expect(left.stderr).toContain("Codex is left out: it is a file of the project");
  await writeOwn(a);
  await a.memsync("sync");
  expect(shared(a)).toBe("# Of all\n");
});

scenario("a held file stays held without the marks, also if it was empty between", async (lab) => {
  const [a, b] = annaAndBen(lab, emulator.account("without-marks"));
  for (const machine of [a, b]) await machine.up(machine.folder);
  await a.memsync("unlink");
  await b.memsync("unlink");
  await a.memsync("personal", "on", "claude", "codex", "--yes");
  await writeOwn(a);
  await waitFor("the text in both", () => shared(a).includes(OWN));
  await linkBoth(a, b);
  await waitFor("the file to be held", async () => (await a.fileStatus())?.state === "held");
  writeFileSync(join(a.folder, "AGENTS.md"), "");
  await waitFor(
    "nothing to be held",
    async () => (await a.run(["held", "--json"])).stdout === "[]\n",
  );
  writeFileSync(join(a.folder, "AGENTS.md"), `# Of all, tidied\n\n${OWN}\n`);
  await waitFor("the lines to be told", async () => {
    return (await a.run(["status"])).stdout.includes("1 line of your personal text");
  });
  const { stdout } = await a.run(["held", "--json"]);
  expect(await docAt(b)).not.toContain(OWN);
  const [item] = JSON.parse(stdout);
  await a.memsync("held", "allow", item.id);
  await waitFor("what was allowed", async () => (await docAt(b)).includes(OWN));
});

scenario(
  "a block that a project brought is asked about before it is one's own text",
  async (lab) => {
    const [a, b] = annaAndBen(lab, emulator.account("brought-block"));
    for (const machine of [a, b]) await machine.up();
    await linkBoth(a, b);
    await waitFor("the project's text", async () => (await docAt(b)) === "# Of all\n");
    await a.memsync("personal", "on", "claude", "--yes");
    await writeOwn(a);
    const block = claude(a).slice(claude(a).indexOf("<!-- memsync:personal begin"));
    writeFileSync(join(b.folder, "AGENTS.md"), `# Of all\n${block.replace(OWN, "OF-BEN")}`);
    await waitFor("ben's block to be held", async () => (await b.fileStatus())?.state === "held");
    const [item] = JSON.parse((await b.run(["held", "--json"])).stdout);
    await b.memsync("held", "allow", item.id);
    await waitFor("ben's block", () => shared(a).includes("OF-BEN"));
    await a.memsync("unlink");
    const on = await a.run(["personal", "on", "codex", "--yes"]);
    expect(on.stdout).toContain("what your text lacks of it is asked about");
    expect((await a.run(["status"])).stdout).toContain("`memsync personal take codex`");
    expect(claude(a)).not.toContain("OF-BEN");
    const taken = await a.run(["personal", "take", "codex", "--yes"]);
    expect(taken.stdout).toContain("OF-BEN");
    await waitFor("both in both", () =>
      [OWN, "OF-BEN"].every((line) => claude(a).includes(line) && shared(a).includes(line)),
    );
  },
);
