import { expect } from "bun:test";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const OLD_URL = "https://example.com/team/app.git";
const NEW_URL = "https://example.org/team/renamed.git";

/** A machine that follows a repository whose `origin` is at the first URL. */
async function startOne(lab: Lab, account: string): Promise<Machine> {
  const folder = await lab.git.repository("a", { ".gitignore": FILE });
  await lab.git.run(folder, "remote", "add", "origin", OLD_URL);
  const machine = lab.machine("a", folder, emulator.account(account));
  await machine.up();
  await machine.memsync("set", "key", "value");
  return machine;
}

async function repositoryNote(machine: Machine): Promise<string | null | undefined> {
  return (await machine.fileStatus())?.repository;
}

async function untilNoted(machine: Machine): Promise<string> {
  return await waitFor("a note about the repository", () => repositoryNote(machine));
}

/** The id in a note's command. */
function idIn(note: string): string {
  const [, id] = /memsync link --id (proj_\w+)/.exec(note) ?? [];
  if (id !== undefined) return id;
  throw new Error(`no command in: ${note}`);
}

scenario("a project stays what it is when its remote gets another URL", async (lab) => {
  const machine = await startOne(lab, "url");
  const { id, name } = await machine.projectOf();
  await lab.git.run(machine.folder, "remote", "set-url", "origin", NEW_URL);
  const note = await untilNoted(machine);
  await machine.memsync("link");
  await machine.memsync("up");
  expect((await machine.projectOf()).id).toBe(id);
  await machine.down();
  await machine.up();
  expect(await machine.projectOf()).toMatchObject({ id, name });
  expect(idIn(await untilNoted(machine))).toBe(idIn(note));
  expect(await machine.memsync("status")).toContain(idIn(note));
});

scenario("told so, it becomes the project that other clones of the new URL are", async (lab) => {
  const machine = await startOne(lab, "url-moved");
  const { id } = await machine.projectOf();
  await writeFile(`${machine.folder}/${FILE}`, "# Of both\n");
  await lab.git.run(machine.folder, "remote", "set-url", "origin", NEW_URL);
  const other = await lab.git.repository("b", { ".gitignore": FILE });
  await lab.git.run(other, "remote", "add", "origin", NEW_URL);
  const b = lab.machine("b", other, machine.service);
  await b.up();
  const moved = idIn(await untilNoted(machine));
  expect((await b.projectOf()).id).toBe(moved);
  await machine.memsync("link", "--id", moved, "--yes");
  expect((await machine.projectOf()).id).toBe(moved);
  await waitFor("the memory and the text on b", async () => {
    const text = await readFile(`${other}/${FILE}`, "utf8").catch(() => "");
    return text === "# Of both\n" && (await b.list()).some(({ key }) => key === "key");
  });
  expect(await repositoryNote(machine)).toBeNull();
  expect(await machine.memsync("get", "key", "--project", id)).toBe("value");
  await machine.memsync("link");
  expect((await machine.projectOf()).id).toBe(moved);
});

scenario(
  "a folder of a monorepo that git renamed keeps its project, and says how elsewhere",
  async (lab) => {
    const machine = await startOne(lab, "folder-renamed");
    const { folder } = machine;
    const at = (name: string) => join(folder, "packages", name);
    await lab.git.commit(folder, { "packages/api/index.ts": "" });
    await machine.memsync("link", at("api"));
    const run = (name: string, ...args: string[]) =>
      machine.memsyncWith({ cwd: at(name) }, ...args);
    await run("api", "set", "port", "4100");
    const linked = async () =>
      (await machine.status()).projects.filter((each) => each.folders.length);
    const idOf = async (name: string) =>
      (await linked()).find(({ folders }) => folders.some(({ dir }) => dir === at(name)))?.id;
    const id = await idOf("api");
    // Twice, so that the path before is not the one that the project was named by.
    for (const [from, to] of [
      ["api", "server"],
      ["server", "backend"],
    ] as const) {
      await lab.git.run(folder, "mv", `packages/${from}`, `packages/${to}`);
      await lab.git.commit(folder, {});
      expect(await run(to, "get", "port")).toBe("4100");
      const note = await waitFor("a note about the folder", async () => {
        const found = (await linked()).flatMap(({ folders }) => folders);
        return found.find(({ dir }) => dir === at(to))?.repository;
      });
      expect(note).toContain(`memsync link ${at(to)} --id ${id}`);
      expect(await idOf(to)).toBe(id);
    }
    await machine.memsync("link", at("backend"), "--id", `${id}`);
    expect(await run("backend", "get", "port")).toBe("4100");
    const { folders } = (await linked()).find((each) => each.id === id) ?? { folders: [] };
    expect(folders.map(({ repository }) => repository)).toEqual([null]);
  },
);

