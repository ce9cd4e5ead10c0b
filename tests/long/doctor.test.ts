import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Finding } from "../../cli/doctor/finding.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { oldGit } from "../support/old-git.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const TRANSCRIPT = join(import.meta.dir, "../data/sessions/claude-code/tool-heavy.jsonl");

async function makeMachine(lab: Lab, service?: ServiceConfig): Promise<Machine> {
  const folder = await lab.git.repository("a", { "CLAUDE.md": "# A\n" });
  return lab.machine("a", folder, service);
}

interface Examined {
  readonly status: number | null;
  readonly findings: readonly Finding[];
  /** What is not as it should be. */
  readonly troubles: readonly Finding[];
}

async function examine(machine: Machine, env: Record<string, string> = {}): Promise<Examined> {
  const { status, stdout } = await machine.run(["doctor", "--json"], { env });
  const findings = JSON.parse(stdout) as Finding[];
  return { status, findings, troubles: findings.filter(({ state }) => state === "wrong") };
}

/** One thing does not work, and how to mend it is said. */
function expectTrouble({ status, troubles }: Examined, about: string, detail: RegExp): void {
  expect(troubles.map((finding) => finding.about)).toEqual([about]);
  expect(troubles[0]?.detail).toMatch(detail);
  expect(troubles[0]?.mend).toMatch(/./);
  expect(status).toBe(1);
}

scenario("a machine on which all is well has nothing to mend", async (lab) => {
  const machine = await makeMachine(lab, emulator.account("doctor-well"));
  await machine.up();
  const { status, findings, troubles } = await examine(machine);
  expect([status, troubles]).toEqual([0, []]);
  const about = findings.map((finding) => finding.about);
  for (const each of ["daemon", "database", "projects", "service", "token", "clock"]) {
    expect(about).toContain(each);
  }
  expect(await machine.memsync("doctor")).toMatch(/^ok +daemon +running/m);
});

scenario("a token that may only read is said to be one, and is no trouble", async (lab) => {
  const { url } = emulator.account("unused");
  const machine = await makeMachine(lab, { url, token: "mst_dev_readonly" });
  await machine.up();
  await machine.memsync("set", "key", "value");
  expect((await machine.run(["sync"])).status).toBe(1);
  const { status, findings, troubles } = await examine(machine);
  expect([status, troubles]).toEqual([0, []]);
  const saidOf = (name: string) => findings.find(({ about }) => about === name);
  expect(saidOf("token")?.detail).toStartWith("taken; it may only read");
  expect(saidOf("projects")).toMatchObject({
    state: "warning",
    detail: expect.stringMatching(/^a: \d changes? stays? on this machine, for the token may only/),
  });
  const remotes = JSON.parse(await machine.memsync("remote", "list", "--json")) as {
    url: string | null;
    can_write: boolean | null;
  }[];
  expect(remotes.find((each) => each.url === url)?.can_write).toBe(false);
  expect(await machine.memsync("remote", "list")).toMatch(/^\S+ \(default, read-only\) /m);
  machine.service = emulator.account("writes");
  expect(await machine.memsync("remote", "list")).not.toContain("read-only");
});

