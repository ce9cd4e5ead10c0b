import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import type { NetworkLink } from "../support/network-link.ts";
import { PATIENCE, waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";

interface Pair {
  readonly a: Machine;
  readonly b: Machine;
  /** The way of `b` to the service. */
  readonly network: NetworkLink;
}

async function makePair(lab: Lab, account: string): Promise<Pair> {
  const [folderA, folderB] = await lab.clones({ ".gitignore": FILE });
  const network = await lab.network(emulator.account(account));
  const a = lab.machine("a", folderA, emulator.account(account));
  return { a, b: lab.machine("b", folderB, network), network };
}

async function goOffline({ b, network }: Pair): Promise<void> {
  network.cut();
  await b.memsync("set", "noticed", "that the service is away");
  await waitFor("b to notice", async () => !(await b.status()).service.online);
}

async function untilFile(machine: Machine, text: string): Promise<void> {
  await waitFor(`${machine.name}'s file to be ${JSON.stringify(text)}`, async () => {
    return (await readFile(`${machine.folder}/${FILE}`, "utf8")) === text;
  });
}

scenario("a service that goes away is never without a word for it", async (lab) => {
  const { b, network } = await makePair(lab, "word");
  await b.up();
  const seen = new Set<string>();
  const untilShown = (word: RegExp) =>
    waitFor(`the status to say ${word}`, async () => {
      const [line = ""] = (await b.memsync("status")).match(/^service .*/m) ?? [];
      seen.add(line.replace(/^service {3}\S+ {3}/, "").replace(/[:;].*/, ""));
      return word.test(line);
    });
  await untilShown(/ connected$/);
  network.cut();
  await untilShown(/ reconnecting; last contact /);
  await untilShown(/ offline: /);
  network.restore();
  await b.run(["sync"]);
  await untilShown(/ connected$/);
  const states = ["connecting", "connected", "reconnecting", "offline"];
  expect([...seen].filter((word) => !states.includes(word))).toEqual([]);
});

scenario("with the service away all goes on, and catches up by itself", async (lab) => {
  const pair = await makePair(lab, "away");
  const { a, b, network } = pair;
  await Promise.all([a.up(), b.up()]);
  await writeFile(`${a.folder}/${FILE}`, "# Start\n");
  await untilFile(b, "# Start\n");
  await goOffline(pair);
  await b.memsync("set", "kept", "1");
  await b.memsync("set", "kept", "2");
  await b.memsync("set", "gone", "3");
  await b.memsync("rm", "gone");
  await b.memsync("rm", "noticed");
  expect(await b.memsync("get", "kept")).toBe("2");
  expect((await b.list()).map(({ key }) => key)).toEqual(["kept"]);
  expect(await b.memsync("status")).toContain("what is saved here goes when it is back");
  expect((await b.run(["sync", "--wait", "0"])).status).toBe(1);
  // Nobody who did not say how long to wait does so for a service that can't be reached.
  const begunAt = performance.now();
  const offline = await b.run(["sync"]);
  expect(offline.status).toBe(1);
  expect(offline.stderr).toStartWith("memsync: offline: not everything is synced yet: ");
  // The sentence says it all; `status` is there for the rest.
  expect(offline.stdout).toBe("");
  expect(performance.now() - begunAt).toBeLessThan(15_000 * PATIENCE);
  const waiting = b.spawn(["sync", "--wait", "1"]);
  const waited = await waiting.ended();
  // A call that is just being tried again has not failed yet.
  expect([waited.status, waited.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^memsync: offline: waiting up to 1 second for http[\s\S]*\nmemsync: (offline: )?not everything/,
    ),
  ]);
  await writeFile(`${b.folder}/${FILE}`, "# Start\n\nof b\n");
  await writeFile(`${a.folder}/${FILE}`, "of a\n\n# Start\n");
  await waitFor("b's document", async () => (await b.memsync("doc")) === "# Start\n\nof b\n");
  network.restore();
  await untilFile(b, "of a\n\n# Start\n\nof b\n");
  await untilFile(a, "of a\n\n# Start\n\nof b\n");
  await waitFor("the memory on a", async () => (await a.run(["get", "kept"])).stdout === "2");
  expect((await a.list()).map(({ key }) => key)).toEqual(["kept"]);
});

scenario(
  "a daemon that starts while the service is away waits with its files alone",
  async (lab) => {
    const pair = await makePair(lab, "late");
    const { a, b, network } = pair;
    network.cut();
    await writeFile(`${a.folder}/${FILE}`, "# Project\n\nof a\n");
    await writeFile(`${b.folder}/${FILE}`, "# Project\n\nof b\n");
    await Promise.all([a.up(), b.up()]);
    await b.memsync("set", "key", "value");
    expect(await b.memsync("get", "key")).toBe("value");
    expect((await b.fileStatus())?.state).toBe("waiting");
    expect(await readFile(`${b.folder}/${FILE}`, "utf8")).toBe("# Project\n\nof b\n");
    await a.untilSynced();
    network.restore();
    const merged = await waitFor("both lines in both files", async () => {
      const text = await readFile(`${a.folder}/${FILE}`, "utf8");
      return text.includes("of b") && text;
    });
    expect(merged.match(/# Project/g)).toHaveLength(1);
    expect(merged).toContain("of a");
    await untilFile(b, merged);
    await waitFor("the memory on a", async () => (await a.run(["get", "key"])).status === 0);
  },
);

scenario("the gateway serves the interface with the service away", async (lab) => {
  const pair = await makePair(lab, "gateway");
  const { b } = pair;
  await b.up();
  await goOffline(pair);
  const { id } = await b.projectOf();
  const body = { memories: [{ key: "by-gateway", value: "on the socket" }] };
  expect((await b.gateway("POST", `/api/projects/${id}/sync`, body)).status).toBe(200);
  const env = JSON.parse(await b.memsync("env", "--json")) as Record<string, string>;
  const url = `${env.MEMSYNC_GATEWAY_URL}/v1/memories?q=socket`;
  const withToken = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
  const found = await fetch(url, withToken(env.MEMSYNC_GATEWAY_TOKEN ?? ""));
  expect(found.status).toBe(200);
  const { memories } = (await found.json()) as { memories: { key: string; content: string }[] };
  expect(memories.map(({ key, content }) => [key, content])).toEqual([
    ["by-gateway", "on the socket"],
  ]);
  expect((await fetch(url)).status).toBe(401);
  expect((await fetch(url, withToken("mst_dev_pro"))).status).toBe(401);
  const connect = { project_id: id, target_project_id: "proj_other" };
  const refused = await b.gateway("POST", "/api/projects/connect", connect);
  expect(refused.ok).toBe(false);
  expect(await refused.text()).toContain("connections are made by the service");
  expect(await b.memsync("get", "by-gateway")).toBe("on the socket");
});

scenario("`env` prints what a shell can take", async (lab) => {
  const { b } = await makePair(lab, "env");
  await b.up();
  const printed = await b.memsync("env");
  const script = `${printed}curl() { :; }; echo "$MEMSYNC_GATEWAY_URL $MEMSYNC_GATEWAY_TOKEN"`;
  const shell = await b.spawnOther(["sh", "-c", script]).ended();
  expect(shell.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+ mst_local_[\w-]+\n$/);
});
