import { expect } from "bun:test";
import { statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const IGNORED = { ".gitignore": "CLAUDE.md\n" };

scenario("a machine works offline and catches up by itself", async (lab) => {
  const service = emulator.account("offline");
  const [a, b] = await lab.twoMachines(service, IGNORED);
  const network = await lab.network(service);
  b.service = network;
  await writeFile(join(a.folder, "CLAUDE.md"), "# Shared\n\nfirst\n");
  await Promise.all([a.up(), b.up()]);
  await a.memsync("set", "from-a", "before");
  await waitFor("b to have both", async () => {
    const file = await readFile(join(b.folder, "CLAUDE.md"), "utf8");
    return file.includes("first") && (await b.run(["get", "from-a"])).status === 0;
  });

  network.cut();
  await b.memsync("set", "from-b", "offline");
  await b.memsync("rm", "from-a");
  await b.memsync("set", "mine", "of the user", "--layer", "user");
  await writeFile(join(b.folder, "CLAUDE.md"), "# Shared\n\nfirst\n\nwritten offline\n");
  await a.memsync("set", "from-a-later", "meanwhile");
  await waitFor("b to say that the service is away", async () => {
    await b.syncOnce();
    return !(await b.status()).service.online;
  });
  expect((await b.list()).map(({ key }) => key).sort()).toEqual(["from-b", "mine"]);
  const project = await b.projectOf();
  expect(await b.doc(project.id)).toContain("written offline");
  expect(project.waiting).toBeGreaterThan(0);
  expect((await b.run(["sync", "--wait", "0"])).status).toBe(1);

  network.restore();
  await waitFor("both to hold everything", async () => {
    const [onA, onB] = await Promise.all([a.list(), b.list()]);
    const keys = onA.map(({ key }) => key).sort();
    const file = await readFile(join(a.folder, "CLAUDE.md"), "utf8");
    return (
      Bun.deepEquals(keys, ["from-a-later", "from-b", "mine"]) &&
      Bun.deepEquals(keys, onB.map(({ key }) => key).sort()) &&
      file.includes("written offline")
    );
  });
  expect((await b.run(["sync"])).status).toBe(0);
});

scenario("the gateway answers while the service is down", async (lab) => {
  const [folder] = await lab.clones(IGNORED);
  const machine = lab.machine("a", folder, { url: "http://127.0.0.1:1", token: "mst_dev_none" });
  await machine.up();
  await machine.memsync("set", "key", "value");
  const { id } = await machine.projectOf();
  const list = (await machine.ask("GET", `/v1/memories?project_id=${id}`)) as {
    memories: { key: string; content: string }[];
  };
  expect(list.memories.map(({ key, content }) => [key, content])).toEqual([["key", "value"]]);
  const sync = { memories: [{ key: "by-rest", value: "offline" }], claude_md_content: "# Rest\n" };
  expect((await machine.gateway("POST", `/api/projects/${id}/sync`, sync)).status).toBe(200);
  expect(await machine.memsync("get", "by-rest")).toBe("offline");
  expect(await machine.memsync("doc")).toBe("# Rest\n");

  const pair = { project_id: id, target_project_id: "proj_other" };
  const connect = await machine.gateway("POST", "/api/projects/connect", pair);
  expect(connect.status).toBe(500);
  expect(await connect.text()).toContain("connections are made by the service");
});

scenario("the gateway is open to its owner alone", async (lab) => {
  const [folder] = await lab.clones(IGNORED);
  const machine = lab.machine("a", folder);
  await machine.up();
  const env = JSON.parse(await machine.memsync("env", "--json")) as Record<string, string>;
  const { MEMSYNC_GATEWAY_URL: url = "", MEMSYNC_GATEWAY_TOKEN: token = "" } = env;
  const status = async (headers: Record<string, string>, path = "/v1/memories") =>
    (await fetch(`${url}${path}`, { headers })).status;
  expect(await status({ authorization: `Bearer ${token}` })).toBe(200);
  expect(await status({})).toBe(401);
  expect(await status({ authorization: `Bearer ${token}x` })).toBe(401);
  expect(await status({ authorization: "Bearer mst_dev_pro" })).toBe(401);
  const foreign = { authorization: `Bearer ${token}`, origin: "https://evil.example" };
  expect(await status(foreign)).toBe(403);
  // The daemon's own calls are on the socket alone.
  expect(await status({ authorization: `Bearer ${token}` }, "/_memsync/status")).toBe(404);
  expect(statSync(machine.home).mode & 0o777).toBe(0o700);
  expect(statSync(join(machine.home, "daemon.sock")).mode & 0o777).toBe(0o600);
  expect(statSync(join(machine.home, "gateway.json")).mode & 0o777).toBe(0o600);
});
