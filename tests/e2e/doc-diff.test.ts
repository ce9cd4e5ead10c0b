import { expect } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

scenario("`doc diff` shows what the file, the document and its versions differ in", async (lab) => {
  const folder = await lab.git.repository("a", { ".gitignore": "CLAUDE.md" });
  const machine = lab.machine("a", folder, emulator.account("diff"));
  const file = join(folder, "CLAUDE.md");
  const save = async (text: string) => {
    await lab.git.write(file, text);
    await waitFor("the save", async () => (await machine.memsync("doc")) === text);
  };
  await lab.git.write(file, "# Widget\n\n- make\n");
  await machine.up();
  await machine.sync();
  await save("# Widget\n\n- npm test\n");
  await save("# Widget\n\n- npm test\n- npm run lint\n");
  expect(await machine.memsync("doc", "diff", "--exit-code")).toBe("");
  const [now, before, first] = JSON.parse(await machine.memsync("doc", "history", "--json")) as {
    rev: string;
  }[];
  await machine.down();
  await lab.git.write(file, "# Widget\n\n- npm test\n- npm run format\n");
  const here = await machine.memsync("doc", "diff");
  expect(here).toBe(
    "--- document\n+++ ~/a/CLAUDE.md\n@@ -1,4 +1,4 @@\n # Widget\n \n - npm test\n" +
      "-- npm run lint\n+- npm run format\n",
  );
  expect((await machine.run(["doc", "diff", "--exit-code"])).status).toBe(1);
  expect(await machine.memsync("doc", "diff", first?.rev ?? "")).toContain(
    `--- document ${first?.rev}\n+++ ~/a/CLAUDE.md\n`,
  );
  const revisions = [first?.rev ?? "", before?.rev ?? ""];
  expect(await machine.memsync("doc", "diff", ...revisions)).toBe(
    `--- document ${revisions[0]}\n+++ document ${revisions[1]}\n` +
      "@@ -1,3 +1,3 @@\n # Widget\n \n-- make\n+- npm test\n",
  );
  const same = [now?.rev ?? "", now?.rev ?? ""];
  expect(await machine.run(["doc", "diff", "--exit-code", ...same])).toMatchObject({ status: 0 });
  const unknown = await machine.run(["doc", "diff", "nonsense"]);
  expect([unknown.status, unknown.stdout]).toEqual([1, ""]);
  const said = await machine.run(["doc", "diff", "nonsense", "--exit-code", "--json"]);
  expect([said.status, JSON.parse(said.stdout).error.code]).toEqual([2, "not-found"]);
  const trouble = await machine.run(["doc", "diff", "nonsense", "--exit-code"]);
  expect([trouble.status, trouble.stdout]).toEqual([2, ""]);
  expect(trouble.stderr).toBe(unknown.stderr);
  const json = JSON.parse(await machine.memsync("doc", "diff", "--json"));
  expect(json).toMatchObject({ from: "document", to: "~/a/CLAUDE.md", diff: here });
});

scenario("`doc diff` without a file here says so, and how to get it", async (lab) => {
  const folder = await lab.git.repository("a", { ".gitignore": "CLAUDE.md" });
  const machine = lab.machine("a", folder, emulator.account("no-file"));
  const file = join(folder, "CLAUDE.md");
  await machine.up();
  const said = async (...args: string[]) => {
    const { status, stderr } = await machine.run(["doc", "diff", ...args]);
    return [status, stderr];
  };
  const missing = "memsync: ~/a/CLAUDE.md is missing";
  const empty = `${missing}, and the document has no text`;
  expect(await said()).toEqual([1, `${empty}: there is nothing to compare\n`]);
  await lab.git.write(file, "# Widget\n");
  await waitFor("the save", async () => (await machine.memsync("doc")) === "# Widget\n");
  await rm(file);
  expect(await said()).toEqual([1, `${missing}: \`memsync doc write\` gets it\n`]);
  await machine.memsync("doc", "clear", "--yes");
  const history = JSON.parse(await machine.memsync("doc", "history", "--json"));
  const [, before] = history as { rev: string }[];
  expect(await said(before?.rev ?? "")).toEqual([
    1,
    `${empty}: name two versions, as \`memsync doc history\` lists them\n`,
  ]);
});