scenario(
  "transcripts that are deleted soon, and of which there is no record, are found",
  async (lab) => {
    const machine = await makeMachine(lab, emulator.account("doctor-transcripts"));
    const said = async () =>
      (await examine(machine)).findings.filter(({ about }) => about === "sessions");
    expect(await said()).toEqual([]);
    const projects = join(lab.git.folder, ".claude", "projects", "p");
    mkdirSync(projects, { recursive: true });
    const weeksAgo = (weeks: number) => new Date(Date.now() - weeks * 7 * 86_400_000);
    const sample = readFileSync(TRANSCRIPT, "utf8");
    for (const [id, cwd, weeks] of [
      ["here", machine.folder, 4],
      ["elsewhere", lab.git.folder, 4],
      ["new", lab.git.folder, 3],
    ] as const) {
      const path = join(projects, `${id}.jsonl`);
      writeFileSync(path, sample.replaceAll("/projects/spotter", cwd));
      utimesSync(path, weeksAgo(weeks), weeksAgo(weeks));
    }
    expect(await said()).toMatchObject([
      {
        state: "warning",
        detail: "claude-code soon deletes 2 transcripts that were never read (cleanupPeriodDays)",
        mend: expect.stringContaining("memsync start"),
      },
    ]);
    await machine.up();
    const where = "of folders that are not linked: ~ (1)";
    await waitFor("them to be read", async () => (await said())[0]?.detail.includes("not linked"));
    expect(await said()).toMatchObject([
      {
        detail: expect.stringContaining(`1 transcript ${where}`),
        mend: expect.stringMatching(/memsync link DIR/),
      },
    ]);
    writeFileSync(join(lab.git.folder, ".claude", "settings.json"), '{"cleanupPeriodDays": 365}');
    expect(await said()).toMatchObject([{ state: "ok" }]);
    await machine.memsync("sessions", "off");
    expect(await said()).toMatchObject([
      { state: "ok", detail: expect.stringMatching(/memsync sessions on/) },
    ]);
  },
);

scenario("a git that is too old is found", async (lab) => {
  const machine = await makeMachine(lab);
  const PATH = `${oldGit(lab.git)}:${lab.git.env.PATH}`;
  expectTrouble(await examine(machine, { PATH }), "git", /^git version 2\.30\.2 is too old/);
});

scenario("a machine that never ran memsync is examined and nothing is made", async (lab) => {
  const machine = await makeMachine(lab);
  expect((await examine(machine)).status).toBe(0);
  expect(existsSync(machine.home)).toBeFalse();
});

scenario("a home that others may enter is found, and left as it is", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.memsync("set", "a", "1", "--layer", "user");
  chmodSync(machine.home, 0o755);
  expectTrouble(await examine(machine), "permissions", /others may open/);
  expectTrouble(await examine(machine), "permissions", /others may open/);
});

scenario(
  "a home that can't be made, and a database that can't be written, are found",
  async (lab) => {
    const machine = await makeMachine(lab);
    await machine.memsync("set", "a", "1", "--layer", "user");
    const env = { MEMSYNC_HOME: join(machine.home, "memsync.db", "home") };
    expectTrouble(await examine(machine, env), "home", /can't be made or looked into/);
    if (process.getuid?.() === 0) return;
    chmodSync(join(machine.home, "memsync.db"), 0o400);
    expectTrouble(await examine(machine), "database", /memsync\.db can't be written/);
  },
);

scenario("a damaged database is found", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  await machine.down();
  const path = join(machine.home, "memsync.db");
  const bytes = readFileSync(path);
  // The first page is left, so that it opens.
  writeFileSync(path, bytes.fill(0xa5, 8192, 65_536));
  const examined = await examine(machine);
  expectTrouble(examined, "database", /memsync\.db is damaged: /);
  expect(examined.troubles[0]?.mend).toContain("`memsync restart`");
  // What it says to do mends it.
  await machine.memsync("restart");
  expect((await examine(machine)).status).toBe(0);
});

/** It opens after that, for what it says of its own form is whole. */
function damageTable(machine: Machine, table: string): void {
  const path = join(machine.home, "memsync.db");
  const database = new Database(path);
  const root = database.query("select rootpage from sqlite_schema where name = ?").get(table);
  const { page_size: size } = database.query("pragma page_size").get() as { page_size: number };
  database.close();
  const { rootpage } = root as { rootpage: number };
  writeFileSync(path, readFileSync(path).fill(0xa5, (rootpage - 1) * size, rootpage * size));
}

scenario("without a daemon, status names the damage of whatever it reads", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  await machine.memsync("set", "key", "value");
  await machine.down();
  // Links and the inbox can be read, and the memories can't.
  damageTable(machine, "memories");
  const { status, stdout, stderr } = await machine.run(["status", "--json"]);
  expect(status).toBe(1);
  expect(stderr.replaceAll(/\s+/g, " ")).toMatch(
    /no daemon is running; the database in \S+ is damaged: `memsync restart` sets it aside/,
  );
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "no-daemon" } });
});

