import { expect, test } from "bun:test";
import { assistantsFor } from "../../cli/setup/assistant.ts";
import { spliceBetween, undone, undoneAround } from "../../cli/setup/kept-changes.ts";
import {
  insertEntry,
  parseSettings,
  refuseDoubled,
  removeEntry,
  type SettingsEntry,
  stateOf,
  UnreadableSettings,
} from "../../cli/setup/settings-text.ts";

const SERVER: SettingsEntry = {
  kind: "value",
  keys: ["mcpServers", "memsync"],
  value: { command: "memsync", args: ["mcp"] },
};
const HOOK: SettingsEntry = {
  kind: "item",
  keys: ["hooks", "SessionStart"],
  value: { hooks: [{ type: "command", command: "memsync hook session-start" }] },
  mark: "memsync hook session-start",
};
const THEIRS = '{ "hooks": [{ "type": "command", "command": "echo hi" }] }';

/** Settings as people have them; each parses, and none has anything of ours. */
const JSON_TEXTS: Readonly<Record<string, string>> = {
  "no text": "",
  "an empty object": "{}\n",
  "an object over two lines": "{\n}\n",
  "one line": '{"numStartups":3,"projects":{"/x":{}}}',
  tabs: '{\n\t"theme": "dark"\n}\n',
  "line ends of Windows": '{\r\n    "theme": "dark"\r\n}\r\n',
  "a byte order mark": '\uFEFF{\n  "theme": "dark"\n}',
  "comments and a last comma": '// mine\n{\n  "theme": "One", // nice\n}\n',
  "another server": '{\n  "mcpServers": {\n    "x": { "command": "y" }\n  }\n}\n',
  "empty places": '{\n  "mcpServers": {},\n  "hooks": { "SessionStart": [] }\n}\n',
  "hooks of others": `{\n  "hooks": {\n    "SessionStart": [\n      ${THEIRS}\n    ]\n  }\n}\n`,
};

for (const [name, text] of Object.entries(JSON_TEXTS)) {
  test(`settings with ${name} get what they lack, and keep each byte that they have`, () => {
    for (const entry of [SERVER, HOOK]) {
      expect(stateOf(text, "json", entry)).toBe("absent");
      const after = insertEntry(text, "json", entry);
      expect(stateOf(after, "json", entry)).toBe("present");
      const change = spliceBetween(text, after);
      expect(change.removed).toBe("");
      expect(undone(after, change)).toBe(text);
      const cleared = removeEntry(after, "json", entry);
      expect(stateOf(cleared, "json", entry)).toBe("absent");
      const left = parseSettings(cleared, "json");
      if (name !== "empty places") expect(left).toEqual(parseSettings(text, "json"));
      expect(cleared).toContain(text.includes(THEIRS) ? THEIRS : "");
    }
    const both = insertEntry(insertEntry(text, "json", SERVER), "json", HOOK);
    expect([stateOf(both, "json", SERVER), stateOf(both, "json", HOOK)]).toEqual([
      "present",
      "present",
    ]);
  });
}

test("a place that says null gives way to what it lacks, and gets its null back", () => {
  const texts = [
    '{"a":1, "mcpServers": null}',
    '{\n  "mcpServers": null,\n  "a": 1\n}\n',
    '{\n  "hooks": {\n    "SessionStart": null\n  }\n}\n',
  ];
  for (const text of texts) {
    const entry = text.includes("hooks") ? HOOK : SERVER;
    expect(stateOf(text, "json", entry)).toBe("absent");
    const after = insertEntry(text, "json", entry);
    expect(stateOf(after, "json", entry)).toBe("present");
    expect(undone(after, spliceBetween(text, after))).toBe(text);
    expect(undoneAround(` ${after}`, spliceBetween(text, after))).toBe(` ${text}`);
  }
  expect(insertEntry(texts[1] ?? "", "json", SERVER)).toBe(
    '{\n  "mcpServers": {\n    "memsync": {\n      "command": "memsync",\n      "args": [\n' +
      '        "mcp"\n      ]\n    }\n  },\n  "a": 1\n}\n',
  );
});

