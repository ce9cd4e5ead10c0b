import { expect } from "bun:test";
import { mkdir } from "node:fs/promises";
import type { Finding } from "../../cli/doctor/finding.ts";
import { startHost } from "../support/host-server.ts";
import { type Lab, scenario } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

/** A machine with three projects, all synced, whose token is revoked then. */
async function revoked(lab: Lab) {
  const host = await startHost();
  await host.admin.createAccount("acme", "pro");
  const { id, token } = await host.token({ account: "acme" });
  const folders = ["one", "two", "three"].map((name) => lab.git.path(name));
  for (const folder of folders) await mkdir(folder);
  const [first = ""] = folders;
  const machine = lab.machine("a", first);
  const login = (given: string) =>
    machine.run(["login", "--url", host.url, "--token-stdin"], { stdin: given });
  expect((await login(token)).status).toBe(0);
  await machine.memsync("start", ...folders);
  await machine.memsync("set", "key", "value");
  await machine.untilSynced();
  await host.admin.revokeToken(id);
  return { host, machine, login, token };
}

scenario("a sync with a revoked token says that it is refused, and what mends it", async (lab) => {
  const { host, machine, login, token } = await revoked(lab);
  await using _host = host;
  // A server may read with a revoked token for two seconds, and until then all is synced indeed.
  await waitFor("the server to refuse the token", async () => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${host.url}/v1/me`, { headers })).status === 401;
  });
  const told = await machine.run(["sync", "--wait", "3600"]);
  expect(told.status).toBe(1);
  expect(told.stderr).toContain(`${host.url} refuses the token (`);
  expect(told.stderr).toContain("`memsync login` gives the service another one");
  expect(told.stdout + told.stderr).not.toContain("all synced");
  const shown = await machine.memsync("status");
  expect(shown.match(/memsync login|\b401\b|refuse/g)).toEqual(["refuse", "401", "memsync login"]);
  expect(shown.match(/^ .*nothing waiting$/gm)).toHaveLength(3);
  const found = JSON.parse((await machine.run(["doctor", "--json"])).stdout) as Finding[];
  expect(found.filter(({ state }) => state === "wrong")).toEqual([
    {
      about: "token",
      state: "wrong",
      code: "token-not-taken",
      detail: expect.any(String),
      mend: expect.any(String),
    },
  ]);
  const another = await host.token({ account: "acme" });
  expect((await login(another.token)).status).toBe(0);
  await machine.untilSynced();
  expect(await machine.memsync("sync")).toContain("everything is synced");
});

scenario("the status tells of a revoked token though nobody syncs", async (lab) => {
  const { host, machine } = await revoked(lab);
  await using _host = host;
  const revokedAt = performance.now();
  await waitFor("the status to say so", async () => (await machine.status()).service.token_refused);
  // The service ends the sockets of a revoked token within two seconds, and the end is looked into.
  expect(performance.now() - revokedAt).toBeLessThan(5000);
});

scenario("`up` says that the token is refused, and never that it is connected", async (lab) => {
  await using host = await startHost();
  const { admin } = host;
  await admin.createAccount("acme", "pro");
  const { id, token } = await host.token({ account: "acme" });
  await admin.revokeToken(id);
  const folder = await lab.git.repository("widget", { "README.md": "" });
  const machine = lab.machine("a", folder, { url: host.url, token });
  const up = machine.spawn(["up"]);
  await up.untilPrinted(/refuses the token/);
  await machine.memsync("set", "key", "value");
  await machine.run(["sync"]);
  const told = await waitFor("the log to say so", async () => {
    const log = await machine.memsync("logs");
    return / refused +http\S+ +the token: it answered 401/.test(log) && log;
  });
  expect(told).not.toMatch(/ connected +http/);
  expect((await up.end("SIGTERM")).stdout).not.toMatch(/ connected +http/);
});

scenario("login says when a token expires, and the status does in its last week", async (lab) => {
  await using host = await startHost();
  await host.admin.createAccount("acme", "pro");
  const machine = lab.machine("a", await lab.git.repository("widget", { "README.md": "" }));
  const loginWith = async (days: number | undefined, ...flags: string[]) => {
    const end = days === undefined ? null : Date.now() + days * 86_400_000;
    const { token } = await host.token({ account: "acme", expiresAt: end });
    const login = ["login", "--url", host.url, "--token-stdin", ...flags];
    return { end, said: (await machine.run(login, { stdin: token })).stdout };
  };
  const told = async () => {
    const shown = (await machine.memsync("status")).split("\n");
    return shown.filter((line) => line.startsWith("token "));
  };
  expect((await loginWith(30.5)).said).toMatch(
    /^the token expires in 30 days \(\d{4}-\d\d-\d\d\)$/im,
  );
  await machine.memsync("start", ".");
  await machine.untilSynced();
  expect(await told()).toEqual([]);
  const { end, said } = await loginWith(3.5, "--json");
  expect(JSON.parse(said)).toMatchObject({ token_expires_at: new Date(end ?? 0).toISOString() });
  await waitFor("the status to say so", async () => (await told()).length > 0);
  expect(await told()).toEqual([
    expect.stringMatching(/^token +expires in 3 days: `memsync login`/),
  ]);
  expect((await loginWith(undefined)).said).not.toContain("expires");
  await waitFor("the status to say nothing more", async () => (await told()).length === 0);
});