scenario("who finds the database damaged while reading is told what mends it", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  await machine.down();
  damageTable(machine, "links");
  for (const args of [["list"], ["get", "key"], ["set", "key", "value"]]) {
    const { status, stderr } = await machine.run(args);
    expect([args, status]).toEqual([args, 1]);
    expect(stderr).toContain(" is damaged: `memsync restart` sets it aside");
    expect(stderr).not.toContain("saved");
  }
  const set = await machine.run(["set", "key", "value", "--project", "proj_any"]);
  expect(set.stderr).toContain("is damaged: `memsync restart`");
  await machine.memsync("restart");
  await machine.memsync("set", "key", "value");
  expect(await machine.memsync("get", "key")).toBe("value");
});

scenario("the embedded service's database is examined, too, and mended as is said", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  await machine.memsync("set", "key", "value");
  await machine.sync();
  expect((await examine(machine)).findings.map(({ about }) => about)).toContain("service.db");
  await machine.down();
  const path = join(machine.home, "service.db");
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xa5, 8192, 65_536));
  const examined = await examine(machine);
  expectTrouble(examined, "service.db", /service\.db is damaged: /);
  expect(examined.troubles[0]?.mend).toContain("`memsync restart`");
  await machine.memsync("restart");
  expect((await examine(machine)).status).toBe(0);
  await machine.sync();
  expect(await machine.memsync("get", "key")).toBe("value");
});

for (const name of ["memsync.db", "service.db"]) {
  scenario(`${name} of a newer version is found, and said to want an update`, async (lab) => {
    const machine = await makeMachine(lab);
    await machine.up();
    await machine.down();
    const database = new Database(join(machine.home, name));
    database.exec("insert into schema_migrations (name) values ('9999-future')");
    database.close();
    const about = name === "memsync.db" ? "database" : name;
    const examined = await examine(machine);
    expectTrouble(examined, about, /was written by a newer memsync than this one/);
    expect(examined.troubles[0]?.mend).toStartWith("update memsync");
    expect((await machine.run(["start"])).stderr).toContain(`${name} can't be opened: `);
    // Of the service's database only the daemon knows.
    const why = name === "memsync.db" ? `; \\S+ can't be opened: .*update` : ": start it with";
    const { stderr } = await machine.run(["status"]);
    expect(stderr).toMatch(new RegExp(`^memsync: no daemon is running${why} `));
  });
}

scenario("a folder that is gone is found by its code, with what to do", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  await machine.sync();
  await rm(machine.folder, { recursive: true });
  await waitFor("the folder to be gone", async () => {
    await machine.syncOnce();
    return (await machine.fileStatus())?.why === "folder-gone";
  });
  const { stdout } = await machine.run(["doctor", "--json"], { cwd: lab.git.folder });
  const projects = (JSON.parse(stdout) as Finding[]).find(({ about }) => about === "projects");
  expect(projects?.mend).toBe(`bring the folder back, or \`memsync unlink ${machine.folder}\``);
});

scenario("a database that is not as memsync made it is found, told and set aside", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  await machine.memsync("set", "key", "value");
  const database = new Database(join(machine.home, "memsync.db"));
  // The daemon may be writing.
  database.exec("pragma busy_timeout = 20000");
  database.exec("alter table followed_files rename column form to other");
  database.close();
  const isTold = async () => {
    for (const command of ["list", "get key", "doc", "status", "sync", "set another value"]) {
      const { status, stdout, stderr } = await machine.run(command.split(" "));
      expect([command, status, stdout]).toEqual([command, 1, ""]);
      expect(stderr).toContain("(it has no column form of followed_files): `memsync restart`");
    }
  };
  await isTold();
  await machine.down();
  await isTold();
  expectTrouble(await examine(machine), "database", /it has no column form of followed_files/);
  await machine.memsync("restart");
  const { status, findings } = await examine(machine);
  expect(status).toBe(0);
  expect(findings.find(({ about }) => about === "set aside")?.state).toBe("warning");
  expect((await machine.list()).map(({ value }) => value)).toEqual(["value"]);
});