test("what is taken out leaves the comments around it, and valid JSON", () => {
  const cases = [
    [
      '{"mcpServers": { // mine\n  "memsync": OURS, // ours\n  // x is next\n  "x": 1 // one\n}}',
      '{"mcpServers": { // mine\n // ours\n  // x is next\n  "x": 1 // one\n}}',
    ],
    [
      '{\n  "mcpServers": {\n    // "y": 2\n    "memsync": OURS\n  }\n}',
      '{\n  "mcpServers": {\n    // "y": 2\n  }\n}',
    ],
    [
      '{"mcpServers":{"x":1, /* a */ "memsync": OURS /* b */ ,"z":2}}',
      '{"mcpServers":{"x":1, /* a */ /* b */ "z":2}}',
    ],
    ['{"mcpServers":{"x":1,"memsync":OURS}}', '{"mcpServers":{"x":1}}'],
  ];
  for (const [text = "", left = ""] of cases) {
    const server = text.replace("OURS", JSON.stringify(SERVER.value));
    const cut = removeEntry(server, "json", SERVER);
    expect(cut.replaceAll(/ +/g, " ")).toBe(left.replaceAll(/ +/g, " "));
    parseSettings(cut, "json");
  }
  const hook = JSON.stringify(HOOK.value);
  const others = [
    `[${hook},{"a":1}]`,
    `[{"a":1},${hook}]`,
    `[{"a":1}, ${hook}, {"b":2}]`,
    `[${hook},{"a":1},${hook},${hook}]`,
  ];
  const left = others.map((list) =>
    removeEntry(`{"hooks":{"SessionStart":${list}}}`, "json", HOOK),
  );
  expect(left).toEqual([
    '{"hooks":{"SessionStart":[{"a":1}]}}',
    '{"hooks":{"SessionStart":[{"a":1}]}}',
    '{"hooks":{"SessionStart":[{"a":1}, {"b":2}]}}',
    '{"hooks":{"SessionStart":[{"a":1}]}}',
  ]);
  const doubled = `{"hooks":{"SessionStart":[${hook},${hook}]}}`;
  expect(removeEntry(doubled, "json", HOOK)).toBe("{}");
});

test("what is inserted is indented as the text is", () => {
  expect(insertEntry('{\n\t"theme": "dark"\n}\n', "json", SERVER)).toBe(
    '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"memsync": {\n\t\t\t"command": "memsync",\n' +
      '\t\t\t"args": [\n\t\t\t\t"mcp"\n\t\t\t]\n\t\t}\n\t}\n}\n',
  );
});

test("an entry that somebody made in another way is neither repeated nor removed", () => {
  const own = '{"mcpServers":{"memsync":{"command":"memsync","args":["mcp","--project","x"]}}}';
  expect(stateOf(own, "json", SERVER)).toBe("other");
  const wrapped = { hooks: [{ command: "echo" }, { command: "memsync hook session-start" }] };
  const text = JSON.stringify({ hooks: { SessionStart: [wrapped] } });
  expect(stateOf(text, "json", HOOK)).toBe("other");
});

test("settings that their assistant could not read are refused, with the line", () => {
  const refused = ['{\n  "a": 1,,\n}', '["a"]', '{"hooks": {"SessionStart": {}}}', '{"hooks": 1}'];
  for (const text of refused) {
    expect(() => insertEntry(text, "json", HOOK)).toThrow(UnreadableSettings);
  }
  expect(() => parseSettings('{\n  "a": 1,,\n}', "json")).toThrow("line 2");
});

