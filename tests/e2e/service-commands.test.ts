import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { type Machine, MEMSYNC } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

const SESSION = {
  id: "sess_one",
  title: "Make it faster",
  source: "claude-code",
  started_at: "2026-01-01T10:00:00.000Z",
  last_activity_at: "2026-01-01T11:00:00.000Z",
  message_count: 12,
};

scenario("stats and sessions are the service's, or the replica's, and say which", async (lab) => {
  const service = emulator.account("stats");
  const network = await lab.network(service);
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, network);
  const answer = async (...args: readonly string[]) =>
    JSON.parse(await machine.memsync(...args, "--json")) as Record<string, unknown>;
  expect(await answer("stats")).toMatchObject({ source: "replica", memories: { total: 0 } });
  expect(await answer("sessions")).toMatchObject({ source: "replica", sessions: [], total: 0 });

  await machine.up();
  await machine.memsync("set", "key", "value");
  await machine.untilSynced();
  const { id } = await machine.projectOf();
  // Told to the service alone, so that the two answers differ.
  await fetch(`${service.url}/api/projects/${id}/sync`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}` },
    body: JSON.stringify({ sessions: [SESSION] }),
  });
  const there = { source: "service", service: network.url };
  expect(await answer("stats")).toMatchObject({ ...there, memories: { total: 1 }, sessions: 1 });
  expect(await answer("sessions", "--project", ".")).toMatchObject({
    ...there,
    sessions: [{ id: "sess_one" }],
    total: 1,
  });
  expect(await machine.memsync("sessions")).toContain("Make it faster");
  expect(await machine.memsync("stats")).toContain(`as ${network.url} says`);

  network.cut();
  const here = {
    source: "replica",
    code: "not-answered",
    reason: expect.stringContaining(network.url),
  };
  await waitFor("the service to be missed", async () =>
    Bun.deepEquals((await answer("stats")).source, "replica"),
  );
  expect(await answer("stats")).toMatchObject({ ...here, memories: { total: 1 }, sessions: 0 });
  expect(await machine.memsync("stats")).toContain("as this machine knows");
  await machine.down();
  expect(await answer("stats")).toMatchObject({
    source: "replica",
    code: "no-daemon",
    reason: "no daemon is running",
    memories: { total: 1, project: 1 },
    in_inbox: 0,
  });
  await expectInboxCounted(machine);
  expect((await machine.run(["sessions", "--limit", "0"])).status).toBe(2);
});

/** What was saved without a daemon counts as it does with the next one. */
async function expectInboxCounted(machine: Machine): Promise<void> {
  const figures = async () => {
    const stats = JSON.parse(await machine.memsync("stats", "--json")) as Record<string, unknown>;
    const { projects, memories, storage_bytes, in_inbox } = stats;
    return [{ projects, memories, storage_bytes }, in_inbox];
  };
  await machine.memsync("start");
  const folder = join(dirname(machine.folder), "elsewhere");
  await mkdir(folder);
  await machine.memsync("link", folder, "--id", "proj_elsewhere");
  await machine.memsync("unlink", folder);
  await machine.memsync("stop");
  await machine.memsync("set", "new", "ä");
  await machine.memsync("set", "key", "a longer value");
  await machine.memsync("set", "mine", "v", "--layer", "user");
  await machine.memsync("set", "gone", "v", "--layer", "user");
  await machine.memsync("rm", "gone", "--layer", "user");
  await machine.memsync("set", "k", "v", "--project", "proj_elsewhere");
  expect(await machine.memsync("stats")).toContain("6 writes among it wait for the next daemon");
  const [counted, waiting] = await figures();
  expect([counted, waiting]).toEqual([
    expect.objectContaining({ memories: { total: 4, project: 3, user: 1, global: 0 } }),
    6,
  ]);
  const alone = await machine.run(["status"]);
  expect(alone.stderr).toContain("6 writes saved meanwhile wait for it: `memsync preview`");
  await machine.memsync("start");
  await machine.down();
  await machine.memsync("stop");
  expect(await figures()).toEqual([counted, 0]);
}

scenario(
  "projects are connected by folder and by id, and never in silence offline",
  async (lab) => {
    const service = emulator.account("connect");
    const network = await lab.network(service);
    const one = await lab.git.repository("one", { "README.md": "one" });
    const other = await lab.git.repository("other", { "README.md": "other" });
    const machine = lab.machine("a", one, network);
    const noDaemon = await machine.run(["connect", "proj_a", "proj_b"]);
    expect([noDaemon.status, noDaemon.stderr]).toEqual([
      1,
      expect.stringContaining("no daemon is running"),
    ]);
    await machine.up(one, other);
    await machine.untilSynced();
    const ids = [(await machine.projectOf(one)).id, (await machine.projectOf(other)).id];
    const connected = async () => {
      const response = await fetch(`${service.url}/api/projects/${ids[0]}`, {
        headers: { authorization: `Bearer ${service.token}` },
      });
      return ((await response.json()) as { connected_project_ids: string[] }).connected_project_ids;
    };
    await machine.memsync("set", "deploy", "the other waits", "--project", ids[1] ?? "");
    const said = await machine.memsync("connect", ".", "../other");
    expect(await machine.memsync("search", "waits")).toContain("the other waits");
    expect(said).toStartWith("connected one and other\n");
    expect(said).toContain(`connected_projects of GET /api/projects/${ids[0]}`);
    expect(await connected()).toEqual([ids[1] ?? ""]);
    await machine.memsync("disconnect", ids[0] ?? "", ids[1] ?? "", "--json");
    expect(await connected()).toEqual([]);
    expect((await machine.run(["connect", ".", one])).status).toBe(2);
    const unknown = await machine.run(["connect", ".", "proj_unknown"]);
    expect([unknown.status, unknown.stdout]).toEqual([1, ""]);
    expect(unknown.stderr).toContain("once that is linked and synced");
    network.cut();
    const cut = await machine.run(["connect", ".", "../other"]);
    expect([cut.status, cut.stdout]).toEqual([1, ""]);
    expect(cut.stderr).toContain("connections are made by the service");
    const code = await waitFor("the service to be missed", async () => {
      const { stdout } = await machine.run(["connect", ".", "../other", "--json"]);
      const { error } = JSON.parse(stdout) as { error: { code: string } };
      return error.code !== "internal" && error.code;
    });
    expect(code).toBe("offline");
    expect(await connected()).toEqual([]);
  },
);

scenario("exec gives a command an emulator and a home, and takes them away", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const memsync = MEMSYNC.map((word) => `'${word}'`).join(" ");
  const script = `
    echo "$MEMSYNC_HOME"; ls -A "$MEMSYNC_HOME"
    ${memsync} start . > /dev/null && ${memsync} set key "$0" && ${memsync} sync > /dev/null
    ${memsync} stats --json; cat; exit 7`;
  const done = await machine.run(["exec", "--limits", "off", "--", "sh", "-c", script, "a -b"], {
    stdin: "from standard input",
  });
  expect(done.status).toBe(7);
  const [home = "", ...rest] = done.stdout.split("\n");
  expect(rest.join("\n")).toContain('"source": "service"');
  expect(rest.join("\n")).toContain('"project": 1');
  expect(rest.at(-1)).toBe("from standard input");
  expect(home).not.toBe(machine.home);
  expect(existsSync(home)).toBe(false);
  // It ends while a daemon of its home is just starting.
  const over = lab.git.path("started");
  const starting = `(${memsync} start . > /dev/null 2>&1; echo $? > '${over}') &
    until [ -e "$MEMSYNC_HOME/daemon.lock" ]; do :; done; echo "$MEMSYNC_HOME"`;
  const early = await machine.run(["exec", "--", "sh", "-c", starting]);
  expect(early).toMatchObject({ status: 0, stderr: "" });
  await waitFor("the start to be over", () => existsSync(over));
  expect(existsSync(early.stdout.trim())).toBe(false);
  const beyond = 'curl -s --oauth2-bearer "$MEMSYNC_TOKEN" "$MEMSYNC_URL/v1/sessions?limit=1"';
  const asked = 'curl -s "$MEMSYNC_URL/_emulator/violations"';
  for (const [flags, told] of [
    [["--strict"], true],
    [[], false],
  ] as const) {
    const strict = ["exec", ...flags, "--", "sh", "-c", `${beyond}; ${asked}`];
    expect((await machine.run(strict)).stdout.includes('"unpublished-')).toBe(told);
  }
  const missing = await machine.run(["exec", "no-such-command-anywhere"]);
  expect([missing.status, missing.stderr]).toEqual([127, expect.stringContaining("no such")]);
  expect((await machine.run(["exec"])).status).toBe(2);
  expect((await machine.run(["exec", "--plan", "free", "--", "true"])).status).toBe(2);
});

scenario("exec passes signals on, and ends as its command does", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const script = 'trap "echo got it; exit 3" TERM; echo ready; while :; do sleep 0.05; done';
  const trapping = machine.spawn(["exec", "--", "sh", "-c", script]);
  await trapping.untilPrinted(/ready/);
  expect(await trapping.end("SIGTERM")).toMatchObject({ status: 3, stdout: "ready\ngot it\n" });
  const killed = await machine.run(["exec", "--", "sh", "-c", "kill -KILL $$"]);
  expect(killed.status).toBe(128 + 9);
});

scenario("what a killed exec leaves is ended and deleted, and nothing of others", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const place = lab.git.path("t");
  await mkdir(place);
  const env = { TMPDIR: place };
  const memsync = MEMSYNC.map((word) => `'${word}'`).join(" ");
  const waiting = `trap 'exit 3' TERM; echo "in $MEMSYNC_HOME by $$ ready"
    while :; do sleep 0.05; done`;
  const script = `${memsync} start . > /dev/null; ${waiting}`;
  const killed = machine.spawn(["exec", "--", "sh", "-c", script], { env });
  const left = await killed.untilPrinted(/in (\S+) by/);
  const command = Number(await killed.untilPrinted(/by (\d+) ready/));
  const daemon = JSON.parse(await readFile(join(left, "daemon.json"), "utf8")).pid as number;
  const ended = killed.end("SIGKILL");
  try {
    await waitFor("its command to be ended", () => !isAlive(command));
  } finally {
    // While it lives, it may write into what it was given.
    if (isAlive(command)) process.kill(command, "SIGKILL");
    await ended;
  }
  expect(isAlive(daemon)).toBe(true);
  const alive = machine.spawn(["exec", "--", "sh", "-c", waiting], { env });
  const used = await alive.untilPrinted(/in (\S+) by/);
  await waitFor("the daemon to be ended", () => !isAlive(daemon));
  // Folders with such a name that nobody has said to be one's own to delete.
  for (const [name, mode] of [
    ["memsync-exec-Abc123", 0o755],
    ["memsync-exec-notes", 0o700],
  ] as const) {
    await mkdir(join(place, name), { mode });
    await writeFile(join(place, name, "held.lock"), "");
  }
  await mkdir(join(place, "memsync-exec-Abc124", "notes"), { recursive: true });
  await chmod(join(place, "memsync-exec-Abc124"), 0o700);
  const others = ["memsync-exec-Abc123", "memsync-exec-Abc124", "memsync-exec-notes"];
  const kept = [...others, basename(dirname(used))].sort();
  expect((await readdir(place)).sort()).toEqual(kept);
  // Left behind by one that had no daemon, and met by several at once.
  await mkdir(join(place, "memsync-demo-Abc125"), { mode: 0o700 });
  await writeFile(join(place, "memsync-demo-Abc125", "held.lock"), "");
  const once = () => machine.run(["exec", "--", "sh", "-c", "ls -d $MEMSYNC_HOME"], { env });
  const runs = await Promise.all([once(), once(), once()]);
  expect(runs.map(({ status }) => status)).toEqual([0, 0, 0]);
  expect((await readdir(place)).sort()).toEqual(kept);
  expect((await alive.end("SIGTERM")).status).toBe(3);
  expect((await readdir(place)).sort()).toEqual(others);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

scenario("emulator env names a running emulator, and none that does not run", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const { url } = emulator.account("env");
  const { port } = new URL(url);
  const variables = { MEMSYNC_URL: url, MEMSYNC_TOKEN: "mst_dev_pro" };
  expect(JSON.parse(await machine.memsync("emulator", "env", "--port", port, "--json"))).toEqual(
    variables,
  );
  expect(await machine.memsync("emulator", "env", "--port", port)).toBe(
    `export MEMSYNC_URL=${url}\nexport MEMSYNC_TOKEN=mst_dev_pro\n`,
  );
  const none = await machine.run(["emulator", "env", "--port", "1"]);
  expect([none.status, none.stdout]).toEqual([1, ""]);
});
