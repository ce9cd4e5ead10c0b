import { expect } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

/** One for each way in, so that whatever tells one says where it was. */
const SECRETS = {
  value: PLANTED.stripe,
  key: PLANTED.github,
  file: PLANTED.google,
  stdin: PLANTED.memsync,
  offline: PLANTED.awsId,
  text: PLANTED.slack,
  metadata: PLANTED.npm,
  name: PLANTED.otherGithub,
  imported: PLANTED.jwt,
  assigned: "kX9-mQ2v-Zt7w",
} as const;

/** The names of the secrets that are told by a text. */
function toldBy(text: string): string[] {
  return Object.entries(SECRETS).flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));
}

async function everythingOnService({ url, token }: ServiceConfig, project: string) {
  const headers = { authorization: `Bearer ${token}` };
  const paths = ["/v1/memories", `/api/projects/${project}`, "/api/projects"];
  const answers = paths.map(async (path) => (await fetch(`${url}${path}`, { headers })).text());
  return (await Promise.all(answers)).join("\n");
}

/** What whoever holds, lists, syncs or drops says, of any command and in each form. */
async function whatIsSaid(machine: Machine): Promise<string> {
  const commands = [
    ["status"],
    ["status", "--all"],
    ["status", "--json"],
    ["held"],
    ["held", "--json"],
    ["sync", "--json"],
    ["preview"],
    ["preview", "--json"],
    ["doctor"],
    ["projects", "--json"],
    ["conflicts", "--json"],
    ["stats"],
    ["logs", "-n", "1000"],
    ["complete", "--", "held", "allow", ""],
  ];
  const said: string[] = [machine.logs()];
  for (const command of commands) {
    const { stdout, stderr } = await machine.run(command);
    said.push(stdout, stderr);
  }
  return said.join("\n");
}

scenario("a secret that is held is told by nothing that says so", async (lab) => {
  const service = emulator.account("held-secrecy");
  const folder = await lab.git.repository("a", { ".gitignore": "CLAUDE.md\n" });
  const machine = lab.machine("a", folder, service);
  await machine.up();
  const { id: project } = await machine.projectOf();
  const said: string[] = [];
  const run = async (args: readonly string[], stdin?: string) => {
    const { stdout, stderr } = await machine.run(args, stdin === undefined ? {} : { stdin });
    said.push(stdout, stderr);
  };
  await run(["set", "deploy", `use ${SECRETS.value} here`]);
  await run(["set", `of ${SECRETS.key}`, "its key is one"]);
  await run(["set", "db-password", SECRETS.assigned]);
  await run(["add", "-"], SECRETS.stdin);
  await run(["set", "piped", "-"], `${SECRETS.stdin}\n`);
  const body = {
    claude_md_content: `# One\n\n${SECRETS.text}\n`,
    metadata: { ci: SECRETS.metadata },
  };
  await machine.gateway("POST", `/api/projects/${project}/sync`, { metadata: body.metadata });
  await machine.gateway("POST", "/api/projects", { id: project, name: `P ${SECRETS.name}` });
  await machine.gateway("POST", "/api/projects", {
    id: project,
    claude_md_content: body.claude_md_content,
  });
  const memories = [{ key: "jwt", value: SECRETS.imported, updated_at: "2026-01-01T00:00:00Z" }];
  const exported = JSON.parse(await machine.memsync("export")) as { user: object };
  await writeFile(
    join(lab.git.folder, "in.json"),
    JSON.stringify({ ...exported, user: { memories } }),
  );
  await run(["import", join(lab.git.folder, "in.json")]);
  await writeFile(join(folder, "CLAUDE.md"), `# Two\n\nkey ${SECRETS.file}\n`);
  await waitFor("the file to be held", async () => (await machine.fileStatus())?.state === "held");
  await machine.down();
  await run(["set", "offline", SECRETS.offline]);
  await machine.up();
  const { held } = await machine.status();
  expect(held.length).toBe(11);
  for (const { id } of held) {
    await run(["held", "drop", id, "--json"]);
    if (id === held[0]?.id) await run(["held", "allow", id]);
  }
  said.push(await whatIsSaid(machine));
  expect(toldBy(said.join("\n"))).toEqual([]);
  expect(toldBy(await everythingOnService(service, project))).toEqual([]);
});

