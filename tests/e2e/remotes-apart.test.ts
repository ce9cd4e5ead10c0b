import { expect } from "bun:test";
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { homeOf } from "../../daemon/home/home.ts";
import { keepLinks, readKeptLinks } from "../../daemon/recovery/links-file.ts";
import { silentLog } from "../../shared/log.ts";
import { scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { holdsText } from "../support/service-data.ts";
import { bothBound, expectApart, set } from "../support/two-services.ts";

const SECRET = `token ${PLANTED.github}`;

async function valueAt(machine: Machine, cwd: string, key: string, ...args: readonly string[]) {
  const { status, stdout } = await machine.run(["get", key, ...args], { cwd });
  return status === 0 ? stdout : undefined;
}

/** What the gateway shows to a token that reaches this remote alone. */
async function shownBy(machine: Machine, remote: string, path: string): Promise<string> {
  const env = JSON.parse(await machine.memsync("env", "--remote", remote, "--json"));
  const headers = { authorization: `Bearer ${env.MEMSYNC_GATEWAY_TOKEN}` };
  return await (await fetch(`${env.MEMSYNC_GATEWAY_URL}${path}`, { headers })).text();
}

scenario("what is held of one remote is neither shown nor sent at another", async (lab) => {
  const { a, b, pa, pb, machine } = await bothBound(lab);
  const nameA = new URL(a.url).host.replace(":", "-");
  const user = ["--layer", "user"];
  const saved = await machine.run(["set", "deploy", SECRET, ...user], { cwd: pa });
  expect(saved.stderr).toContain("held: looks like a GitHub token");
  const inProject = await machine.run(["set", "key", PLANTED.otherGithub], { cwd: pb });
  expect(inProject.stderr).toContain("held: looks like a GitHub token");
  expect(await valueAt(machine, pa, "deploy", ...user)).toBe(SECRET);
  expect(await valueAt(machine, pb, "deploy", ...user)).toBeUndefined();
  expect(await valueAt(machine, pb, "key")).toBe(PLANTED.otherGithub);
  expect(await shownBy(machine, "client-b", "/v1/memories?layer=user")).not.toContain("deploy");
  expect(await shownBy(machine, nameA, "/v1/memories?layer=user")).toContain(SECRET);
  // A write of that key at the other remote is no write over what is held here.
  await set(machine, pb, "deploy", ...user);
  expect(await valueAt(machine, pa, "deploy", ...user)).toBe(SECRET);
  const { held } = await machine.status();
  expect(held.map(({ layer, key, remote }) => [layer, key, remote])).toEqual([
    ["user", "deploy", nameA],
    ["project", "key", "client-b"],
  ]);
  await machine.memsyncWith({ cwd: pb }, "rm", "key");
  expect(await valueAt(machine, pb, "key")).toBeUndefined();
  await machine.sync();
  expect([holdsText(a.data, PLANTED.github), holdsText(b.data, PLANTED.github)]).toEqual([
    false,
    false,
  ]);
  await machine.memsync("held", "allow", held[0]?.id ?? "");
  await machine.sync();
  expectApart(a, b, [PLANTED.github], ["value of deploy"]);
});

scenario("a home whose database is damaged keeps its projects' remotes", async (lab) => {
  const { a, b, pa, pb, machine } = await bothBound(lab);
  await set(machine, pa, "of-a");
  await set(machine, pb, "of-b");
  await machine.sync();
  await machine.down();
  const home = homeOf({ MEMSYNC_HOME: machine.home });
  for (const end of ["", "-wal", "-shm"]) rmSync(`${home.database}${end}`, { force: true });
  await writeFile(join(pb, "CLAUDE.md"), "# Text of pb\nlater\n");
  // Whatever the environment says by now.
  machine.service = { url: a.url, token: "mst_dev_me" };
  await machine.up(pa);
  expect(await machine.projectOf(pb)).toMatchObject({ remote: "client-b" });
  await set(machine, pb, "after-b");
  await set(machine, pa, "after-a");
  await machine.sync();
  expectApart(
    a,
    b,
    ["value of of-a", "value of after-a"],
    ["value of of-b", "value of after-b", "later"],
  );
  expect(await valueAt(machine, pb, "of-b")).toBe("value of of-b");
});

scenario("a project whose remote is not known for sure any more goes nowhere", async (lab) => {
  const { a, b, pa, pb, machine } = await bothBound(lab);
  await machine.down();
  const home = homeOf({ MEMSYNC_HOME: machine.home });
  // As a crash in the middle of a change leaves it.
  keepLinks(home, { ...readKeptLinks(home), bindings: undefined }, silentLog);
  for (const end of ["", "-wal", "-shm"]) rmSync(`${home.database}${end}`, { force: true });
  machine.service = { url: a.url, token: "mst_dev_me" };
  await machine.up(pa);
  await set(machine, pb, "nowhere");
  await machine.run(["sync", "--wait", "1"]);
  expect(await machine.projectOf(pb)).toMatchObject({ remote: "unbound", waiting: 1 });
  expect(await machine.memsync("status")).toContain(
    "kept here alone: the damaged database did not tell which service this is bound to",
  );
  expect([a, b].map(({ data }) => holdsText(data, "value of nowhere"))).toEqual([false, false]);
  await machine.memsync("remote", "add", "client-b", b.url);
  machine.service = undefined;
  await machine.memsyncWith(
    { stdin: "mst_dev_me" },
    ...["login", "--remote", "client-b", "--token-stdin"],
  );
  await machine.memsync("link", pb, "--remote", "client-b");
  await machine.run(["sync", "--wait", "5"]);
  expectApart(a, b, [], ["value of nowhere"]);
});

scenario(
  "a project is deleted at its remote, be nothing else there linked any more",
  async (lab) => {
    const { a, b, pb, machine } = await bothBound(lab);
    await set(machine, pb, "gone");
    await machine.sync();
    const { id } = await machine.projectOf(pb);
    await machine.memsyncWith({ cwd: pb }, "unlink");
    await machine.memsync("project", "rm", id, "--yes");
    await machine.sync();
    expect((await machine.status()).unlinked).toEqual([]);
    expect(await machine.memsync("logs")).toMatch(/deleted {4}pb\n/);
    const headers = { authorization: "Bearer mst_dev_me" };
    const idsAt = async ({ url }: typeof a) => {
      const answer = await (await fetch(`${url}/api/projects`, { headers })).json();
      return (answer as { projects: { id: string }[] }).projects.map((each) => each.id);
    };
    expect([await idsAt(a), await idsAt(b)]).toEqual([[expect.any(String)], []]);
  },
);
