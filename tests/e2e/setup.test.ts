import { expect } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { TerminalSession } from "../support/terminal-session.ts";

/** A user's folder of its own, in which assistants have kept their settings before. */
async function makeUser(lab: Lab, files: Readonly<Record<string, string>>) {
  const machine = lab.machine("a", lab.git.folder);
  const folder = realpathSync(lab.git.folder);
  const user = join(folder, "user");
  const env = {
    HOME: user,
    CLAUDE_CONFIG_DIR: "",
    CODEX_HOME: "",
    XDG_CONFIG_HOME: "",
    PATH: `${join(folder, "bin")}${delimiter}${dirname(process.execPath)}`,
  };
  mkdirSync(user, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(user, name)), { recursive: true });
    writeFileSync(join(user, name), text);
  }
  const read = (name: string) => readFileSync(join(user, name), "utf8");
  const setup = (...args: readonly string[]) => machine.run(["setup", ...args], { env });
  return { machine, env, user, read, setup, bin: join(folder, "bin") };
}

const BEFORE = {
  ".claude/settings.json": '{\n\t"theme": "dark"\n}\n',
  ".claude.json": '{"numStartups":3,"projects":{"/x":{}}}',
  ".codex/config.toml": 'model = "o4" # mine\n',
  ".gemini/settings.json": "{}\n",
  ".cursor/mcp.json": '{\n  "mcpServers": {}\n}\n',
  ".config/Code/User/mcp.json": '{"servers": {"x": {"command": "y"}}}\n',
  ".config/opencode/opencode.jsonc": "// mine\n{}\n",
  ".config/zed/settings.json": '// mine\n{\n  "theme": "One", // nice\n}\n',
};

scenario("assistants are set up when that is agreed, and get their bytes back", async (lab) => {
  const { setup, read, user, machine } = await makeUser(lab, BEFORE);
  chmodSync(join(user, ".claude.json"), 0o600);
  const asked = await setup();
  expect(asked.status).toBe(1);
  expect(asked.stderr).toContain("nothing was changed: --yes sets this up");
  expect(asked.stdout).toContain("+ hooks.SessionStart");
  const named = await setup("claude-code");
  expect(named.stdout).toContain("Claude Code");
  expect(named.stdout).not.toContain("Codex");
  for (const [name, text] of Object.entries(BEFORE)) expect(read(name)).toBe(text);

  const { status, stdout, stderr } = await setup("--yes");
  expect([status, stdout]).toEqual([0, expect.stringContaining("set up in Claude Code, Codex")]);
  expect(stderr).toContain("`memsync` is not on the PATH");
  expect(JSON.parse(read(".claude.json")).mcpServers.memsync.args).toEqual(["mcp"]);
  expect(JSON.parse(read(".claude.json")).numStartups).toBe(3);
  expect(JSON.parse(read(".codex/hooks.json")).hooks.PostCompact).toHaveLength(1);
  expect(JSON.parse(read(".cursor/mcp.json")).mcpServers.memsync.args[2]).toContain("workspace");
  expect(statSync(join(user, ".claude.json")).mode & 0o777).toBe(0o600);
  const again = await setup("--yes");
  expect(again.stdout).toContain("everything is set up");

  const removed = await setup("--remove", "--yes");
  expect([removed.status, removed.stderr]).toEqual([0, ""]);
  for (const [name, text] of Object.entries(BEFORE)) expect(read(name)).toBe(text);
  for (const name of [".codex/hooks.json", ".cursor/hooks.json"]) {
    expect(existsSync(join(user, name))).toBe(false);
  }
  expect(existsSync(join(machine.home, "setup.json"))).toBe(false);
  expect((await setup("--remove")).stdout).toContain("nothing was set up here");
});

scenario(
  "taking it back where no assistant is in use says that nothing was set up",
  async (lab) => {
    const { setup } = await makeUser(lab, {});
    const { status, stdout, stderr } = await setup("--remove");
    expect([status, stdout, stderr]).toEqual([0, "nothing was set up here\n", ""]);
    expect((await setup()).stderr).toContain("was found here: name one to set it up");
  },
);

