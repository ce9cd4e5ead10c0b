import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Lab, scenario } from "../support/lab.ts";
import type { CommandOptions, Machine } from "../support/machine.ts";
import { TERMINALS } from "../support/needs.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { type RunningServer, ServerFolder } from "../support/server-process.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

const SEEN = "memsync: global is seen by everybody in acme (3 users)\n";
const GLOBAL = ["--layer", "global"];
const QUESTION =
  /global is seen by everybody in acme \(3 users\)\. Is it to be saved there\? \[y\/N\]/;

interface Team {
  readonly folder: ServerFolder;
  readonly server: RunningServer;
  /** A machine of one of the account's users, who is made if there is none of that name. */
  machine(user: string, account?: string): Promise<Machine>;
}

/** A server with the account acme, of ann, bob and eve. */
async function withTeam(lab: Lab, work: (team: Team) => Promise<void>): Promise<void> {
  await using folder = await ServerFolder.create();
  const tokens = new Map<string, string>();
  for (const user of ["ann", "bob", "eve"]) {
    tokens.set(user, await folder.token("acme", "--user", user));
  }
  const server = await folder.server();
  const machine = async (user: string, account = "acme") => {
    const token = tokens.get(user) ?? (await folder.token(account, "--user", user));
    return machineIn(lab, user, { url: server.url, token });
  };
  await work({ folder, server, machine });
}

function machineIn(lab: Lab, name: string, service?: Machine["service"]): Machine {
  const dir = lab.git.path(`folder-${name}`);
  mkdirSync(dir, { recursive: true });
  return lab.machine(name, dir, service);
}

/** What a command that ends well says beside its output, but for when it will be sent. */
async function aside(machine: Machine, args: readonly string[], options: CommandOptions = {}) {
  const { status, stderr } = await machine.run(args, options);
  expect([args, status, stderr]).toEqual([args, 0, expect.any(String)]);
  return stderr.replace(/^memsync: saved; will be sent [^\n]*\n/m, "");
}

scenario("who sees global is said by every command that writes there, and by no other", (lab) =>
  withTeam(lab, async ({ machine }) => {
    const ann = await machine("ann");
    await ann.up();
    expect(await aside(ann, ["set", "mine", "v", "--layer", "user"])).toBe("");
    expect(await aside(ann, ["set", "style", "tabs", ...GLOBAL])).toBe(SEEN);
    expect(await aside(ann, ["set", "style", "spaces", ...GLOBAL])).toBe(SEEN);
    expect(await aside(ann, ["add", "a note", ...GLOBAL])).toBe(SEEN);
    expect(await aside(ann, ["add", "-", "--json", ...GLOBAL], { stdin: "from a pipe" })).toBe(
      SEEN,
    );
    const history = JSON.parse(await ann.memsync("history", "style", "--json"));
    const { rev } = history.find(({ value }: { value: string }) => value === "tabs");
    expect(await aside(ann, ["restore", "style", rev])).toBe(SEEN);
    expect(await aside(ann, ["rm", "style", ...GLOBAL])).toBe(SEEN);
    expect(await aside(ann, ["set", "token", PLANTED.github, ...GLOBAL])).toContain(SEEN);
    const [held] = JSON.parse(await ann.memsync("held", "--json"));
    expect(await aside(ann, ["held", "allow", held.id])).toBe(SEEN);
    const file = join(ann.folder, "memories.json");
    await ann.memsync("export", file);
    expect(await aside(ann, ["import", file])).toBe(SEEN);
    const without = JSON.parse(await Bun.file(file).text());
    writeFileSync(file, JSON.stringify({ ...without, global: { memories: [] } }));
    expect(await aside(ann, ["import", file])).toBe("");
  }),
);

