import { expect } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

/** A repository with a project for itself and one for its folder `api`, with a memory each. */
async function startBoth(lab: Lab, account: string) {
  const root = await lab.git.repository("mono", { "api/x": "" });
  const api = `${root}/api`;
  const machine = lab.machine("a", root, emulator.account(account));
  await machine.memsync("start", root, api);
  for (const [cwd, value] of [
    [root, "root"],
    [api, "api"],
  ] as const) {
    await machine.memsyncWith({ cwd }, "set", `of-${value}`, value);
  }
  const projects = { root: (await machine.projectOf()).id, api: (await machine.projectOf(api)).id };
  return { machine, root, api, projects };
}

async function makeFolder(lab: Lab): Promise<string> {
  const folder = lab.git.path("fresh");
  await mkdir(folder);
  return folder;
}

const inOneLine = (text: string) => text.replaceAll(/\n\s*/g, " ");

scenario("what `unlink` says to type means the folder, wherever it is typed", async (lab) => {
  const { machine, root, api, projects } = await startBoth(lab, "relink-advice");
  const said = inOneLine(await machine.memsyncWith({ cwd: api }, "unlink"));
  const [, again = ""] = /`memsync ([^`]+)` has them again/.exec(said) ?? [];
  expect(again).toBe(`link ${api} --id ${projects.api}`);
  await machine.memsyncWith({ cwd: api }, ...again.split(" "));
  const now = { root: (await machine.projectOf()).id, api: (await machine.projectOf(api)).id };
  expect(now).toEqual(projects);
  expect((await machine.run(["get", "of-api"], { cwd: root })).status).toBe(1);
});

scenario("a folder with a project gets another one only after a yes", async (lab) => {
  const { machine, root, api, projects } = await startBoth(lab, "relink-yes");
  await writeFile(`${root}/CLAUDE.md`, "# Root\n");
  await waitFor("the text to be taken", async () => (await machine.doc(projects.root)) !== "");
  const args = ["link", "--id", projects.api];
  const refused = await machine.run(args);
  expect(refused.status).toBe(1);
  expect(inOneLine(refused.stderr)).toContain(
    `nothing was linked: ${root} is linked to mono (${projects.root}). Link it to mono/api ` +
      `(${projects.api}) instead? What it has (1 memory, 1 line of text, without what git has committed) comes into`,
  );
  expect((await machine.projectOf()).id).toBe(projects.root);
  await using terminal = new TerminalSession(lab, machine, args);
  await terminal.untilShown(/Other\s+machines\s+are\s+told/);
  terminal.type("n\r");
  expect(await terminal.ended()).toBe(1);
  expect((await machine.projectOf()).id).toBe(projects.root);
  // So is a new project, and that it is one is said.
  const nowhere = "proj_aaaaaaaaaaaaaaaaaaaaaaaaaa";
  const unknown = await machine.run(["link", "--id", nowhere]);
  expect(inOneLine(unknown.stderr)).toContain(
    `No project ${nowhere} is known here or to the service: it becomes a new one.`,
  );
  const fresh = await machine.run(["link", await makeFolder(lab), "--id", nowhere]);
  expect([fresh.status, fresh.stderr]).toEqual([0, expect.stringContaining("becomes a new one")]);
  // The same project, and one of a folder that has none, are no question.
  await machine.memsync("link", "--id", projects.root);
  await mkdir(`${root}/web`);
  await machine.memsyncWith({ cwd: api }, "link", "../web", "--id", projects.api);
  expect((await machine.projectOf(`${root}/web`)).id).toBe(projects.api);
  await machine.memsync(...args, "--yes");
  expect((await machine.projectOf()).id).toBe(projects.api);
  expect(await machine.memsync("get", "of-root")).toBe("root");
});

scenario(
  "a folder that a path leads to is that folder, also where one stands in it",
  async (lab) => {
    const root = await lab.git.repository("mono", { "api/x": "" });
    const api = `${root}/api`;
    const machine = lab.machine("a", root, emulator.account("relink-path"));
    await machine.memsync("start", root);
    const linked = await machine.run(["link", "../api"], { cwd: api });
    expect(linked).toMatchObject({ status: 0, stdout: expect.stringContaining(`linked ${api}`) });
    expect(linked.stderr).toBe("");
  },
);

scenario("a memory that both projects have keeps both values, and its history", async (lab) => {
  const { machine, root, api, projects } = await startBoth(lab, "relink-both");
  const say = (cwd: string, ...args: string[]) => machine.memsyncWith({ cwd }, ...args);
  for (const value of ["make", "make -j8"]) await say(root, "set", "build", value);
  await say(root, "set", "dead", "deleted");
  await say(root, "rm", "dead");
  await say(api, "set", "build", "npm");
  await say(root, "set", "later", "of root, earlier");
  await say(api, "set", "later", "of api");
  await machine.memsync("link", "--id", projects.api, "--yes");
  expect(await machine.memsync("get", "build")).toBe("npm");
  const listed = async () => {
    const all: { key: string; value: string; project_id: string }[] = JSON.parse(
      await machine.memsync("conflicts", "--json"),
    );
    const here = all.filter((each) => each.project_id === projects.api);
    return here.map(({ key, value }) => [key, value]).sort();
  };
  expect(await listed()).toEqual([
    ["build", "make -j8"],
    ["later", "of root, earlier"],
  ]);
  const past = async (key: string) =>
    JSON.parse(await machine.memsync("history", key, "--json"))
      .map(({ value }: { value?: string }) => value)
      .sort();
  expect(await past("build")).toEqual(["make", "make -j8", "npm"]);
  expect(await past("dead")).toEqual(["deleted"]);
  // What came once and was settled does not come again.
  for (const key of ["build", "later"]) await machine.memsync("set", key, "settled");
  for (const id of [projects.root, projects.api]) {
    await machine.memsync("link", "--id", id, "--yes");
    await machine.memsyncWith({ cwd: root }, "sync");
  }
  expect(await machine.memsync("get", "build")).toBe("settled");
  expect(await listed()).toEqual([]);
});
