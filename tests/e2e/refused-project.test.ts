import { expect } from "bun:test";
import { mkdir } from "node:fs/promises";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import { startHost } from "../support/host-server.ts";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { Assistant } from "../support/mcp-client.ts";
import { projectId } from "../support/project-id.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

const BOUND = projectId("bound");

const CODES: Readonly<Record<number, string>> = { 403: "forbidden", 404: "not_found" };

/** The body of a call about several projects. */
interface Batch {
  readonly crdt: { readonly projects?: Record<string, unknown> };
}

/** A way to a service that answers calls about one project as `answer` says, while it says so. */
function openGate(target: string, answer: (path: string) => number | undefined) {
  /** Takes what is answered so out of a call about several projects, and puts the answers in. */
  const withoutShut = async (text: string, pass: (text: string) => Promise<Response>) => {
    const { crdt } = JSON.parse(text) as Batch;
    const refused = Object.keys(crdt.projects ?? {}).flatMap((id) => {
      const code = CODES[answer(`/api/projects/${id}/sync`) ?? 0];
      delete crdt.projects?.[code === undefined ? "" : id];
      const error = { code, message: "not for you", request_id: "req_x" };
      return code === undefined ? [] : [[id, { error }] as const];
    });
    const passed = await pass(JSON.stringify({ crdt }));
    if (refused.length === 0) return new Response(await passed.text(), passed);
    const answered = (await passed.json()) as Batch;
    Object.assign(answered.crdt.projects ?? {}, Object.fromEntries(refused));
    return Response.json(answered);
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const status = answer(pathname);
      if (status !== undefined) {
        return Response.json({ error: { code: "x", message: "not for you" } }, { status });
      }
      const body = request.method === "POST" ? await request.text() : undefined;
      const headers = new Headers(request.headers);
      for (const name of ["host", "connection", "content-length"]) headers.delete(name);
      const { method } = request;
      const pass = (text?: string) =>
        fetch(`${target}${pathname}`, {
          method,
          headers,
          ...(text !== undefined && { body: text }),
        });
      if (pathname === "/api/sync" && body) return await withoutShut(body, pass);
      const passed = await pass(body);
      return new Response(await passed.text(), passed);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, close: () => server.stop(true) };
}

async function projectNamed(machine: Machine, id: string): Promise<DaemonStatus["projects"][0]> {
  const { projects } = await machine.status();
  const found = projects.find((project) => project.id === id);
  if (found) return found;
  throw new Error(`${id} is not linked`);
}

for (const status of [403, 404]) {
  scenario(`a project answered with ${status} stops no other, and status says so`, async (lab) => {
    const service = emulator.account(`refused-${status}`);
    let isShut = true;
    const gate = openGate(service.url, (path) => {
      // What is gone can't be made anew either.
      return isShut && /^\/api\/projects(\/proj_shut\/sync)?$/.test(path) ? status : undefined;
    });
    try {
      const [open, shut] = [lab.git.path("open"), lab.git.path("shut")];
      await Promise.all([mkdir(open), mkdir(shut)]);
      await fetch(`${service.url}/api/projects`, {
        method: "POST",
        headers: { authorization: `Bearer ${service.token}` },
        body: JSON.stringify({ id: "proj_open" }),
      });
      const machine = lab.machine("a", open, { ...service, url: gate.url });
      const start = lab.git.path("start");
      await mkdir(start);
      await machine.up(start);
      await machine.memsync("unlink", start);
      await machine.memsync("link", shut, "--id", "proj_shut");
      await machine.memsync("link", open, "--id", "proj_open");
      await machine.memsyncWith({ cwd: shut }, "set", "k", "of the shut one");
      await machine.memsync("set", "k", "of the open one");
      await machine.memsync("set", "mine", "v", "--layer", "user");
      await waitFor("all else to be synced", async () => {
        await machine.syncOnce();
        const { own } = await machine.status();
        const there = await projectNamed(machine, "proj_open");
        return [own, there].every(({ contacted, waiting }) => contacted && waiting === 0);
      });
      const refused = await projectNamed(machine, "proj_shut");
      expect(refused.refused).toContain(`it answered ${status}: not for you; `);
      expect(await machine.memsync("status")).toContain("all else goes on");
      // Whoever waits is told at once: this one would wait for longer than the test may take.
      const told = await machine.run(["sync", "--wait", "3600"]);
      expect(told.status).toBe(1);
      expect(told.stderr).toContain("the service refuses shut: it answered");
      expect(told.stdout).toContain("all synced");
      isShut = false;
      await machine.untilSynced();
      expect((await projectNamed(machine, "proj_shut")).refused).toBeNull();
    } finally {
      await gate.close();
    }
  });
}