scenario("a project keeps its name when its remote is removed", async (lab) => {
  const machine = await startOne(lab, "no-remote");
  const { id } = await machine.projectOf();
  await lab.git.run(machine.folder, "remote", "remove", "origin");
  await machine.memsync("link");
  expect((await machine.projectOf()).id).toBe(id);
});

scenario(
  "a project that gets its first remote is said to have one, and moves then",
  async (lab) => {
    const folder = await lab.git.repository("a", { ".gitignore": FILE });
    const machine = lab.machine("a", folder, emulator.account("first-remote"));
    await machine.up();
    await machine.memsync("set", "key", "value");
    const { id } = await machine.projectOf();
    await lab.git.run(folder, "remote", "add", "origin", NEW_URL);
    expect(await untilNoted(machine)).toContain("`memsync link` there");
    await machine.memsync("link");
    expect((await machine.projectOf()).id).not.toBe(id);
    expect(await machine.memsync("get", "key")).toBe("value");
    expect(await repositoryNote(machine)).toBeNull();
  },
);

scenario("another repository in the same folder gets nothing of the first one's", async (lab) => {
  const machine = await startOne(lab, "other-repository");
  const { id } = await machine.projectOf();
  await rm(`${machine.folder}/.git`, { recursive: true });
  await lab.git.run(machine.folder, "init", "-q", "-b", "main");
  await lab.git.commit(machine.folder, { ".gitignore": FILE, "other.txt": "other\n" });
  await lab.git.run(machine.folder, "remote", "add", "origin", NEW_URL);
  await machine.memsync("link");
  expect((await machine.projectOf()).id).not.toBe(id);
  expect((await machine.run(["get", "key"])).status).toBe(1);
  expect(await machine.memsync("get", "key", "--project", id)).toBe("value");
});

scenario("a fork is a project of its own", async (lab) => {
  const machine = await startOne(lab, "fork");
  const fork = lab.git.path("fork");
  await lab.git.run(lab.git.folder, "clone", "-q", machine.folder, fork);
  await lab.git.run(fork, "remote", "set-url", "origin", "https://example.com/me/app.git");
  await lab.git.run(fork, "remote", "add", "upstream", OLD_URL);
  await machine.memsync("link", fork);
  const { id } = await machine.projectOf();
  const forked = (await machine.projectOf(fork)).id;
  expect(forked).not.toBe(id);
  await writeFile(`${fork}/${FILE}`, "# Of the fork\n");
  await writeFile(`${machine.folder}/${FILE}`, "# Of the first\n");
  await waitFor("both texts", async () => {
    const texts = await Promise.all([id, forked].map((each) => machine.doc(each)));
    return texts[0] === "# Of the first\n" && texts[1] === "# Of the fork\n";
  });
  expect((await machine.memsyncWith({ cwd: fork }, "list")).trim()).not.toContain("value");
});