scenario("what was changed since stays, and only what is ours is taken out", async (lab) => {
  const { setup, read, user } = await makeUser(lab, { ".gemini/settings.json": '{"a": 1}\n' });
  await setup("gemini", "--yes");
  const settings = JSON.parse(read(".gemini/settings.json"));
  settings.mcpServers.other = { command: "x" };
  settings.hooks.SessionEnd.push({ hooks: [{ type: "command", command: "echo bye" }] });
  writeFileSync(join(user, ".gemini/settings.json"), JSON.stringify(settings, null, 4));
  expect((await setup("gemini", "--remove", "--yes")).status).toBe(0);
  expect(JSON.parse(read(".gemini/settings.json"))).toEqual({
    a: 1,
    mcpServers: { other: { command: "x" } },
    hooks: { SessionEnd: [{ hooks: [{ type: "command", command: "echo bye" }] }] },
  });
});

scenario("with another edit since, each byte around what is ours is as before", async (lab) => {
  const files = {
    ".claude/settings.json":
      '{\r\n   "model": "opus",\r\n   "hooks": {\r\n      "SessionStart": [ { "hooks": [ { "type": "command", "command": "echo mine" } ] } ],\r\n "Stop": []\r\n   }\r\n}',
    ".claude.json": '{"model":1,"mcpServers":{},"projects":{"/x":{"big":12345678901234567890}}}',
    ".codex/config.toml": '# my codex\nmodel = "x"  # note\n\n[mcp_servers.other]\ncommand = "o"\n',
    ".gemini/settings.json":
      '\uFEFF{\n\t// model\n\t"mcpServers": {\n\t\t"o": {"command":"o"}, // t\n\t},\n}\n',
    ".config/opencode/opencode.json": '{"model": "https://opencode.ai/config.json", "mcp": null}',
    ".config/zed/settings.json":
      '// zed\n{\n  "context_servers": {\n    // keep\n  },\n  "model": "One",\n}\n',
  };
  const { setup, read, user } = await makeUser(lab, files);
  const { status, stderr } = await setup("--yes");
  expect([status, stderr]).toEqual([0, expect.not.stringContaining("left alone")]);
  for (const name of Object.keys(files)) {
    expect(read(name)).toContain("memsync");
    writeFileSync(join(user, name), read(name).replace("model", "MODEL"));
  }
  expect((await setup("--remove", "--yes")).status).toBe(0);
  for (const [name, text] of Object.entries(files)) {
    expect([name, read(name)]).toEqual([name, text.replace("model", "MODEL")]);
  }
});

const TABLE = '[mcp_servers.memsync]\ncommand = "memsync"\nargs = ["mcp"]\n';

for (const [name, line] of Object.entries({
  "a line": "startup_timeout_sec = 20\n",
  "a switch": "enabled = false\n[x]\ny = 1\n",
  "a table in it": '\n[mcp_servers.memsync.env]\nFOO = "1"\n',
})) {
  scenario(`a table that the user went on with stays whole: ${name}`, async (lab) => {
    const before = 'model = "o3"\n\n[tui]\ntheme = "dark"\n';
    const { setup, read, user } = await makeUser(lab, { ".codex/config.toml": before });
    await setup("codex", "--yes");
    expect(read(".codex/config.toml")).toBe(`${before}\n${TABLE}`);
    const path = join(user, ".codex/config.toml");
    writeFileSync(path, read(".codex/config.toml") + line);
    const { stdout, stderr } = await setup("codex", "--remove", "--yes");
    expect(read(".codex/config.toml")).toBe(`${before}\n${TABLE}${line}`);
    expect(stdout).toContain("config.toml  has an entry of your own, which stays");
    expect(stderr).toContain(
      "Codex still has an entry of your own for memsync in ~/.codex/config.toml: " +
        "mcp_servers.memsync; delete it there if it is to go",
    );
    // What was written below it is no part of it.
    writeFileSync(path, `${before}\n${TABLE}\n[x]\ny = 1\n`);
    await setup("codex", "--remove", "--yes");
    expect(read(".codex/config.toml")).toBe(`${before}\n[x]\ny = 1\n`);
  });
}

scenario(
  "a table with a comment of the user's in it stays, and is not said to be gone",
  async (lab) => {
    const { setup, read, user } = await makeUser(lab, { ".codex/config.toml": "" });
    const path = join(user, ".codex/config.toml");
    for (const edited of [
      TABLE.replace("]\n", "] # mine\n"),
      TABLE.replace("args", "# mine\nargs"),
    ]) {
      await setup("codex", "--yes");
      writeFileSync(path, edited);
      const { stdout, stderr } = await setup("codex", "--remove", "--yes");
      expect(read(".codex/config.toml")).toBe(edited);
      expect(stdout).toContain("config.toml  has an entry of your own, which stays");
      expect(stderr).toContain("mcp_servers.memsync; delete it there if it is to go");
      expect((await setup("codex", "--remove", "--yes")).stdout).toContain("nothing was taken out");
      writeFileSync(path, "");
    }
  },
);