test("a name that is there twice on the way to an entry, or in it, is named with both lines", () => {
  const refusalOf = (text: string, entry = SERVER) => {
    try {
      refuseDoubled(text, "json", [entry]);
      return "none";
    } catch (thrown) {
      return thrown instanceof UnreadableSettings ? thrown.message : String(thrown);
    }
  };
  const said = (what: string) => `has ${what}: make one of the two, and say it again`;
  expect(refusalOf('{"a": 1, "a": 2, "mcpServers": {"x": {"y": 1, "y": 2}}}')).toBe("none");
  expect(refusalOf("")).toBe("none");
  const names = '\uFEFF{\r\n"mcpServers": {},\r\n// two\r\n"mcpServers": {"memsync": 1}}';
  expect(refusalOf(names)).toBe(said("mcpServers twice, in lines 2 and 4"));
  const escaped = '{"mcpServers": {}, "mcp\\u0053ervers": {}}';
  expect(refusalOf(escaped)).toBe(said("mcpServers twice, in line 1"));
  const entries = '{"mcpServers": {"memsync": {},\n"x": {},\n"memsync": {}}}';
  expect(refusalOf(entries)).toBe(said("mcpServers.memsync twice, in lines 1 and 3"));
  const inside = '{"mcpServers": {"memsync": {"args": [],\n"args": ["mcp"]}}}';
  expect(refusalOf(inside)).toBe(said("mcpServers.memsync.args twice, in lines 1 and 2"));
  const hook = '{"hooks": {"SessionStart": [{"hooks": [], "hooks": []}]}}';
  expect(refusalOf(hook, HOOK)).toBe(said("hooks.SessionStart.hooks twice, in line 1"));
});

const TABLE: SettingsEntry = { ...SERVER, keys: ["mcp_servers", "memsync"] };

test("a table in TOML is added below, and taken out again", () => {
  const texts = ["", 'model = "o4"', 'a = 1 # x\r\n\r\n[mcp_servers.other]\r\ncommand = "x"\r\n'];
  for (const text of texts) {
    expect(stateOf(text, "toml", TABLE)).toBe("absent");
    const after = insertEntry(text, "toml", TABLE);
    expect(after.startsWith(text)).toBe(true);
    expect(stateOf(after, "toml", TABLE)).toBe("present");
    expect(undone(after, spliceBetween(text, after))).toBe(text);
    const cleared = removeEntry(after, "toml", TABLE);
    expect(stateOf(cleared, "toml", TABLE)).toBe("absent");
    expect(cleared.trimEnd()).toBe(text.trimEnd());
  }
});

test("TOML that has no room for a table, or is none, is refused", () => {
  for (const text of ["mcp_servers = { other = { command = 'x' } }", "mcp_servers = 1", "a = ="]) {
    expect(() => insertEntry(text, "toml", TABLE)).toThrow(UnreadableSettings);
  }
});

test("each assistant's settings are where its documentation says", () => {
  const at = (platform: NodeJS.Platform, variables = {}) =>
    assistantsFor({ userFolder: "/u", platform, variables }).flatMap(({ files }) =>
      files.map(({ path }) => path),
    );
  expect(at("linux")).toEqual([
    "/u/.claude/settings.json",
    "/u/.claude.json",
    "/u/.codex/hooks.json",
    "/u/.codex/config.toml",
    "/u/.gemini/settings.json",
    "/u/.gemini/settings.json",
    "/u/.cursor/hooks.json",
    "/u/.cursor/mcp.json",
    "/u/.config/Code/User/mcp.json",
    "/u/.config/opencode/opencode.json",
    "/u/.config/zed/settings.json",
  ]);
  const moved = { CLAUDE_CONFIG_DIR: "/c", CODEX_HOME: "/x", XDG_CONFIG_HOME: "/g" };
  expect(at("linux", moved)).toContain("/c/.claude.json");
  expect(at("linux", moved)).toContain("/x/config.toml");
  expect(at("linux", moved)).toContain("/g/zed/settings.json");
  expect(at("darwin")).toContain("/u/Library/Application Support/Code/User/mcp.json");
});