scenario("a colleague is shown who sees what, and the owner of a lonely account is not", (lab) =>
  withTeam(lab, async ({ machine, folder }) => {
    const [ann, bob] = [await machine("ann"), await machine("bob")];
    await Promise.all([ann.up(), bob.up()]);
    await ann.memsync("set", "style", "tabs", ...GLOBAL);
    await ann.memsync("set", "mine", "secret of ann", "--layer", "user");
    await ann.untilSynced();
    await waitFor("bob to have it", async () => (await bob.list()).length === 1);
    const listed = await bob.run(["list"]);
    expect([listed.stdout, listed.stderr]).toEqual(["style  global  tabs\n", SEEN]);
    expect((await bob.run(["search", "tabs"])).stderr).toBe(SEEN);
    expect((await bob.run(["get", "style"])).stderr).toBe("");
    await bob.untilSynced();
    await waitFor("the status to say it", async () => {
      return (await bob.memsync("status")).includes("seen by everybody in acme (3 users)");
    });
    const lines = (await bob.memsync("status")).split("\n");
    expect(lines).toContain("user      seen by you alone: 0 memories saved, all synced");
    const line = "seen by everybody in acme (3 users): 1 memory saved, all synced";
    expect(lines).toContain(`global    ${line}`);
    expect((await bob.status()).remotes[0]?.audience).toMatchObject({ account: "acme", users: 3 });
    expect(await bob.ask("GET", "/api/account")).toEqual({
      ...{ name: "acme", plan: "team", users: 3 },
      user: "bob",
    });
    expect(await bob.ask("GET", "/api/projects/stats")).toMatchObject({ plan: "team" });
    const alone = machineIn(lab, "alone", {
      url: ann.service?.url ?? "",
      token: await folder.token("lonely"),
    });
    await alone.up();
    expect(await aside(alone, ["set", "style", "tabs", ...GLOBAL])).toBe("");
    expect(await aside(alone, ["list"])).toBe("");
    expect(await alone.memsync("status")).toContain(
      "global    seen by everybody in lonely (1 user)",
    );
    await folder.token("lonely", "--user", "joe");
    const joined = "memsync: global is seen by everybody in lonely (2 users)\n";
    // At once, where the service answers within the time that a writer waits.
    await waitFor("a write to tell of the new colleague", async () => {
      return (await aside(alone, ["set", "style", "spaces", ...GLOBAL])) === joined;
    });
    // The service tells it on its socket, so a list needs no question.
    await folder.token("lonely", "--user", "sue");
    await waitFor("a list to tell of the next one", async () => {
      return (await aside(alone, ["list"])).includes("lonely (3 users)");
    });
    const nowhere = machineIn(lab, "nowhere");
    expect(await aside(nowhere, ["set", "style", "tabs", ...GLOBAL])).toBe("");
    await nowhere.up();
    expect(await aside(nowhere, ["set", "style", "spaces", ...GLOBAL])).toBe("");
    expect(await nowhere.memsync("status")).toContain("global    seen by you alone: 1 memory");
  }),
);

/** What its home was told of accounts was told years ago. */
function forgetHours({ home }: Machine): void {
  const database = new Database(join(home, "memsync.db"));
  database.run("UPDATE audiences SET heard_at = 1");
  database.close();
}

scenario("offline, and without a daemon, what was heard last counts", (lab) =>
  withTeam(lab, async ({ machine, server, folder }) => {
    const ann = await machine("ann");
    const unheard = "memsync: global is seen by everybody in this account\n";
    expect(await aside(ann, ["set", "before", "v", ...GLOBAL])).toBe(unheard);
    await ann.up();
    expect(await aside(ann, ["set", "style", "tabs", ...GLOBAL])).toBe(SEEN);
    // A server that runs would tell of whoever comes.
    await server.process.end("SIGKILL");
    await folder.token("acme", "--user", "joe");
    // With its time, if that took long.
    const seen = /^memsync: global is seen by everybody in acme \(3 users( as of \S+)?\)\n$/;
    expect(await aside(ann, ["set", "style", "2", ...GLOBAL])).toMatch(seen);
    await ann.down();
    expect(await aside(ann, ["set", "style", "3", ...GLOBAL])).toMatch(seen);
    const waits = `global   to ${server.url}, seen by everybody in acme (3 users`;
    expect(await ann.memsync("preview")).toContain(waits);
    await ann.up();
    expect(await aside(ann, ["set", "style", "4", ...GLOBAL])).toMatch(seen);
    await ann.down();
    forgetHours(ann);
    const aged = /global is seen by everybody in acme \(3 users[ )]/;
    expect(await aside(ann, ["set", "style", "4", ...GLOBAL])).toMatch(aged);
    expect(await aside(ann, ["list"])).toMatch(aged);
    await ann.up();
    expect(await aside(ann, ["set", "style", "5", ...GLOBAL])).toMatch(aged);
    expect(await ann.memsync("status")).toMatch(/acme \(3 users as of \S+\)/);
    await ann.down();
    // A daemon that starts asks anew.
    const again = await folder.server("--port", `${server.port}`);
    expect(again.port).toBe(server.port);
    await ann.up();
    await ann.untilSynced();
    expect(await aside(ann, ["set", "style", "5", ...GLOBAL])).toContain("acme (4 users)");
  }),
);

