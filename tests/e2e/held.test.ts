import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { homeOf } from "../../daemon/home/home.ts";
import { passGate } from "../../shared/sqlite/lock.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { holding, openRefusingService, REFUSAL } from "../support/refusing-service.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const SECRET = `token ${PLANTED.github}`;

async function startTwo(lab: Lab, a: ServiceConfig, b = a): Promise<readonly [Machine, Machine]> {
  const machines = await lab.twoMachines(a, { ".gitignore": FILE });
  machines[1].service = b;
  await Promise.all(machines.map((machine) => machine.up()));
  return machines;
}

/** What `doc history --json` says of a version. */
interface Shown {
  readonly rev: string;
  readonly claude_md_content: string;
}

const save = (machine: Machine, text: string) => writeFile(join(machine.folder, FILE), text);
const fileOf = (machine: Machine) => readFile(join(machine.folder, FILE), "utf8").catch(() => "");

async function untilKeys(machine: Machine, ...keys: readonly string[]): Promise<void> {
  await waitFor(`${machine.name} to have ${keys.join(", ")}`, async () => {
    const found = (await machine.list()).map(({ key }) => key);
    return Bun.deepEquals(found.sort(), [...keys].sort());
  });
}

async function heldIds(machine: Machine): Promise<string[]> {
  return (await machine.status()).held.map(({ id }) => id);
}

async function untilState(machine: Machine, state: string): Promise<void> {
  await waitFor(`the file of ${machine.name} to be ${state}`, async () => {
    return (await machine.fileStatus())?.state === state;
  });
}

/** Everything that a service holds of a project, as it tells anybody. */
async function onService({ url, token }: ServiceConfig, project: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/projects/${project}`, { headers });
  return await response.text();
}

scenario("a secret stays on its machine until a person says otherwise", async (lab) => {
  const service = emulator.account("held-secret");
  const [a, b] = await startTwo(lab, service);
  const { id: project } = await a.projectOf();
  const set = await a.run(["set", "deploy", SECRET]);
  expect(set.status).toBe(0);
  expect(set.stderr).toContain("held: looks like a GitHub token; it stays on this machine");
  expect(set.stderr).not.toContain(PLANTED.github);
  await a.memsync("set", "plain", "as ever");
  await untilKeys(b, "plain");
  expect(await a.memsync("get", "deploy")).toBe(SECRET);
  await a.down();
  await a.up();
  await a.untilSynced();
  expect(await a.memsync("status")).toContain("held: looks like a GitHub token");
  expect(await onService(service, project)).not.toContain(PLANTED.github);
  await untilKeys(b, "plain");
  const [id = ""] = await heldIds(a);
  expect(await a.memsync("held", "show", id)).toBe(SECRET);
  await a.memsync("held", "allow", id);
  await untilKeys(b, "deploy", "plain");
  expect(await b.memsync("get", "deploy")).toBe(SECRET);
  expect(await heldIds(a)).toEqual([]);
  expect(await a.memsync("held", "allow", id)).toBe(
    "nothing of deploy is held any more: there is nothing left to allow\n",
  );
  expect((await a.run(["held", "drop", id])).status).toBe(1);
  expect(`${a.logs()}${b.logs()}`).not.toContain(PLANTED.github);
});

scenario("what was written without a daemon is held by the next one", async (lab) => {
  const [a, b] = await startTwo(lab, emulator.account("held-offline"));
  await a.down();
  await a.memsync("set", "secret", SECRET);
  await a.memsync("set", "meant", PLANTED.slack, "--allow-secret");
  await a.memsync("set", "plain", "as ever");
  await a.up();
  await untilKeys(b, "meant", "plain");
  await untilKeys(a, "meant", "plain", "secret");
  const [id = ""] = await heldIds(a);
  await a.down();
  await a.memsync("held", "drop", id);
  await untilKeys(a, "meant", "plain");
  await a.up();
  await a.untilSynced();
  await untilKeys(b, "meant", "plain");
});

scenario("a file with a held save is not written, and loses nothing in the end", async (lab) => {
  const service = emulator.account("held-file");
  const [a, b] = await startTwo(lab, service);
  const { id: project } = await a.projectOf();
  await save(a, "# One\n");
  await waitFor("the file on b", async () => (await fileOf(b)) === "# One\n");
  const held = `# One\n\n${SECRET}\n`;
  await save(a, held);
  await untilState(a, "held");
  expect(await a.memsync("doc")).toBe(held);
  await save(b, "# One\n\nfrom b\n");
  await waitFor("b's line at the service", async () => {
    return (await onService(service, project)).includes("from b");
  });
  await a.untilSynced();
  await b.untilSynced();
  expect(await fileOf(a)).toBe(held);
  await a.down();
  await a.up();
  await untilState(a, "held");
  expect(await fileOf(a)).toBe(held);
  await save(a, "# One\n\nfrom a\n");
  await waitFor("both lines in both files", async () => {
    const files = [await fileOf(a), await fileOf(b)];
    return files.every((text) => /from a/.test(text) && /from b/.test(text));
  });
  expect(await heldIds(a)).toEqual([]);
  expect(await onService(service, project)).not.toContain(PLANTED.github);
});