scenario("what a request gets wrong is not repeated, whatever it is", async (lab) => {
  const folder = await lab.git.repository("a", { ".gitignore": "CLAUDE.md\n" });
  const machine = lab.machine("a", folder, emulator.account("refused-secrecy"));
  await machine.up();
  const { id } = await machine.projectOf();
  const secret = SECRETS.value;
  const long = `${secret} `.repeat(3000);
  const requests: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ["POST", "/v1/memories", { content: long, layer: "user" }],
    ["POST", "/v1/memories", { content: `${secret}\0`, layer: "user" }],
    ["POST", "/v1/memories", { content: "x", layer: secret }],
    ["POST", "/v1/memories", { content: "x", project_id: secret }],
    ["POST", "/v1/memories", { content: { secret }, layer: [secret] }],
    ["POST", "/v1/memories", secret],
    ["POST", `/v1/projects/${id}/sync`, { memories: [{ key: "a", value: long }] }],
    ["POST", `/v1/projects/${id}/sync`, { memories: [{ value: secret }, { key: secret }] }],
    ["POST", `/v1/projects/${id}/sync`, { crdt: secret }],
    ["POST", `/v1/projects/${id}/sync`, { crdt: { encoding: secret, documents: secret } }],
    ["POST", `/api/projects/${id}/sync`, { claude_md_content: [secret], metadata: secret }],
    ["POST", `/api/projects/${id}/sync`, { sessions: [{ id: secret, title: { secret } }] }],
    ["POST", "/api/projects", { id: secret, name: 1, metadata: [secret] }],
    ["POST", "/api/projects/connect", { project_id: secret, target_project_id: id }],
    [
      "POST",
      "/api/sync",
      { crdt: { encoding: "yjs-v1", documents: { project: { update: secret } } } },
    ],
    ["DELETE", `/api/projects/connect?project_id=${secret}`],
    ["DELETE", `/v1/memories/${secret}`],
    ["GET", `/v1/memories?project_id=${secret}&layer=${secret}&limit=${secret}&cursor=${secret}`],
    ["GET", `/v1/projects/${secret}`],
    ["GET", `/${secret}`],
    ["POST", "/_memsync/link", { dir: { secret }, id: secret }],
    ["POST", "/_memsync/token", { remote: [secret] }],
    ["POST", "/_memsync/import", { user: { memories: [{ key: secret }] } }],
  ];
  for (const [method, path, body] of requests) {
    const answer = await machine.gateway(method, path, body);
    const text = await answer.text();
    expect([method, path.slice(0, 20), answer.status >= 400]).toEqual([
      method,
      path.slice(0, 20),
      true,
    ]);
    expect([method, path.slice(0, 20), toldBy(text)]).toEqual([method, path.slice(0, 20), []]);
  }
  const commands: readonly (readonly string[])[] = [
    ["set", "big", "-"],
    ["set", "nul", "-"],
    ["import", "-"],
    ["login", "--url", "http://127.0.0.1:9", "--token-stdin"],
  ];
  for (const command of commands) {
    const stdin = command.includes("nul") ? `${secret}\0` : long;
    const { status, stdout, stderr } = await machine.run(command, { stdin });
    expect([command, status, toldBy(stdout + stderr)]).toEqual([command, 1, []]);
  }
  expect(toldBy(machine.logs())).toEqual([]);
});

scenario("a secret in the name of a folder or of a repository reaches no service", async (lab) => {
  const secret = PLANTED.otherGithub;
  const service = emulator.account("secret-names");
  const origins = [
    "",
    `https://host.test/ann/${secret}.git`,
    `https://ann:${secret}@host.test/ann/one`,
    `https://${secret}@host.test`,
    `ssh://git@host.test/ann/two.git?token=${secret}`,
    "ext::https://ann:sunflower@host.test",
  ];
  const { git } = lab;
  const machine = lab.machine("a", await git.repository(secret, {}), service);
  await machine.up();
  for (const [at, origin] of origins.entries()) {
    if (origin === "") continue;
    const folder = await git.repository(`folder-${at}`, { "CLAUDE.md": `# ${at}\n` });
    await git.run(folder, "remote", "add", "origin", origin);
    await machine.memsync("link", folder);
  }
  await machine.memsync("sync");
  const headers = { authorization: `Bearer ${service.token}` };
  const answer = await fetch(`${service.url}/api/projects`, { headers });
  const { projects } = (await answer.json()) as { projects: { name: string }[] };
  const names = projects.map(({ name }) => name).sort();
  expect(names).toEqual(["[secret]", "[secret]", "host.test", "host.test", "one", "two"]);
  expect(await Bun.file(join(machine.home, "daemon.log")).text()).not.toContain(secret);
});

scenario("an error repeats no secret that was typed", async (lab) => {
  const secret = PLANTED.otherGithub;
  const machine = lab.machine("a", await lab.git.repository("a", { "CLAUDE.md": "# One\n" }));
  const lines = [
    [secret],
    [`--${secret}`],
    ["get", secret],
    ["get", "x", secret],
    ["rm", secret],
    ["move", secret, "--layer", "user"],
    ["held", "show", secret],
    ["held", "allow", secret],
    ["env", "--remote", secret],
    ["list", "--layer", secret],
    ["list", "--project", secret],
    ["link", secret],
    ["login", "--url", secret],
    ["login", "--url", `https://ann:${secret}@host.test`, "--token-stdin"],
    ["project", "rm", secret],
    ["exec", secret],
    ["doc", "diff", secret, "--exit-code"],
    ["remote", "rm", secret],
    ["server", "account", "plan", secret, secret],
    ["get", `password: ${SECRETS.assigned}`],
  ];
  for (const without of [true, false]) {
    if (!without) await machine.up();
    for (const line of lines) {
      const { status, stdout, stderr } = await machine.run(line);
      expect([line, status]).not.toEqual([line, 0]);
      // Not even its beginning.
      const told = [secret.slice(0, 16), SECRETS.assigned].filter((each) => {
        return `${stdout}${stderr}`.includes(each);
      });
      expect([line, told]).toEqual([line, []]);
    }
  }
});