scenario("a service that does not tell is said to show global to everybody", async (lab) => {
  const emulator = await lab.emulator(undefined, ["--published-only"]);
  const machine = machineIn(lab, "plain", { url: emulator.url, token: "mst_dev_plain" });
  await machine.up();
  await machine.untilSynced();
  const said = await aside(machine, ["set", "style", "tabs", ...GLOBAL]);
  expect(said).toBe("memsync: global is seen by everybody in this account\n");
  expect(await machine.memsync("status")).toContain("seen by everybody in this account: 1 memory");
});

scenario(
  "on a terminal the first write to global is asked about, and the next ones are not",
  (lab) =>
    withTeam(lab, async ({ machine }) => {
      const ann = await machine("ann");
      await ann.up();
      const answered = async (args: readonly string[], answer?: string) => {
        await using terminal = new TerminalSession(lab, ann, args);
        if (answer !== undefined) {
          await terminal.untilShown(QUESTION);
          terminal.type(`${answer}\n`);
        }
        const status = await terminal.ended();
        return { status, shown: terminal.lines.join(" ").replace(/ +/g, " ") };
      };
      const args = ["set", "style", "tabs", ...GLOBAL];
      // A write from a script is no agreement.
      expect(await aside(ann, ["set", "script", "v", ...GLOBAL])).toBe(SEEN);
      const refused = await answered(args, "n");
      expect(refused.status).toBe(1);
      expect(refused.shown).toContain(
        "nothing was saved: what is in the layer user is seen by you alone",
      );
      expect((await ann.list()).map(({ key }) => key)).toEqual(["script"]);
      expect((await answered(args, "y")).status).toBe(0);
      const next = await answered(["set", "style", "spaces", ...GLOBAL]);
      expect([next.status, next.shown]).toEqual([0, expect.stringContaining("(3 users)")]);
      expect(next.shown).not.toContain("[y/N]");
      expect(await ann.memsync("get", "style")).toBe("spaces");
    }),
  { needs: TERMINALS },
);

scenario(
  "--yes asks nobody, and counts as an agreement",
  (lab) =>
    withTeam(lab, async ({ machine }) => {
      const ann = await machine("ann");
      await ann.up();
      for (const more of [["--yes"], []]) {
        await using terminal = new TerminalSession(lab, ann, ["add", "note", ...GLOBAL, ...more]);
        expect(await terminal.ended()).toBe(0);
        expect(terminal.lines.join("\n")).not.toContain("[y/N]");
      }
    }),
  { needs: TERMINALS },
);

scenario(
  "a login asks for each layer by itself, and says what stays",
  (lab) =>
    withTeam(lab, async ({ machine, server }) => {
      const { service } = await machine("ann");
      const mover = machineIn(lab, "mover");
      await mover.memsync("set", "mine", "v", "--layer", "user");
      await mover.memsync("set", "ours", "v", ...GLOBAL);
      await using terminal = new TerminalSession(lab, mover, ["login", "--url", server.url]);
      await terminal.untilShown(/The token/);
      terminal.type(`${service?.token}\n`);
      await terminal.untilShown(/Move 1 memory of the layer user to \S+ \[y\/N\]/);
      terminal.type("y\n");
      // Who sees it and whether it is to be moved is one question.
      const question =
        /acme \(3 users\)\.\s+Move 1 memory of the layer global\s+to\s+\S+\s+\[y\/N\]/;
      await terminal.untilShown(question);
      terminal.type("n\n");
      expect(await terminal.ended()).toBe(0);
      const shown = terminal.lines.join("\n");
      expect(shown.match(/\[y\/N\]/g)).toHaveLength(2);
      expect(shown).toContain("moved 1 memory of the layer user");
      expect(shown).toContain("1 memory of the layer global stays in the embedded service");
      expect(shown.replace(/\s+/g, " ")).toMatch(
        /`memsync login --remote \S+ --move` moves it later/,
      );
      const move = "`memsync login --remote \\S+ --move` moves it all to \\S+";
      const left = new RegExp(
        `${move}, where global is seen by everybody in acme \\(3 users.*--yes`,
      );
      const { stdout } = await mover.run(["status"]);
      expect(stdout.replace(/\s+/g, " ")).toMatch(left);
      await mover.up();
      expect((await mover.memsync("status")).replace(/\s+/g, " ")).toMatch(left);
    }),
  { needs: TERMINALS },
);