scenario("what the user's own hooks need stays, however often ours are taken out", async (lab) => {
  const own = '{\n  "version": 1,\n  "hooks": { "stop": [ { "command": "./mine.sh" } ] }\n}\n';
  const { setup, read, user } = await makeUser(lab, { ".cursor/hooks.json": own });
  const remove = async () => (await setup("cursor", "--remove", "--yes")).stdout;
  expect(await remove()).toContain("nothing was set up here");
  expect(read(".cursor/hooks.json")).toBe(own);
  await setup("cursor", "--yes");
  const shown = await remove();
  expect(shown).toContain("- hooks.sessionStart");
  expect(shown).not.toContain("- version");
  expect(await remove()).toContain("nothing was set up here");
  expect(read(".cursor/hooks.json")).toBe(own);

  await setup("cursor", "--yes");
  const path = join(user, ".cursor/hooks.json");
  writeFileSync(path, read(".cursor/hooks.json").replace("mine.sh", "mine2.sh"));
  expect(await remove()).toContain("taken out of Cursor");
  const { version, hooks } = JSON.parse(read(".cursor/hooks.json"));
  expect([version, hooks]).toEqual([1, { stop: [{ command: "./mine2.sh" }] }]);
});

scenario(
  "settings that can't be read, or that somebody made, are left as they are",
  async (lab) => {
    const own = '{"context_servers":{"memsync":{"command":"memsync","args":["mcp","-v"]}}}';
    const files = { ".claude/settings.json": "{ oops", ".config/zed/settings.json": own };
    const { setup, read } = await makeUser(lab, files);
    const { status, stdout, stderr } = await setup("--yes");
    expect(status).toBe(1);
    expect(stderr).toContain("~/.claude/settings.json can't be used as settings");
    expect(stdout).toContain("has an entry of your own, which stays");
    for (const [name, text] of Object.entries(files)) expect(read(name)).toBe(text);
    // What could be done was done.
    expect(JSON.parse(read(".claude.json")).mcpServers.memsync.command).toBe("memsync");
    const removed = await setup("zed", "--remove", "--yes");
    expect(removed.stderr).toContain(
      "Zed still has an entry of your own for memsync in ~/.config/zed/settings.json",
    );
    const named = await setup("emacs");
    expect([named.status, named.stderr]).toEqual([2, expect.stringContaining("claude, codex")]);
  },
);

scenario("settings behind a link are changed where they are", async (lab) => {
  const { setup, user } = await makeUser(lab, { "dotfiles/zed.json": "{}\n" });
  mkdirSync(join(user, ".config/zed"), { recursive: true });
  symlinkSync(join(user, "dotfiles/zed.json"), join(user, ".config/zed/settings.json"));
  await setup("zed", "--yes");
  expect(readFileSync(join(user, "dotfiles/zed.json"), "utf8")).toContain("memsync");
  await setup("zed", "--remove", "--yes");
  expect(readFileSync(join(user, "dotfiles/zed.json"), "utf8")).toBe("{}\n");
});

/** Does what Claude Code's command does with its file: writes all of it anew. */
const CLAUDE = `
import { readFileSync, writeFileSync } from "node:fs";
const path = process.env.HOME + "/.claude.json";
const settings = JSON.parse(readFileSync(path, "utf8"));
const [, , mcp, what] = process.argv;
if (mcp !== "mcp") process.exit(3);
settings.mcpServers ??= {};
const server = { type: "stdio", command: "memsync", args: ["mcp"], env: {} };
if (what === "add") settings.mcpServers.memsync = server;
else delete settings.mcpServers.memsync;
if (process.env.STARTS) settings.numStartups++;
writeFileSync(path, JSON.stringify(settings, null, 2));
`;

