import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Finding } from "../../cli/doctor/finding.ts";
import { startHost } from "../support/host-server.ts";
import { scenario } from "../support/lab.ts";

/** Of each kind of command without a daemon: what reads, what saves, and what changes remotes. */
const WITHOUT_DAEMON = [
  ["list"],
  ["status"],
  ["personal"],
  ["set", "key", "value", "--layer", "user"],
  ["rm", "kept", "--layer", "user"],
  ["remote", "list"],
  ["remote", "add", "other", "https://other.example"],
];

scenario("no command makes an empty database in place of a home's lost one", async (lab) => {
  await using host = await startHost();
  await host.admin.createAccount("acme", "pro");
  const { token } = await host.token({ account: "acme" });
  const folder = await lab.git.repository("widget", { "README.md": "" });
  await writeFile(join(folder, ".memsyncignore"), "CLAUDE.md\n");
  await writeFile(join(folder, "CLAUDE.md"), "only here\n");
  const machine = lab.machine("a", folder);
  await machine.memsync("start", ".");
  await machine.memsync("set", "kept", "value", "--layer", "user");
  // The name is said no more, and stays until somebody allows it.
  await rm(join(folder, ".memsyncignore"));
  await machine.memsync("stop");
  const database = join(machine.home, "memsync.db");
  await rm(database);
  const login = ["login", "--url", host.url, "--token-stdin"];
  const refuses = async (line: string[]) => {
    const told = await machine.run(line, { stdin: token });
    const words = "is gone: `memsync restart` makes a new one of the copies beside it";
    expect([line, told.status, told.stderr]).toEqual([line, 1, expect.stringContaining(words)]);
  };
  for (const line of [...WITHOUT_DAEMON, login]) {
    await refuses(line);
    expect(existsSync(database)).toBe(false);
  }
  // As a daemon that was killed leaves it.
  await writeFile(`${database}-wal`, "a log");
  await refuses(login);
  await rm(`${database}-wal`);
  // As whoever looks with another program makes it.
  const empty = new Database(database);
  empty.exec("pragma user_version = 1");
  empty.close();
  for (const line of [...WITHOUT_DAEMON, login]) await refuses(line);
  const found = JSON.parse((await machine.run(["doctor", "--json"])).stdout) as Finding[];
  expect(found).toContainEqual(expect.objectContaining({ code: "database-lost", state: "wrong" }));

  await machine.memsync("restart");
  expect((await machine.run(login, { stdin: token })).status).toBe(0);
  expect(await machine.memsync("status")).toContain("was damaged (it is empty)");
  expect(await machine.memsync("doc")).not.toContain("only here");
});