scenario(
  "folders of one repository are apart, one inside another, in each worktree",
  async (lab) => {
    const main = await lab.git.repository("main", {
      ".gitignore": FILE,
      "web/ui/x": "",
      "api/x": "",
    });
    const other = lab.git.path("other");
    await lab.git.run(main, "worktree", "add", "-q", "-b", "side", other);
    const machine = lab.machine("a", main, emulator.account("monorepo"));
    await machine.up(main, `${main}/web`, `${main}/web/ui`, `${main}/api`, `${other}/web`);
    const ids = new Map<string, string>();
    for (const folder of ["", "/web", "/web/ui", "/api"]) {
      ids.set(folder, (await machine.projectOf(main + folder)).id);
      await writeFile(`${main}${folder}/${FILE}`, `# Of ${folder}\n`);
      await machine.memsyncWith({ cwd: main + folder }, "set", "where", folder);
    }
    expect(new Set(ids.values()).size).toBe(4);
    expect((await machine.projectOf(`${other}/web`)).id).toBe(ids.get("/web") as string);
    for (const [folder, id] of ids) {
      await waitFor(`the text of ${folder}`, async () => {
        return (await machine.doc(id)) === `# Of ${folder}\n`;
      });
      expect(await machine.memsyncWith({ cwd: main + folder }, "get", "where")).toBe(folder);
    }
    await waitFor("the text in the other worktree", async () => {
      return (await readFile(`${other}/web/${FILE}`, "utf8").catch(() => "")) === "# Of /web\n";
    });
    await mkdir(`${main}/api/deep/below`, { recursive: true });
    expect(await machine.memsyncWith({ cwd: `${main}/api/deep/below` }, "get", "where")).toBe(
      "/api",
    );
  },
);

scenario("`link`, `link .` and `up` mean one folder in a monorepo, and say which", async (lab) => {
  const main = await lab.git.repository("main", { "web/x": "", "api/src/x": "" });
  const machine = lab.machine("a", main, emulator.account("monorepo-link"));
  await machine.memsync("start");
  const link = (cwd: string, ...args: string[]) => machine.run(["link", ...args], { cwd });
  const ofTop = { status: 0, stdout: expect.stringContaining(`linked ${main} to main`) };
  const hint = (folder: string) =>
    `${main} is the project that this folder is in; \`memsync link ${folder}\``;
  for (const args of [[], ["."], ["./"]]) {
    const linked = await link(`${main}/web`, ...args);
    expect([args, linked]).toMatchObject([args, ofTop]);
    expect(linked.stderr).toContain(hint(`${main}/web`));
  }
  expect(await link(main)).toMatchObject({ ...ofTop, stderr: "" });
  expect(await link(`${main}/web`, "..")).toMatchObject({ ...ofTop, stderr: "" });
  // What it says to do makes it one of its own, which counts below it from then on.
  expect(await link(`${main}/api`, `${main}/api`)).toMatchObject({
    stdout: expect.stringContaining(`linked ${main}/api to main/api`),
    stderr: "",
  });
  for (const args of [[], ["."]]) {
    const linked = await link(`${main}/api/src`, "--json", ...args);
    expect(JSON.parse(linked.stdout)).toMatchObject({ dir: `${main}/api` });
  }
  const { stdout } = await machine.run(["start", "."], { cwd: `${main}/api/src` });
  expect(stdout).toContain("running already; linked there");
  const dirs = async () =>
    (await machine.status()).projects.flatMap(({ folders }) => folders.map(({ dir }) => dir));
  expect(await dirs()).toEqual([main, `${main}/api`]);
  expect((await machine.run(["unlink"], { cwd: `${main}/api/src` })).stdout).toContain(
    `${main}/api;`,
  );
  expect(await dirs()).toEqual([main]);
});

scenario("a path that is no folder is blamed, whether a daemon runs or not", async (lab) => {
  const folder = await lab.git.repository("a", { file: "" });
  const machine = lab.machine("a", folder, emulator.account("nowhere"));
  const blamed = async () => {
    for (const command of ["link", "up", "start"]) {
      for (const path of [lab.git.path("nowhere"), join(folder, "file")]) {
        expect([command, await machine.run([command, path])]).toMatchObject([
          command,
          { status: 1, stdout: "", stderr: `memsync: ${path} is not a folder\n` },
        ]);
      }
    }
  };
  await blamed();
  expect(machine.holder()).toBeUndefined();
  await machine.memsync("start");
  await blamed();
});