scenario("an assistant's own command is run where it is there", async (lab) => {
  const { setup, read, user, bin, machine, env } = await makeUser(lab, BEFORE);
  mkdirSync(bin);
  writeFileSync(join(bin, "claude.js"), CLAUDE);
  const start = `#!/bin/sh\nexec "${process.execPath}" "${join(bin, "claude.js")}" "$@"\n`;
  writeFileSync(join(bin, "claude"), start, { mode: 0o755 });
  const planned = await setup("claude");
  expect(planned.stdout).toContain("$ claude mcp add --scope user memsync -- memsync mcp");
  await setup("claude", "--yes");
  expect(JSON.parse(read(".claude.json")).mcpServers.memsync.command).toBe("memsync");
  await setup("claude", "--remove", "--yes");
  expect(read(".claude.json")).toBe(BEFORE[".claude.json"]);

  // What it wrote besides is its own, and stays.
  await machine.run(["setup", "claude", "--yes"], { env: { ...env, STARTS: "1" } });
  await setup("claude", "--remove", "--yes");
  expect(JSON.parse(read(".claude.json"))).toMatchObject({ numStartups: 4, mcpServers: {} });

  writeFileSync(join(bin, "claude"), "#!/bin/sh\necho no account >&2\nexit 1\n", { mode: 0o755 });
  const failed = await setup("claude", "--yes");
  expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining("no account")]);
  rmSync(join(user, ".claude.json"));
});

scenario("an assistant's command that fails keeps no other assistant from its own", async (lab) => {
  const { setup, read, bin } = await makeUser(lab, BEFORE);
  mkdirSync(bin);
  writeFileSync(join(bin, "claude"), "#!/bin/sh\necho no account >&2\nexit 3\n", { mode: 0o755 });
  const { status, stdout, stderr } = await setup("claude", "codex", "--yes");
  expect(status).toBe(1);
  expect(stdout).toContain("set up in Codex: it counts");
  expect(stdout).not.toContain("set up in Claude Code");
  expect(stderr).toContain("waiting for `claude mcp add");
  expect(stderr).toContain("not all of Claude Code was done: `claude mcp add");
  expect(stderr).toContain("no account");
  expect(read(".codex/config.toml")).toContain("[mcp_servers.memsync]");
});

scenario("a broken file is named once, in words, beside what is set up", async (lab) => {
  const { setup, machine, env } = await makeUser(lab, {
    ...BEFORE,
    ".gemini/settings.json": '{ "a": 1,\nbroken',
  });
  const home = { env: { ...env, MEMSYNC_HOME: machine.home } };
  const first = await machine.run(["setup", "--yes"], home);
  expect(first.stderr).toContain("MEMSYNC_HOME is set here");
  expect(first.stderr).toContain("install it as the README says");
  const { status, stdout, stderr } = await setup();
  expect([status, stdout.match(/gemini/g)]).toEqual([1, ["gemini"]]);
  expect(stdout).toContain("line 2 is no JSON: a name or a word without quotes");
  expect(stdout).toContain("everything else is set up");
  expect(stderr.match(/gemini/g)).toHaveLength(1);
  const alone = await setup("gemini");
  expect([alone.status, alone.stdout.includes("is set up")]).toEqual([1, false]);
  const findings = await findingsOf(machine, env);
  expect(findings.filter(({ detail }) => detail.includes("no JSON"))).toHaveLength(1);
  const removed = await setup("gemini", "--remove");
  expect([removed.status, removed.stdout]).toEqual([0, "nothing was set up here\n"]);
});

async function findingsOf(machine: Machine, env: Readonly<Record<string, string>>) {
  const { stdout } = await machine.run(["doctor", "--json"], { env });
  const findings: readonly { about: string; state: string; detail: string; mend: string | null }[] =
    JSON.parse(stdout);
  return findings.filter(({ about }) => about === "assistants");
}

scenario("doctor says which assistants are set up, and what is wrong with them", async (lab) => {
  const { machine, env, setup, user, bin } = await makeUser(lab, BEFORE);
  const [none] = await findingsOf(machine, env);
  expect(none).toMatchObject({ state: "ok", mend: null });
  expect(none?.detail).toContain("`memsync setup`");
  await setup("claude", "codex", "--yes");
  const [unfound] = await findingsOf(machine, env);
  expect(unfound).toMatchObject({ state: "wrong", mend: expect.stringContaining("as the README") });
  mkdirSync(bin);
  writeFileSync(join(bin, "memsync"), "#!/bin/sh\n", { mode: 0o755 });
  const [two] = await findingsOf(machine, env);
  expect(two).toMatchObject({ state: "ok" });
  expect(two?.detail).toContain("set up in Claude Code, Codex");

  writeFileSync(join(user, ".claude/settings.json"), "{}");
  const [half] = await findingsOf(machine, env);
  expect(half?.state).toBe("warning");
  expect(half?.detail).toContain("~/.claude/settings.json");
  expect(half?.mend).toContain("memsync setup claude");
  writeFileSync(join(user, ".claude/settings.json"), "{ oops");
  expect(await findingsOf(machine, env)).toContainEqual(
    expect.objectContaining({ state: "wrong", detail: expect.stringContaining("settings.json") }),
  );
});