scenario(
  "what is moved into a shared account's global is asked about, and stays after a no",
  (lab) =>
    withTeam(lab, async ({ machine, server }) => {
      const { service } = await machine("ann");
      const mover = machineIn(lab, "mover");
      await mover.memsync("set", "mine", "v", "--layer", "user");
      await mover.memsync("set", "ours", "v", ...GLOBAL);
      const args = ["login", "--url", server.url, "--move"];
      const question =
        /acme \(3 users\)\.\s+Move 1 memory of the layer global\s+to\s+\S+\s+\[y\/N\]/;
      const move = async (answer: string, token?: string) => {
        await using terminal = new TerminalSession(lab, mover, args);
        if (token !== undefined) {
          await terminal.untilShown(/The token/);
          terminal.type(`${token}\n`);
        }
        await terminal.untilShown(question);
        terminal.type(`${answer}\n`);
        expect(await terminal.ended()).toBe(0);
        return terminal.lines.join(" ").replace(/ +/g, " ");
      };
      const refused = await move("n", service?.token);
      expect(refused).toContain("account acme, plan team, 3 users, the token may read and write");
      expect(refused).toContain("1 memory of the layer global stays in the embedded service");
      expect(await move("y")).toContain("nothing stays in the embedded service");
      await mover.up();
      await mover.untilSynced();
      const bob = await machine("bob");
      await bob.up();
      await waitFor("bob to have it", async () => (await bob.list()).length === 1);
      expect((await bob.list()).map(({ key }) => key)).toEqual(["ours"]);
    }),
  { needs: TERMINALS },
);

scenario(
  "without a terminal nothing is moved into a shared account's global without a yes",
  (lab) =>
    withTeam(lab, async ({ machine, server }) => {
      const { service } = await machine("ann");
      const mover = machineIn(lab, "mover");
      await mover.memsync("set", "mine", "v", "--layer", "user");
      await mover.memsync("set", "ours", "v", ...GLOBAL);
      const login = async (...args: string[]) => {
        const words = ["login", "--url", server.url, "--token-stdin", ...args];
        return await mover.run(words, { stdin: service?.token ?? "" });
      };
      expect((await login()).stdout).toContain(
        "`--move` moves all of it, and global is then seen by everybody in acme (3 users",
      );
      const refused = await login("--move");
      expect(refused.stderr).toContain(
        "1 memory of the layer global not moved: global is seen by everybody in acme (3 users",
      );
      expect(refused.stdout).toContain("moved 1 memory of the layer user");
      expect(refused.stdout).toContain(
        "1 memory of the layer global stays in the embedded service; `memsync login --remote ",
      );
      // The same command would say the same again.
      expect(refused.stdout).toContain(
        " --move` at a terminal asks, and with --yes moves it without asking\n",
      );
      const json = JSON.parse((await login("--move", "--json")).stdout);
      expect(json.moved.global.moved).toBe(0);
      expect((await login("--move", "--yes")).stdout).toContain(
        "moved 1 memory of the layer global",
      );
    }),
);

scenario(
  "a login says when a busy service may be tried again, and where there is none",
  async (lab) => {
    const machine = machineIn(lab, "one");
    let status = 503;
    const fetch = () => {
      const headers = { "retry-after": "300", "content-type": "text/html" };
      return new Response("<h1>no</h1>", { status, headers });
    };
    using server = Bun.serve({ port: 0, fetch });
    const login = ["login", "--url", server.url.origin, "--token-stdin"];
    for (status of [503, 429]) {
      const { stderr } = await machine.run(login, { stdin: "mst_dev_pro" });
      expect(stderr).toContain(
        `(it answered ${status}: no reason given): nothing was changed; try`,
      );
      expect(stderr).toContain("try again in 300 seconds");
    }
    status = 404;
    const { stderr } = await machine.run(login, { stdin: "mst_dev_pro" });
    expect(stderr).toContain(
      `there is no memsync service at ${server.url.origin} (it answered 404)`,
    );
  },
);

scenario("a token of another account is refused under the name of a remote", (lab) =>
  withTeam(lab, async ({ folder, server }) => {
    const [acme, rival] = [
      await folder.token("acme", "--user", "ann"),
      await folder.token("rival"),
    ];
    const machine = machineIn(lab, "one");
    const login = (token: string, ...args: string[]) =>
      machine.run(["login", "--url", server.url, "--token-stdin", ...args], { stdin: token });
    expect((await login(acme)).status).toBe(0);
    const { status, stderr } = await login(rival);
    expect(status).toBe(1);
    expect(stderr).toContain("this token is of the account rival, and ");
    expect(stderr).toContain(" is the account acme: ");
    expect((await login(rival, "--remote", "theirs")).status).toBe(0);
    expect((await login(await folder.token("acme", "--user", "ann"))).status).toBe(0);
  }),
);

