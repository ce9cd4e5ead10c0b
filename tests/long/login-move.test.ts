import { expect } from "bun:test";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { holdsText } from "../support/service-data.ts";
import { login, project, service, set } from "../support/two-services.ts";
import { waitFor } from "../support/wait-for.ts";

interface Listed {
  readonly name: string;
  readonly projects: readonly { readonly id: string }[];
  readonly memories: { readonly user: number; readonly global: number };
}

/** What each remote has on a machine: projects, and memories of `user` and of `global`. */
async function holdings(machine: Machine): Promise<Record<string, readonly number[]>> {
  const remotes = JSON.parse(await machine.memsync("remote", "list", "--json")) as Listed[];
  return Object.fromEntries(
    remotes.map(({ name, projects, memories: { user, global } }) => [
      name,
      [projects.length, user, global],
    ]),
  );
}

const nameOf = (url: string) => new URL(url).host.replace(":", "-");

/** A machine whose daemon does not run, and has not taken over the half of what was saved. */
async function halfWaiting(lab: Lab): Promise<Machine> {
  const folder = await project(lab, "one");
  const machine = lab.machine("mover", folder);
  await machine.up();
  await set(machine, folder, "taken-project");
  await set(machine, folder, "taken-user", "--layer", "user");
  await machine.down();
  await set(machine, folder, "waits-project");
  await set(machine, folder, "waits-user", "--layer", "user");
  await set(machine, folder, "waits-global", "--layer", "global");
  return machine;
}

const KEYS = ["taken-project", "taken-user", "waits-project", "waits-user", "waits-global"];