scenario("doctor names no command that does nothing where a file has no room", async (lab) => {
  const { machine, env, setup, bin, user, read } = await makeUser(lab, {
    ".codex/hooks.json": '{ "hooks": [] }',
  });
  mkdirSync(bin);
  writeFileSync(join(bin, "memsync"), "#!/bin/sh\n", { mode: 0o755 });
  const { status, stderr } = await setup("codex", "--yes");
  expect(status).toBe(1);
  expect(stderr).toContain("~/.codex/hooks.json can't be used as settings, and was left alone");
  expect(read(".codex/hooks.json")).toBe('{ "hooks": [] }');
  expect(await findingsOf(machine, env)).toEqual([
    expect.objectContaining({
      state: "wrong",
      detail: expect.stringContaining("hooks.json of Codex: has no room for hooks.SessionStart"),
      mend: expect.stringMatching(/^mend the file, then `memsync setup codex`/),
    }),
    expect.objectContaining({ state: "ok" }),
  ]);
  writeFileSync(join(user, ".codex/hooks.json"), "{}");
  expect((await setup("codex", "--yes")).status).toBe(0);
});

scenario("on a terminal what would be changed is broken between words", async (lab) => {
  const { machine, env } = await makeUser(lab, { ".claude/settings.json": "{}\n" });
  await using terminal = new TerminalSession(lab, machine, ["setup", "claude"], { env });
  await terminal.untilShown(/Set this up/);
  expect(terminal.screen.text).toMatch(/memsync hook\s*\n {2}session-start/);
  terminal.type("n\r");
  expect(await terminal.ended()).toBe(1);
});

scenario("settings that have a name twice are left alone, whole, and named", async (lab) => {
  const mine = '"SessionStart": [{"hooks": [{"type": "command", "command": "mine"}]}]';
  const doubled = {
    ".gemini/settings.json": `{\n"mcpServers": {"memsync": {}},\n"hooks": {},\n"hooks": {${mine}}\n}\n`,
    ".cursor/mcp.json": '{"mcpServers": {"a": {}}, "mcpServers": {"memsync": {"command": "x"}}}',
    ".codex/config.toml": '[mcp_servers.memsync]\ncommand = "x"\n[mcp_servers.memsync]\n',
  };
  const { setup, read, user, machine, env } = await makeUser(lab, doubled);
  for (const args of [["--yes"], ["--yes"], ["--remove", "--yes"]]) {
    const { status, stdout, stderr } = await setup(...args);
    expect(status).toBe(1);
    expect(stdout).toContain("hooks twice, in lines 3 and 4");
    expect(stdout).toContain("mcpServers twice, in line 1");
    expect(stderr).toContain("can't be used as settings, and were left alone");
    for (const [name, text] of Object.entries(doubled)) expect(read(name)).toBe(text);
  }
  expect(existsSync(join(user, ".cursor/hooks.json"))).toBe(false);
  const doctor = await machine.run(["doctor"], { env });
  expect(doctor.stdout).toContain("hooks twice, in lines 3 and 4");
});

scenario(
  "what is asked about is on the screen with the question, and whole with --details",
  async (lab) => {
    const { machine, env } = await makeUser(lab, BEFORE);
    await using terminal = new TerminalSession(lab, machine, ["setup"], { env });
    await terminal.untilShown(/Set this up/);
    const { text } = terminal.screen;
    expect(text).toContain("Claude Code  ~/.claude/settings.json  + SessionStart, PostCompact");
    expect(text).toMatch(/Zed .*\+ memsync/);
    expect(text).toContain("--details shows each entry whole");
    terminal.type("n\r");
    expect(await terminal.ended()).toBe(1);
    const whole = await machine.run(["setup", "--details"], { env });
    expect(whole.stdout).toContain("memsync hook session-start");
  },
);