scenario("a file that can't be looked at is never said to be synced", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  await machine.sync();
  const database = new Database(join(machine.home, "memsync.db"));
  const bases = database.query("select base from followed_files").all() as { base: string }[];
  const setBase = database.query("update followed_files set base = ?");
  setBase.run("nonsense");
  appendFileSync(join(machine.folder, "CLAUDE.md"), "more\n");
  await waitFor("the file to fail", async () => (await machine.fileStatus())?.state === "failing");
  const file = join(machine.folder, "CLAUDE.md");
  const { status, stderr } = await machine.run(["sync"]);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${file} is not followed: `)]);
  expect(await machine.memsync("status")).toMatch(
    /CLAUDE.md {3}not followed: .*\n.*the file is not/,
  );
  expectTrouble(await examine(machine), "files", /CLAUDE.md is not followed: JSON Parse error/);
  setBase.run(bases[0]?.base ?? "");
  database.close();
  await machine.sync();
  expect(await machine.memsync("doc")).toContain("more");
  expect((await examine(machine)).status).toBe(0);
});

scenario("a daemon that does not answer is found", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  machine.daemon?.freeze();
  expectTrouble(await examine(machine), "daemon", /does not answer/);
  const { status, stderr } = await machine.run(["status"]);
  expect(status).toBe(1);
  expect(stderr).toContain("the daemon does not answer: `memsync restart`");
});

scenario("a service that can't be reached, or does not know the token, is found", async (lab) => {
  const machine = await makeMachine(lab, { url: "http://127.0.0.1:1", token: "mst_dev_pro" });
  expectTrouble(await examine(machine), "service", /can't be reached: the connection was/);
  const { url } = emulator.account("doctor");
  machine.service = { url, token: "mst_dev_readonly" };
  await machine.up();
  await machine.memsync("set", "key", "value");
  await waitFor("the service to refuse it", async () => {
    const { projects } = await machine.status();
    return projects.some(({ refused }) =>
      refused?.includes("give `memsync login`, or MEMSYNC_TOKEN,"),
    );
  });
  await machine.down();
  machine.service = { url, token: "mst_unknown" };
  expectTrouble(await examine(machine), "token", /not taken/);
});

scenario("a clock that differs from the service's is a warning", async (lab) => {
  using service = Bun.serve({
    port: 0,
    fetch() {
      const date = new Date(Date.now() - 3_600_000).toUTCString();
      return Response.json({ sessions: [] }, { headers: { date } });
    },
  });
  const url = `http://127.0.0.1:${service.port}`;
  const machine = await makeMachine(lab, { url, token: "mst_dev_pro" });
  const { status, findings } = await examine(machine);
  const clock = findings.find(({ about }) => about === "clock");
  expect(status).toBe(0);
  expect(clock?.state).toBe("warning");
  expect(clock?.detail).toMatch(/^36\d\d s ahead/);
});

scenario("a shell that names another service than the daemon is told", async (lab) => {
  const service = emulator.account("doctor-shell");
  const machine = await makeMachine(lab, service);
  await machine.up();
  machine.service = undefined;
  const { findings } = await examine(machine);
  expect(findings.find(({ about }) => about === "daemon")).toMatchObject({
    state: "warning",
    detail: `running with MEMSYNC_URL ${service.url}, which is unset here`,
    mend: expect.stringContaining("memsync stop"),
  });
  const other = await machine.run(["doctor"], { env: { MEMSYNC_URL: "http://a:secret@host" } });
  expect(other.stdout).toContain("MEMSYNC_URL is another here");
  expect(other.stdout + other.stderr).not.toContain("secret");
  // What would be sent is sent by the daemon, wherever it is asked about.
  const previews = JSON.parse(await machine.memsync("preview", "--json")) as object[];
  expect(previews).toContainEqual(expect.objectContaining({ service: service.url }));
});
