import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HeldStatus } from "../../daemon/status/held-status.ts";
import { scenario } from "../support/lab.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { holdsText } from "../support/service-data.ts";
import { bothBound, expectApart, login, project, service, set } from "../support/two-services.ts";
import { waitFor } from "../support/wait-for.ts";

scenario("what is bound to one remote never reaches the other's service", async (lab) => {
  const { a, b, pa, pb, machine } = await bothBound(lab);
  for (const layer of ["project", "user", "global"]) {
    await set(machine, pa, `a-${layer}`, "--layer", layer);
    await set(machine, pb, `b-${layer}`, "--layer", layer);
  }
  await set(machine, "/", "b-named", "--layer", "user", "--remote", "client-b");
  await set(machine, "/", "a-outside", "--layer", "user");
  await machine.sync();
  const layers = ["project", "user", "global"];
  const ofA = [...layers.map((layer) => `value of a-${layer}`), "Text of pa", "a-outside"];
  const ofB = [...layers.map((layer) => `value of b-${layer}`), "Text of pb", "b-named"];
  expectApart(a, b, ofA, ofB);
  // Another run, whose environment names the other service; and writes without a daemon.
  await machine.down("SIGKILL");
  await set(machine, pb, "b-offline", "--layer", "user");
  await set(machine, pb, "b-offline-project");
  machine.service = { url: b.url, token: "mst_dev_me" };
  await machine.up(pa, pb);
  await set(machine, pa, "a-later", "--layer", "global");
  await set(machine, pa, "a-later-project");
  await machine.sync();
  const later = ["a-later", "value of a-later-project"];
  expectApart(a, b, [...ofA, ...later], [...ofB, "b-offline", "value of b-offline-project"]);
  expect((await machine.run(["get", "b-user"], { cwd: pa })).status).toBe(1);
  expect(await machine.memsyncWith({ cwd: pb }, "get", "b-user")).toBe("value of b-user");
});

scenario("a project has one remote, and changes it only when told to", async (lab) => {
  const { a, b, pa, pb, machine } = await bothBound(lab);
  const { id } = await machine.projectOf(pb);
  const twin = await project(lab, "twin");
  const refused = await machine.run(["link", twin, "--id", id, "--remote", "127.0.0.1"]);
  expect([refused.status, refused.stderr]).toEqual([
    1,
    "memsync: there is no remote 127.0.0.1: `memsync remote list` shows those there are\n",
  ]);
  const name = new URL(a.url).host.replace(":", "-");
  const elsewhere = await machine.run(["link", twin, "--id", id, "--remote", name]);
  expect(elsewhere.status).toBe(1);
  expect(elsewhere.stderr).toContain(
    `${pb} is linked to this project, too, and the project is bound`,
  );
  // Linked again without a word, it stays where it is.
  await machine.memsync("unlink", pb);
  await machine.memsync("link", pb, "--id", id);
  expect(await machine.projectOf(pb)).toMatchObject({ id, remote: "client-b" });
  await set(machine, pb, "before");
  await machine.untilSynced();
  expect(await machine.memsync("link", pb, "--remote", name)).toContain(`bound to ${name}`);
  await set(machine, pb, "after");
  await machine.untilSynced();
  expect([holdsText(a.data, "value of before"), holdsText(a.data, "value of after")]).toEqual([
    true,
    true,
  ]);
  expect([holdsText(b.data, "value of before"), holdsText(b.data, "value of after")]).toEqual([
    true,
    false,
  ]);
  expect(await readFile(join(pb, "CLAUDE.md"), "utf8")).toBe("# Text of pb\n");
  expect(await machine.projectOf(pa)).toMatchObject({ remote: name });
});