scenario("with a token bound to a project, that project is all there is to sync", async (lab) => {
  await using host = await startHost();
  await host.admin.createAccount("bound", "pro");
  const { token } = await host.token({ account: "bound", projects: [BOUND] });
  const folder = lab.git.path("bound");
  await mkdir(folder);
  const machine = lab.machine("a", folder, { url: host.url, token });
  await machine.memsync("start");
  await machine.memsync("link", "--id", BOUND);
  await machine.memsync("set", "key", "value");
  expect(await machine.memsync("sync", "--wait", "3600")).toContain("everything is synced");
  const shown = await machine.memsync("status");
  expect(shown).toContain("own       user and global: out of the token's reach");
  expect(shown).not.toContain("refused");
  const set = await machine.run(["set", "mine", "value", "--layer", "user"]);
  expect([set.status, set.stderr]).toEqual([0, expect.stringContaining("stays on this machine")]);
  const told = await machine.run(["sync", "--wait", "3600"]);
  expect(told.status).toBe(1);
  expect(told.stderr).toContain("not sent: user and global: the token reaches only the projects");
  expect((await machine.status()).remotes[0]?.own.refused_code).toBe("out-of-reach");
  expect((await machine.run(["doctor"])).stdout).toContain("1 change stays on this machine");
  const assistant = await Assistant.start(machine);
  const kept = await assistant.call("remember", { key: "mine", value: "it", layer: "user" });
  await assistant.end();
  expect(kept.text).toContain("what is changed in user stays on this machine: the token");
  const moved = await machine.run(["move", "key", "--layer", "user"]);
  expect([moved.status, moved.stderr]).toEqual([0, expect.stringContaining("user stays on this")]);
  await machine.memsync("move", "key", "--layer", "project");
  await machine.memsync("rm", "mine", "--layer", "user");
  expect(await machine.memsync("sync", "--wait", "3600")).toContain("everything is synced");
  await machine.memsync("set", "ours", "value", "--layer", "global", "--yes");
  const whole = (await host.token({ account: "bound" })).token;
  await machine.run(["login", "--url", host.url, "--token-stdin"], { stdin: whole });
  await machine.memsyncWith({ env: { MEMSYNC_TOKEN: whole } }, "restart");
  await machine.memsyncWith({ env: { MEMSYNC_TOKEN: whole } }, "sync", "--wait", "3600");
  const other = lab.machine("b", folder, { url: host.url, token: whole });
  await other.memsync("start");
  await other.untilSynced();
  expect((await other.list("--layer", "global")).map(({ key }) => key)).toEqual(["ours"]);
});

scenario("a synced layer is out of a later token's reach, until one reaches it", async (lab) => {
  await using host = await startHost();
  await host.admin.createAccount("bound", "team");
  const ann = (await host.token({ account: "bound", user: "ann" })).token;
  await host.token({ account: "bound", user: "bob" });
  const bound = await host.token({ account: "bound", user: "ann", projects: [BOUND] });
  const folder = lab.git.path("bound");
  await mkdir(folder);
  const machine = lab.machine("a", folder, { url: host.url, token: ann });
  await machine.memsync("start");
  await machine.memsync("link", "--id", BOUND);
  await machine.memsync("set", "ours", "1", "--layer", "global", "--yes");
  await machine.untilSynced();
  // What waits when the token changes is refused by it, and asked about at the next call.
  await machine.memsync("stop");
  await machine.memsync("set", "ours", "2", "--layer", "global");
  const as = { env: { MEMSYNC_TOKEN: bound.token } };
  const run = (...args: string[]) => machine.run(args, as);
  await run("start");
  await run("sync", "--wait", "3600");
  const told = await run("sync", "--wait", "3600");
  expect([told.status, told.stderr]).toEqual([1, expect.stringContaining("not sent: user and")]);
  const set = await run("set", "ours", "3", "--layer", "global");
  expect(set.stderr.match(/global|nobody/g)).toEqual(["global"]);
  expect(set.stderr).toContain(
    "what is changed in global stays on this machine, and is seen by everybody in bound " +
      "(2 users) once it is sent: the token reaches only the projects",
  );
  expect((await run("rm", "ours", "--layer", "global")).stderr).toContain(
    "in global stays on this",
  );
  await run("set", "ours", "4", "--layer", "global");
  expect((await run("sync", "--wait", "3600")).stderr).toContain("not sent: user and global");
  expect((await run("status", "--json")).stdout).toContain('"out-of-reach"');
  expect((await run("status")).stdout).toMatch(/global .* changes stay on this machine: the token/);
  await machine.memsync("restart");
  await machine.untilSynced();
  const other = lab.machine("b", folder, { url: host.url, token: ann });
  await other.memsync("start");
  await other.untilSynced();
  expect(await other.memsync("get", "ours")).toBe("4");
});

scenario("a login says to which projects its token is bound", async (lab) => {
  await using host = await startHost();
  await host.admin.createAccount("bound", "pro");
  const { token } = await host.token({ account: "bound", projects: [BOUND] });
  const whole = (await host.token({ account: "bound" })).token;
  const headers = { authorization: `Bearer ${whole}`, "content-type": "application/json" };
  const body = JSON.stringify({ id: BOUND, name: "widget" });
  await fetch(`${host.url}/api/projects`, { method: "POST", headers, body });
  const machine = lab.machine("a", lab.git.folder);
  const login = ["login", "--url", host.url, "--token-stdin"];
  const said = (await machine.run(login, { stdin: token })).stdout;
  expect(said).toContain(
    "it is bound to projects (widget): memories of the layers user and global",
  );
  const json = await machine.run([...login, "--json"], { stdin: token });
  expect(JSON.parse(json.stdout)).toMatchObject({ bound_to: ["widget"] });
  expect((await machine.run(login, { stdin: whole })).stdout).not.toContain("bound to projects");
});

scenario("a sync does not wait for a remote that nobody has logged in to", async (lab) => {
  const { url, token } = emulator.account("no-login");
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder);
  await machine.run(["login", "--url", url, "--token-stdin"], { stdin: token });
  await machine.memsync("remote", "add", "acme", "http://127.0.0.1:1");
  await machine.memsync("start");
  await machine.memsync("link", "--remote", "acme");
  const told = await machine.run(["sync", "--wait", "3600"]);
  expect(told.status).toBe(1);
  expect(told.stderr).toContain(
    "acme can't be called: no token: run `memsync login --remote acme`",
  );
  const { stdout } = await machine.run(["doctor"]);
  expect(stdout).toMatch(/no token here\n +memsync login --remote acme$/m);
  const [project] = (await machine.status()).projects;
  const removed = await machine.run(["remote", "rm", "acme"]);
  expect(removed.stderr).toContain(`a project is bound to acme (${project?.name}): bind each`);
});