scenario("what another machine syncs of a held memory is told and shown", async (lab) => {
  const [a, b] = await startTwo(lab, emulator.account("held-met"));
  await a.memsync("set", "deploy", SECRET);
  await b.run(["set", "deploy", SECRET, "--allow-secret"]);
  await waitFor("a to hear of it", async () => {
    return (await a.memsync("held")).includes("; synced elsewhere since");
  });
  expect(await a.memsync("status")).toContain("`memsync rm` deletes it on all machines");
  await b.memsync("set", "deploy", "in the vault since Monday");
  await waitFor("a to see what was written later", async () => {
    return (await a.memsync("get", "deploy")) === "in the vault since Monday";
  });
  expect(await a.memsync("held")).toContain("written over or deleted since");
});

scenario("a held text that is written over is told, and stays until it is dropped", async (lab) => {
  const folder = await lab.git.repository("a", { ".gitignore": FILE });
  const a = lab.machine("a", folder, emulator.account("held-doc"));
  await a.up();
  const { id } = await a.projectOf();
  const put = (text: string) =>
    a.ask("POST", `/api/projects/${id}/sync`, { claude_md_content: text });
  const heldText = `# One\n\nann's notes, ${PLANTED.github}\n`;
  const revOf = async (text: string) => {
    const versions = JSON.parse(await a.memsync("doc", "history", "--json")) as Shown[];
    return versions.find(({ claude_md_content }) => claude_md_content === text)?.rev ?? "";
  };
  await put("# One\n");
  await put(heldText);
  expect(await a.memsync("doc")).toBe(heldText);
  const left = /what was held of it is in no history: `memsync held` lists it/;
  const restored = await a.run(["doc", "restore", await revOf("# One\n")]);
  expect([restored.status, left.test(restored.stderr)]).toEqual([0, true]);
  expect(await a.memsync("doc")).toBe("# One\n");
  const [first = ""] = await heldIds(a);
  expect(await a.memsync("held")).toContain("written over or deleted since");
  expect(await a.memsync("held", "show", first)).toBe(heldText);
  await a.memsync("held", "drop", first);

  await put(heldText);
  await put("# Two\n");
  await waitFor("the next command to tell of it", async () => {
    return (await a.run(["list"])).stderr.includes("document in a: `memsync held` says why");
  });
  await a.memsync("held", "drop", (await heldIds(a))[0] ?? "");

  await put(heldText);
  await a.down();
  const offline = await a.run(["doc", "restore", await revOf("# One\n")]);
  expect(offline.stderr).toMatch(left);
  expect(offline.stderr).not.toContain("it stays on this machine");
  expect(await a.memsync("doc")).toBe("# One\n");
  await a.up();
  await waitFor("what was left", async () => {
    return (await a.memsync("held")).includes("written over or deleted since");
  });
  expect(await a.memsync("held", "show", (await heldIds(a))[0] ?? "")).toBe(heldText);
});