scenario("a gateway token of a remote reaches that remote alone", async (lab) => {
  const { pa, pb, machine } = await bothBound(lab);
  await set(machine, pa, "of-a", "--layer", "user");
  await set(machine, pb, "of-b", "--layer", "user");
  const [{ id: idA }, { id: idB }] = [await machine.projectOf(pa), await machine.projectOf(pb)];
  const env = JSON.parse(await machine.memsync("env", "--remote", "client-b", "--json"));
  const ask = async (path: string, token: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}` };
    return await fetch(`${env.MEMSYNC_GATEWAY_URL}${path}`, { headers, ...init });
  };
  const pinned = env.MEMSYNC_GATEWAY_TOKEN as string;
  const usual = JSON.parse(await machine.memsync("env", "--json")).MEMSYNC_GATEWAY_TOKEN;
  const keysAt = async (path: string, token: string) => {
    const { memories } = (await (await ask(path, token)).json()) as { memories: { key: string }[] };
    return memories.map(({ key }) => key);
  };
  expect(await keysAt("/v1/memories?layer=user", pinned)).toEqual(["of-b"]);
  expect(await keysAt("/v1/memories?layer=user", usual)).toEqual(["of-a"]);
  expect(await keysAt(`/v1/memories?layer=user&project_id=${idB}`, usual)).toEqual(["of-b"]);
  const { projects } = (await (await ask("/v1/projects", pinned)).json()) as {
    projects: { id: string }[];
  };
  expect(projects.map(({ id }) => id)).toEqual([idB]);
  expect((await ask(`/v1/projects/${idA}`, pinned)).status).toBe(404);
  const put = { method: "POST", body: JSON.stringify({ id: idA, name: "taken" }) };
  expect((await ask("/api/projects", pinned, put)).status).toBe(404);
  const both = { project_id: idA, target_project_id: idB };
  const connect = { method: "POST", body: JSON.stringify(both) };
  expect((await ask("/api/projects/connect", usual, connect)).status).toBe(400);
});

scenario("a login that is killed at each of its steps loses nothing", async (lab) => {
  const a = await service(lab, "a");
  const [one, two] = [await project(lab, "one"), await project(lab, "two")];
  const machine = lab.machine("mover", one);
  await machine.up(one, two);
  await set(machine, one, "of-one");
  await set(machine, two, "of-two");
  await set(machine, one, "own", "--layer", "user");
  await machine.untilSynced();
  const ids = [(await machine.projectOf(one)).id, (await machine.projectOf(two)).id];
  const args = ["login", "--url", a.url, "--token-stdin", "--move", "--yes"];
  const steps = [/logged in/, /the token is/, /moved the project one/, /moved the project two/];
  for (const [at, step] of steps.entries()) {
    // With the daemon and without it: then the command makes the changes itself.
    if (at % 2 === 0) await machine.down("SIGKILL");
    const killed = machine.spawn(args, { stdin: "mst_dev_mover" });
    // The one before may have come further than it had printed.
    await waitFor(`${step}`, () => step.test(killed.stdout) || !killed.running);
    await killed.end("SIGKILL");
    const remotes = JSON.parse(await machine.memsync("remote", "list", "--json")) as {
      projects: { id: string }[];
    }[];
    const bound = remotes.flatMap(({ projects }) => projects.map(({ id }) => id));
    expect(bound.sort()).toEqual([...ids].sort());
    for (const [cwd, key] of [
      [one, "of-one"],
      [two, "of-two"],
    ] as const) {
      expect(await machine.memsyncWith({ cwd }, "get", key)).toBe(`value of ${key}`);
    }
    if (at % 2 === 0) await machine.up();
  }
  await login(machine, a, "--move");
  await machine.untilSynced();
  for (const key of ["of-one", "of-two", "own"]) {
    expect([key, holdsText(a.data, `value of ${key}`)]).toEqual([key, true]);
  }
  expect(await machine.memsync("get", "own")).toBe("value of own");
  expect(await machine.memsync("conflicts")).toBe("no conflicts\n");
});

scenario("a running daemon takes over a login and a logout, and no write is lost", async (lab) => {
  const a = await service(lab, "a");
  const folder = await project(lab, "p");
  const machine = lab.machine("taken", folder);
  await machine.up();
  const { id } = await machine.projectOf();
  const written: string[] = [];
  let over = false;
  const writing = (async () => {
    while (!over) {
      const key = `written-${written.length}`;
      const body = { key, content: `value of ${key}`, layer: "project" };
      await machine.ask("POST", "/v1/memories", { ...body, project_id: id });
      written.push(key);
    }
  })();
  await login(machine, a, "--move");
  await machine.memsync("logout");
  expect(await machine.memsync("status")).toContain(
    "can't be called: no token: run `memsync login",
  );
  await login(machine, a);
  over = true;
  await writing;
  await machine.untilSynced();
  const missing = written.filter((key) => !holdsText(a.data, `value of ${key}`));
  expect(missing).toEqual([]);
  expect(written.length).toBeGreaterThan(5);
});