scenario("a move takes along what was saved without a daemon, and is done once", async (lab) => {
  const a = await service(lab, "a");
  const machine = await halfWaiting(lab);
  await machine.memsync("set", "token", PLANTED.github, "--layer", "user");
  const stays = "1 project, 3 memories of the layer user and 1 memory of the layer global stay";
  expect(await login(machine, a)).toContain(`${stays} in the embedded service; \`--move\` moves`);
  expect(await login(machine, a)).toContain(stays);
  const said = (await login(machine, a, "--move")).split("\n").slice(-6);
  expect(said).toEqual([
    expect.stringMatching(/^moved the project one \(proj_/),
    "moved 3 memories of the layer user",
    "1 of them is held on this machine: `memsync held` says why",
    "moved 1 memory of the layer global",
    "nothing stays in the embedded service",
    "",
  ]);
  expect(await holdings(machine)).toEqual({ embedded: [0, 0, 0], [nameOf(a.url)]: [1, 3, 1] });
  for (const args of [[], ["--move"]]) {
    expect(await login(machine, a, ...args)).not.toMatch(/stay|moved/);
  }
  await machine.up();
  await machine.untilSynced();
  for (const key of KEYS) expect([key, holdsText(a.data, `value of ${key}`)]).toEqual([key, true]);
  expect(holdsText(a.data, PLANTED.github)).toBe(false);
  expect(await machine.memsync("get", "token")).toBe(PLANTED.github);
  expect(await machine.memsync("conflicts")).toBe("no conflicts\n");
  // Neither does anything come back from the embedded service's own database.
  await machine.down();
  await machine.up();
  await machine.untilSynced();
  expect(await holdings(machine)).toMatchObject({ embedded: [0, 0, 0] });
  const status = await machine.memsync("status");
  expect(status).toContain(`service   ${a.url}`);
  expect(status).not.toContain("embedded");
  await machine.down();
  const home = (await machine.run(["status"])).stdout;
  expect(home).toMatch(/^user {6}seen by you alone: 3 memories saved$/m);
  expect(home).not.toContain("embedded");
  await machine.up();
  await set(machine, machine.folder, "later", "--layer", "user", "--remote", "embedded");
  expect(await machine.memsync("status")).toContain("user      at embedded, seen by you alone: 1");
});

scenario("who only moves is asked for no token that is known, and reads names", async (lab) => {
  const a = await service(lab, "a");
  const machine = await halfWaiting(lab);
  await machine.memsync("start");
  await machine.memsync("unlink");
  const unknown = await machine.run(["login", "--url", a.url, "--move"]);
  expect([unknown.status, unknown.stderr]).toEqual([
    2,
    "memsync: there is no terminal to ask for the token: give it by --token-stdin\n",
  ]);
  await login(machine, a, "--no-move");
  const said = await machine.memsync("login", "--move", "--yes");
  expect(said).toMatch(/^moved the project one \(proj_/m);
  expect(said).toContain("nothing stays in the embedded service");
  expect((await machine.run(["remote", "rm", nameOf(a.url)])).stderr).toStartWith(
    `memsync: a project is bound to ${nameOf(a.url)} (one) and linked to no folder here: `,
  );
  await machine.memsync("logout");
  const given = { MEMSYNC_URL: a.url, MEMSYNC_TOKEN: "mst_dev_mover" };
  const again = await machine.run(["login", "--move"], { env: given });
  expect([again.status, again.stdout]).toEqual([0, expect.stringContaining("logged in to")]);
});

scenario("a move that is killed at each of its steps loses and doubles nothing", async (lab) => {
  const a = await service(lab, "a");
  const machine = await halfWaiting(lab);
  const args = ["login", "--url", a.url, "--token-stdin", "--move", "--yes"];
  const steps = [/logged in/, /moved the project/, /of the layer user/, /of the layer global/];
  for (const [at, step] of steps.entries()) {
    // With the daemon, which makes the changes and is killed, and without it.
    const hasDaemon = at % 2 === 1;
    if (hasDaemon) await machine.up();
    const killed = machine.spawn(args, { stdin: "mst_dev_mover" });
    // The one before may have come further than it had printed.
    await waitFor(`${step}`, () => step.test(killed.stdout) || !killed.running);
    if (hasDaemon) await machine.down("SIGKILL");
    await killed.end("SIGKILL");
    const held = Object.values(await holdings(machine));
    const sum = held.reduce((all, each) => all.map((count, i) => count + (each[i] ?? 0)));
    expect([`${step}`, sum]).toEqual([`${step}`, [1, 2, 1]]);
  }
  await login(machine, a, "--move");
  expect(await holdings(machine)).toMatchObject({ embedded: [0, 0, 0] });
  await machine.up();
  await machine.untilSynced();
  for (const key of KEYS) expect([key, holdsText(a.data, `value of ${key}`)]).toEqual([key, true]);
  const keys = (await machine.list()).map(({ key }) => key);
  expect(keys.sort()).toEqual([...KEYS].sort());
  expect(await machine.memsync("conflicts")).toBe("no conflicts\n");
});

scenario(
  "with several remotes a move goes to the one that it names, and only there",
  async (lab) => {
    const [a, b] = [await service(lab, "a"), await service(lab, "b")];
    const machine = await halfWaiting(lab);
    await login(machine, a);
    const moved = await login(machine, b, "--remote", "other", "--move", "--json");
    expect(JSON.parse(moved)).toMatchObject({
      remote: "other",
      moved: { projects: [expect.any(String)], user: { moved: 2 }, global: { moved: 1 } },
    });
    const expected = { embedded: [0, 0, 0], [nameOf(a.url)]: [0, 0, 0], other: [1, 2, 1] };
    expect(await holdings(machine)).toEqual(expected);
    await machine.up();
    await machine.untilSynced();
    for (const key of KEYS) {
      const found = [holdsText(a.data, `value of ${key}`), holdsText(b.data, `value of ${key}`)];
      expect([key, ...found]).toEqual([key, false, true]);
    }
  },
);

scenario("what was moved is read at once, and sent when the service is back", async (lab) => {
  const emulator = await lab.emulator();
  const link = await lab.network({ url: emulator.url, token: "mst_dev_mover" });
  const machine = await halfWaiting(lab);
  await machine.up();
  const steps = machine.spawn(["login", "--url", link.url, "--token-stdin", "--move", "--yes"], {
    stdin: "mst_dev_mover",
  });
  await waitFor("the login", () => steps.stdout.includes("logged in") || !steps.running);
  link.cut();
  expect((await steps.ended()).status).toBe(0);
  expect(await holdings(machine)).toMatchObject({ embedded: [0, 0, 0] });
  for (const key of KEYS) expect(await machine.memsync("get", key)).toBe(`value of ${key}`);
  const offline = await machine.run(
    ["login", "--url", link.url, "--token-stdin", "--move", "--yes"],
    {
      stdin: "mst_dev_mover",
    },
  );
  expect([offline.status, offline.stderr]).toEqual([1, expect.stringContaining("nothing was")]);
  link.restore();
  await machine.untilSynced();
  const { id } = await machine.projectOf();
  const headers = { authorization: "Bearer mst_dev_mover" };
  const answer = await fetch(`${emulator.url}/v1/memories?project_id=${id}`, { headers });
  const { memories } = (await answer.json()) as { memories: { content: string }[] };
  const values = KEYS.map((key) => `value of ${key}`);
  expect(memories.map(({ content }) => content).sort()).toEqual(values.sort());
});

scenario(
  "of a memory that the remote has with another value both are kept, and said",
  async (lab) => {
    const a = await service(lab, "a");
    const token = "mst_dev_mover";
    const first = lab.machine("first", await project(lab, "first"), { url: a.url, token });
    await first.up();
    await set(first, first.folder, "waits-user", "--layer", "user");
    await first.memsync("set", "taken-user", "the other's", "--layer", "user");
    await first.untilSynced();
    const machine = await halfWaiting(lab);
    await login(machine, a);
    // The remote's are here before anything is moved.
    await machine.up();
    const [remote] = (await machine.status()).remotes.filter(({ name }) => name !== "embedded");
    await waitFor("the remote's memories", async () => {
      return (await holdings(machine))[remote?.name ?? ""]?.[1] === 2;
    });
    const said = await login(machine, a, "--move");
    expect(said).toContain("moved 2 memories of the layer user\n1 of them has another value at");
    expect(said).toContain("both are kept, `memsync conflicts` shows them");
    await machine.untilSynced();
    const conflicts = JSON.parse(await machine.memsync("conflicts", "--json"));
    expect(conflicts).toHaveLength(1);
    const shown = [await machine.memsync("get", "taken-user"), conflicts[0].losing?.value];
    expect(JSON.stringify([shown, conflicts])).toContain("the other's");
    expect(JSON.stringify([shown, conflicts])).toContain("value of taken-user");
    expect(await machine.memsync("get", "waits-user")).toBe("value of waits-user");
  },
);