scenario("a token of another user of the account is refused under the name of a remote", (lab) =>
  withTeam(lab, async ({ folder, server }) => {
    const [ann, bob] = [
      await folder.token("acme", "--user", "ann"),
      await folder.token("acme", "--user", "bob"),
    ];
    const machine = machineIn(lab, "one");
    const login = (token: string, ...args: string[]) =>
      machine.run(["login", "--url", server.url, "--token-stdin", ...args], { stdin: token });
    expect((await login(ann)).status).toBe(0);
    const { status, stderr } = await login(bob);
    expect(status).toBe(1);
    expect(stderr).toContain("this token is bob's, and the memories of the layer user at ");
    expect(stderr).toContain(" are ann's: ");
    expect((await login(bob, "--remote", "bobs")).status).toBe(0);
    expect((await login(await folder.token("acme", "--user", "ann"))).status).toBe(0);
  }),
);

scenario("MEMSYNC_TOKEN of another account or user than before is refused", (lab) =>
  withTeam(lab, async ({ machine }) => {
    const bob = await machine("bob");
    await bob.up();
    await bob.memsync("set", "mine", "of bob", "--layer", "user");
    await bob.untilSynced();
    await waitFor("the service to say whose the token is", async () => {
      return (await bob.status()).remotes[0]?.audience?.account === "acme";
    });
    await bob.down();
    const { service } = bob;
    const users = [
      [await machine("eve"), /MEMSYNC_TOKEN is eve's, and [^:]* layer user at \S+ are bob's/],
      [await machine("zoe", "other"), /MEMSYNC_TOKEN is of the account other, and \S+ is .*acme/],
    ] as const;
    for (const [other, sentence] of users) {
      await other.up();
      await other.untilSynced();
      bob.service = other.service;
      await bob.up();
      await bob.memsync("set", "more", "of bob");
      await waitFor(
        "the refusal",
        async () => (await bob.status()).remotes[0]?.service.blocked === true,
      );
      expect(await bob.memsync("status")).toMatch(sentence);
      // Whoever believes to be that other user hears it from the command that writes.
      const { stderr } = await bob.run(["set", "more", "of bob, too"]);
      expect(stderr).toContain("what is changed in the project stays on this machine: ");
      expect(stderr).toMatch(sentence);
      const own = await bob.run(["set", "mine", "of another", "--layer", "user"]);
      expect([own.status, own.stderr]).toEqual([1, expect.stringContaining("so nothing in user ")]);
      await bob.down();
      await other.memsync("set", "own", `of ${other.name}`, "--layer", "user");
      await other.untilSynced();
      expect((await other.list()).map(({ key }) => key)).toEqual(["own"]);
      await other.down();
    }
    bob.service = service;
    await bob.up();
    await bob.untilSynced();
    expect((await bob.list()).map(({ key }) => key).sort()).toEqual(["mine", "more"]);
  }),
);

scenario(
  "a home that a variable gave to a service is that service's in a shell without it",
  (lab) =>
    withTeam(lab, async ({ machine }) => {
      const ann = await machine("ann");
      const { service } = ann;
      await ann.up();
      await ann.memsync("set", "style", "tabs", ...GLOBAL);
      await ann.untilSynced();
      await ann.down();
      ann.service = undefined;
      const seen = /global is seen by everybody in acme \(3 users[ )]/;
      const unset = "MEMSYNC_URL is unset here, and this home was synced with ";
      const written = await aside(ann, ["set", "one", "v", ...GLOBAL]);
      expect(written).toMatch(seen);
      expect(written.split(unset)).toHaveLength(2);
      expect((await ann.run(["list"])).stderr).toMatch(seen);
      expect((await ann.run(["status"])).stdout).toMatch(/global +seen by everybody in acme/);
      // A daemon without the variable has the embedded service, until the variable is back.
      await ann.up();
      expect(await aside(ann, ["set", "two", "v", ...GLOBAL])).toMatch(seen);
      await ann.down();
      ann.service = service;
      await ann.up();
      await ann.untilSynced();
      expect(await ann.list()).toHaveLength(3);
    }),
);