scenario("the id of what was held leads to it once it is written over", async (lab) => {
  const machine = lab.machine("a", join(lab.git.folder, "p"), emulator.account("held-over"));
  await lab.git.write(join(machine.folder, FILE), "# P\n");
  await machine.up();
  await machine.memsync("set", "deploy", SECRET);
  const [former = ""] = await heldIds(machine);
  await machine.memsync("set", "deploy", "over it");
  const [left = ""] = await heldIds(machine);
  expect(left).not.toBe(former);
  const asked = await machine.run(["held", "allow", former]);
  expect(asked.stderr.replaceAll(/\n\s*/g, " ")).toContain(
    `what was held as ${former} was written over, and is held as ${left}: `,
  );
  expect(await machine.memsync("held", "show", left)).toContain(SECRET);
});

scenario("one refused write blocks no other, over real connections", async (lab) => {
  const service = emulator.account("held-refused");
  const refusing = openRefusingService(service.url, holding("BAD"));
  try {
    const [a, b] = await startTwo(lab, { ...service, url: refusing.url }, service);
    await save(a, "# One\n");
    await waitFor("the file on b", async () => (await fileOf(b)) === "# One\n");
    for (const at of [1, 2, 3]) await a.memsync("set", `k${at}`, at === 2 ? "BAD" : `v${at}`);
    await save(a, "# One\n\nBAD line\n");
    await waitFor("both refusals to be known", async () => {
      await a.syncOnce();
      const { held } = await a.status();
      return held.length === 2 && held.every(({ reason }) => reason.includes(REFUSAL));
    });
    await untilKeys(b, "k1", "k3");
    await untilKeys(a, "k1", "k2", "k3");
    await save(b, "# One\n\nfrom b\n");
    await b.untilSynced();
    await waitFor("b's line in a's replica", async () => {
      await a.syncOnce();
      return (await onService(service, (await a.projectOf()).id)).includes("from b");
    });
    expect(await fileOf(a)).toBe("# One\n\nBAD line\n");
    await untilState(a, "held");
    await a.memsync("set", "k2", "good");
    await save(a, "# One\n\ngood line\n");
    await waitFor("all of it in both files", async () => {
      await Promise.all([a.syncOnce(), b.syncOnce()]);
      const files = [await fileOf(a), await fileOf(b)];
      return files.every((text) => /good line/.test(text) && /from b/.test(text));
    });
    await untilKeys(b, "k1", "k2", "k3");
    expect(await fileOf(a)).not.toContain("BAD");
    expect(await heldIds(a)).toEqual([]);
  } finally {
    await refusing.close();
  }
});

scenario("what is allowed in one place is taken from a file that holds it, too", async (lab) => {
  const [a, b] = await startTwo(lab, emulator.account("held-elsewhere"));
  await save(a, "# One\n");
  await waitFor("the file on b", async () => (await fileOf(b)) === "# One\n");
  await save(a, `# One\n\n${SECRET}\n`);
  await untilState(a, "held");
  await a.memsync("set", "deploy", SECRET);
  const { held } = await a.status();
  const memory = held.find(({ kind }) => kind === "memory");
  expect(held.length).toBe(2);
  await a.memsync("held", "allow", memory?.id ?? "");
  await waitFor("the line on b", async () => (await fileOf(b)).includes(SECRET));
  expect(await heldIds(a)).toEqual([]);
});

scenario("what is held is not changed while the database is exchanged", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("held-gate"));
  await machine.memsync("start");
  await machine.memsync("set", "deploy", SECRET, "--layer", "user");
  const [id = ""] = await heldIds(machine);
  await machine.memsync("stop");
  const gate = await passGate(homeOf({ MEMSYNC_HOME: machine.home }).gate, "exclusive");
  try {
    const { status } = await machine.run(["held", "drop", id]);
    expect(status).toBe(1);
  } finally {
    gate.release();
  }
  await machine.memsync("held", "drop", id);
});
