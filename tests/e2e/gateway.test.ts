import { expect } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { scenario } from "../support/lab.ts";

const DATABASE = ["memsync.db", "memsync.db-wal", "memsync.db-shm"];
const IGNORED = { ".gitignore": "CLAUDE.md\n" };

scenario("the gateway is open to its owner alone", async (lab) => {
  const [folder] = await lab.clones(IGNORED);
  const machine = lab.machine("a", folder);
  // What somebody has put there is neither followed nor kept.
  const planted = join(lab.git.folder, "planted.json");
  writeFileSync(planted, "theirs", { mode: 0o644 });
  mkdirSync(machine.home, { recursive: true, mode: 0o700 });
  symlinkSync(planted, join(machine.home, "gateway.json"));
  for (const name of DATABASE) writeFileSync(join(machine.home, name), "", { mode: 0o644 });
  await machine.up();
  expect(readFileSync(planted, "utf8")).toBe("theirs");
  const env = JSON.parse(await machine.memsync("env", "--json")) as Record<string, string>;
  const { MEMSYNC_GATEWAY_URL: url = "", MEMSYNC_GATEWAY_TOKEN: token = "" } = env;
  const status = async (headers: Record<string, string>, path = "/v1/memories") =>
    (await fetch(`${url}${path}`, { headers })).status;
  expect(await status({ authorization: `Bearer ${token}` })).toBe(200);
  expect(await status({})).toBe(401);
  expect(await status({ authorization: `Bearer ${token}x` })).toBe(401);
  expect(await status({ authorization: "Bearer mst_dev_pro" })).toBe(401);
  const wrong = { headers: { authorization: `Bearer ${token}x` } };
  const told = await (await fetch(`${url}/v1/memories`, wrong)).text();
  expect(told).toContain("`memsync env` prints one");
  const foreign = { authorization: `Bearer ${token}`, origin: "https://evil.example" };
  expect(await status(foreign)).toBe(403);
  // The daemon's own calls are on the socket alone.
  expect(await status({ authorization: `Bearer ${token}` }, "/_memsync/status")).toBe(404);
  expect(statSync(machine.home).mode & 0o777).toBe(0o700);
  expect(statSync(join(machine.home, "daemon.sock")).mode & 0o777).toBe(0o600);
  for (const name of ["gateway.json", ...DATABASE]) {
    expect(lstatSync(join(machine.home, name)).mode & 0o777).toBe(0o600);
    expect(lstatSync(join(machine.home, name)).isFile()).toBeTrue();
  }
});

scenario("a project that only the gateway was told of is said to be here alone", async (lab) => {
  const [folder] = await lab.clones(IGNORED);
  const machine = lab.machine("a", folder);
  await machine.up();
  await machine.untilSynced();
  expect((await machine.status()).unlinked).toEqual([]);
  const memories = [{ key: "a", value: "1" }];
  await machine.gateway("POST", "/v1/projects/proj_alone/sync", { memories });
  await machine.gateway("POST", "/api/projects", { id: "proj_named", name: "Named\x1b[2J" });
  expect((await machine.status()).unlinked).toMatchObject([
    { id: "proj_alone", name: null, remote: "embedded", memories: 1, waiting: 1 },
    { id: "proj_named", name: "Named\x1b[2J", remote: "embedded", memories: 0, waiting: 1 },
  ]);
  const shown = await machine.memsync("status");
  expect(shown).toContain("memsync link DIR --id proj_alone");
  expect(shown).toMatch(/^unlinked {2}Named\\x1b\[2J {3}proj_named$/m);
  await lab.git.repository("linked", IGNORED);
  await machine.memsync("link", lab.git.path("linked"), "--id", "proj_alone");
  await machine.untilSynced();
  const { unlinked, projects } = await machine.status();
  expect(unlinked.map(({ id }) => id)).toEqual(["proj_named"]);
  expect(projects.find(({ id }) => id === "proj_alone")).toMatchObject({ memories: 1, waiting: 0 });
});

/** A port that nothing listened on a moment ago. */
function freePort(): number {
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  return server.port ?? 0;
}

scenario("with a fixed port a program that was set up survives restarts", async (lab) => {
  const [folder] = await lab.clones(IGNORED);
  const machine = lab.machine("a", folder);
  const port = freePort();
  const env = { MEMSYNC_GATEWAY_PORT: `${port}` };
  const ask = async (token: string) =>
    (
      await fetch(`http://127.0.0.1:${port}/v1/memories`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;
  const tokens = new Set<string>();
  for (const args of [["start"], ["restart"]]) {
    await machine.memsyncWith({ env }, ...args);
    const shown = JSON.parse(await machine.memsync("env", "--json")) as Record<string, string>;
    expect(shown.MEMSYNC_GATEWAY_URL).toBe(`http://127.0.0.1:${port}`);
    tokens.add(shown.MEMSYNC_GATEWAY_TOKEN ?? "");
  }
  const [token = "", ...others] = tokens;
  expect(others).toEqual([]);
  expect(await ask(token)).toBe(200);
  expect(await ask("mst_local_guessed")).toBe(401);
  expect(statSync(join(machine.home, "gateway-key")).mode & 0o777).toBe(0o600);
  const elsewhere = await machine.run(["restart"]);
  expect([elsewhere.status, elsewhere.stdout]).toEqual([1, ""]);
  expect(elsewhere.stderr).toContain(`MEMSYNC_GATEWAY_PORT ${port}`);
  await machine.memsync("stop");
  rmSync(join(machine.home, "gateway-key"));
  await machine.memsyncWith({ env }, "start");
  const renewed = JSON.parse(await machine.memsync("env", "--json")) as Record<string, string>;
  expect(await ask(token)).toBe(401);
  expect(await ask(renewed.MEMSYNC_GATEWAY_TOKEN ?? "")).toBe(200);
  await machine.memsync("stop");
  await machine.memsyncWith({ env: { MEMSYNC_GATEWAY_PORT: "0" } }, "start");
  const free = JSON.parse(await machine.memsync("env", "--json")) as Record<string, string>;
  expect([token, renewed.MEMSYNC_GATEWAY_TOKEN]).not.toContain(free.MEMSYNC_GATEWAY_TOKEN);
});

scenario("a damaged note of the gateway is named, without what is in it", async (lab) => {
  const [folder] = await lab.clones(IGNORED);
  const machine = lab.machine("a", folder);
  await machine.up();
  const path = join(machine.home, "gateway.json");
  for (const text of ["mst_local_half of", "null", '{"token":"mst_local_half of"}']) {
    writeFileSync(path, text);
    const { status, stdout, stderr } = await machine.run(["env"]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`${path} can't be read: \`memsync restart\` writes it anew`);
    expect(stderr).not.toContain("half of");
  }
});

scenario("a fixed port that is in use, or is none, is one sentence", async (lab) => {
  const [folder] = await lab.clones(IGNORED);
  const machine = lab.machine("a", folder);
  using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const upOn = (port: string) => machine.run(["up"], { env: { MEMSYNC_GATEWAY_PORT: port } });
  const { status, stdout, stderr } = await upOn(`${taken.port}`);
  expect([status, stdout]).toEqual([1, ""]);
  const place = `memsync: MEMSYNC_GATEWAY_PORT: port ${taken.port} on 127.0.0.1`;
  expect(stderr).toStartWith(`${place} is in use`);
  expect(stderr).toEndWith(", or choose another\n");
  for (const port of ["http", "65536", "-1"]) {
    expect((await upOn(port)).stderr).toBe(
      "memsync: MEMSYNC_GATEWAY_PORT is a port from 1 to 65535, or 0 for any free one\n",
    );
  }
});