scenario(
  "what followed the environment stays with its service once remotes have names",
  async (lab) => {
    const [a, b] = [await service(lab, "a"), await service(lab, "b")];
    const folder = await project(lab, "p");
    const machine = lab.machine("named", folder, { url: a.url, token: "mst_dev_named" });
    await machine.up();
    await set(machine, folder, "before");
    await machine.untilSynced();
    await machine.memsync("remote", "add", "other", "--url", b.url);
    await machine.down();
    machine.service = { url: b.url, token: "mst_dev_named" };
    await machine.up();
    await set(machine, folder, "after");
    await set(machine, folder, "own-after", "--layer", "user");
    const { message } =
      (await machine.status()).remotes.find(({ default: usual }) => !usual)?.service ?? {};
    expect(message).toContain("no token: run `memsync login");
    expect([holdsText(b.data, "value of before"), holdsText(b.data, "value of after")]).toEqual([
      false,
      false,
    ]);
    expect(holdsText(b.data, "own-after")).toBe(false);
    await login(machine, a);
    await waitFor("the first service to have it", () => holdsText(a.data, "value of after"));
    await waitFor("the own memory, too", () => holdsText(a.data, "value of own-after"));
    expect(holdsText(b.data, "value of after")).toBe(false);
  },
);

scenario("a remote that nothing is bound to yet is shown as such", async (lab) => {
  const { b, machine, pb } = await bothBound(lab);
  const shown = async () => (await machine.memsync("status")).replaceAll(/\n\s+/g, " ");
  await machine.memsync("remote", "add", "spare", b.url);
  expect((await shown()).replaceAll(/ +/g, " ")).toContain(
    `remote spare ${b.url}: no token: \`memsync login --remote spare\`; ` +
      "nothing here is bound to it: `memsync link --remote spare`",
  );
  expect((await machine.status()).unused_remotes).toEqual([
    { name: "spare", url: `${b.url}`, has_token: false },
  ]);
  await machine.memsync("link", pb, "--remote", "spare");
  const now = (await machine.status()).unused_remotes.map(({ name }) => name);
  expect(now).toEqual(["client-b"]);
});

scenario("`remote rm` is not kept from it by projects that were deleted", async (lab) => {
  const { b, machine, pb } = await bothBound(lab);
  await machine.untilSynced();
  const said = await login(machine, b, "--remote", "client-b");
  expect(said).toContain("1 project is bound to it: pb\n");
  const { id } = await machine.projectOf(pb);
  await machine.memsync("project", "rm", id, "--yes");
  await machine.untilSynced();
  await machine.memsync("unlink", pb);
  await machine.memsync("remote", "rm", "client-b");
  const listed = (await machine.status()).remotes.map(({ name }) => name);
  expect(listed).not.toContain("client-b");
});

scenario(
  "a remote whose service is gone for good can be removed, and nothing is lost",
  async (lab) => {
    const { b, machine, pb } = await bothBound(lab);
    await machine.untilSynced();
    const { id } = await machine.projectOf(pb);
    await b.end();
    await set(machine, pb, "own", "--layer", "user");
    await machine.memsync("project", "rm", id, "--yes");
    await machine.memsync("unlink", pb);
    const refused = await machine.run(["remote", "rm", "client-b"]);
    expect(refused.status).toBe(1);
    expect(refused.stderr.replaceAll(/\n\s*/g, " ")).toContain(
      "client-b was not told yet of what was deleted (pb): `memsync sync` first, or say --gone",
    );
    await machine.memsync("remote", "rm", "client-b", "--gone");
    const listed = (await machine.status()).remotes.map(({ name }) => name);
    expect(listed).not.toContain("client-b");
    const kept = await machine.memsync("get", "own", "--layer", "user", "--remote", "embedded");
    expect(kept).toBe("value of own");
  },
);

scenario(
  "a remote that is gone can be removed once its project is linked to no folder",
  async (lab) => {
    const { b, machine, pb } = await bothBound(lab);
    await machine.untilSynced();
    await b.end();
    await set(machine, pb, "late");
    const { id } = await machine.projectOf(pb);
    const linked = await machine.run(["remote", "rm", "client-b", "--gone"]);
    expect(linked.stderr.replaceAll(/\n\s*/g, " ")).toContain("bind each to another remote");
    await machine.memsync("unlink", pb);
    const refused = await machine.run(["remote", "rm", "client-b"]);
    expect(refused.stderr.replaceAll(/\n\s*/g, " ")).toContain("linked to no folder here");
    await machine.memsync("remote", "rm", "client-b", "--gone");
    await machine.memsync("link", pb, "--id", id);
    expect(await machine.memsync("get", "late", "--project", pb)).toBe("value of late");
  },
);

scenario(
  "`remote rm` keeps what is bound, and a new remote of that name starts empty",
  async (lab) => {
    const { a, b, pb, machine } = await bothBound(lab);
    await set(machine, pb, "secret-of-b", "--layer", "user");
    await machine.untilSynced();
    const refused = await machine.run(["remote", "rm", "client-b"]);
    expect([refused.status, refused.stderr]).toMatchObject([
      1,
      expect.stringContaining("a project is bound"),
    ]);
    const name = new URL(a.url).host.replace(":", "-");
    await machine.memsync("link", pb, "--remote", name);
    await machine.memsync("remote", "rm", "client-b");
    await machine.memsync("remote", "add", "client-b", a.url);
    expect(await machine.list("--remote", "client-b")).toEqual([]);
    await machine.untilSynced();
    expect([holdsText(a.data, "secret-of-b"), holdsText(b.data, "secret-of-b")]).toEqual([
      false,
      true,
    ]);
    await writeFile(join(pb, "CLAUDE.md"), "# Text of pb\n\nLater.\n");
    await waitFor("the later text", async () => {
      await machine.untilSynced();
      return holdsText(a.data, "Later.");
    });
  },
);

scenario("of two remotes that hold a write of one key, one says which is meant", async (lab) => {
  const { pa, pb, machine } = await bothBound(lab);
  for (const cwd of [pa, pb]) {
    await machine.memsyncWith({ cwd }, "set", "k", `${PLANTED.github} ${cwd}`, "--layer", "user");
  }
  const held = JSON.parse(await machine.memsync("held", "--json")) as HeldStatus[];
  const [id = "", ...others] = held.map((item) => item.id);
  expect(others).toEqual([id]);
  for (const verb of ["show", "allow", "drop"]) {
    const { status, stderr } = await machine.run(["held", verb, id]);
    expect([verb, status]).toEqual([verb, 1]);
    expect(stderr).toContain(`${id} is held for several remotes: say which by --remote`);
  }
  const shown = await machine.memsync("held", "show", id, "--remote", "client-b");
  expect(shown).toBe(`${PLANTED.github} ${pb}`);
  await machine.memsync("held", "drop", id, "--remote", "client-b");
  expect(await machine.memsync("held", "show", id)).toBe(`${PLANTED.github} ${pa}`);
});
