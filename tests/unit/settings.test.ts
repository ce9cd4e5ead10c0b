import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  databasePath,
  type GivenSettings,
  readSettings,
  SettingsError,
} from "../../server/settings/read-settings.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;

function file(content: unknown): string {
  const path = join(folder, `${files++}.json`);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

function problems(flags: GivenSettings, config?: unknown, env: Record<string, string> = {}) {
  try {
    readSettings(flags, config === undefined ? undefined : file(config), { env, dir: folder });
  } catch (thrown) {
    if (thrown instanceof SettingsError) return thrown.problems;
    throw thrown;
  }
  return [];
}

test("a flag goes before a variable, that before the file, and that before the default", () => {
  const config = file({ host: "h.file", port: 1, log_level: "warn", shutdown_delay: "4" });
  const env = {
    MEMSYNC_SERVER_HOST: "h.env",
    MEMSYNC_SERVER_PORT: "2",
    MEMSYNC_SERVER_CONFIG: config,
  };
  const { settings, sources } = readSettings({ host: "h.flag" }, undefined, { env, dir: folder });
  expect(settings).toMatchObject({
    host: "h.flag",
    port: 2,
    log_level: "warn",
    shutdown_delay: 4,
    shutdown_timeout: 8,
    metrics_token: undefined,
    allowed_hosts: [],
  });
  expect(sources).toMatchObject({
    host: "flag",
    port: "environment",
    log_level: "file",
    shutdown_timeout: "default",
  });
});

test("an empty variable counts as none", () => {
  const { settings } = readSettings({}, undefined, {
    env: { MEMSYNC_SERVER_PORT: "" },
    dir: folder,
  });
  expect(settings.port).toBe(4777);
});

test("names of hosts come as a list or with commas", () => {
  const listed = readSettings({}, file({ allowed_hosts: ["A.example", "b.example"] }), {
    env: {},
    dir: folder,
  });
  expect(listed.settings.allowed_hosts).toEqual(["a.example", "b.example"]);
  const typed = readSettings({ allowed_hosts: "a.example, B.example" }, undefined, {
    env: {},
    dir: folder,
  });
  expect(typed.settings.allowed_hosts).toEqual(["a.example", "b.example"]);
});

test("proxies are addresses and networks, and a mistyped one is told", () => {
  const { settings } = readSettings({ trusted_proxies: "127.0.0.1, 10.0.0.0/8" }, undefined, {
    env: {},
    dir: folder,
  });
  expect(settings.trusted_proxies).toEqual(["127.0.0.1", "10.0.0.0/8"]);
  expect(
    problems({ trusted_proxies: "127.0.0.1,proxy.example" }, { trusted_proxies: ["::/0"] }),
  ).toEqual([
    "trusted_proxies in the file is addresses and networks with commas between: " +
      '"::/0" is every address, so anybody could forge theirs',
    "--trusted-proxies is addresses and networks with commas between: " +
      '"proxy.example" is neither an address nor a network such as 10.0.0.0/8',
  ]);
});

test("a path in the file begins at the file's folder, any other where the user stands", () => {
  const config = file({ database_url: "sqlite:data/a.db" });
  const { settings } = readSettings({}, config, { env: {}, dir: "/elsewhere" });
  expect(databasePath(settings, "/elsewhere")).toBe(join(folder, "data/a.db"));
  const typed = readSettings({ database_url: "sqlite:a.db" }, config, {
    env: {},
    dir: "/elsewhere",
  });
  expect(databasePath(typed.settings, "/elsewhere")).toBe("/elsewhere/a.db");
});

test("all problems are told at once, those behind a stronger value too", () => {
  expect(
    problems(
      { port: "70000", host: "a b" },
      { port: {}, log_level: "loud", databse_url: "sqlite:a" },
      { MEMSYNC_SERVER_PORT: "x", MEMSYNC_SERVER_HOTS: "a", MEMSYNC_SERVER_METRICS_TOKEN: "short" },
    ),
  ).toEqual([
    "port in the file is neither text, a number, true nor false",
    "databse_url in the file is no setting: did you mean database_url?",
    "MEMSYNC_SERVER_HOTS is no setting: did you mean MEMSYNC_SERVER_HOST?",
    "--host is an address or a name of this machine",
    "MEMSYNC_SERVER_PORT is a number from 0 to 65535",
    "--port is a number from 0 to 65535",
    "log_level in the file is one of debug, info, warn, error, silent",
    "MEMSYNC_SERVER_METRICS_TOKEN is at least 16 characters without white space",
  ]);
});

test("what is near nothing is named without a suggestion, and other variables are not ours", () => {
  expect(problems({}, { colour: "red" })).toEqual(["colour in the file is no setting"]);
  expect(problems({}, undefined, { MEMSYNC_URL: "x", MEMSYNC_HOME: "y", PATH: "z" })).toEqual([]);
});

test("a file that can't be read, or is no object, is a problem that quotes nothing of it", () => {
  expect(() => readSettings({}, join(folder, "nowhere"), { env: {}, dir: folder })).toThrow(
    /can't be read/,
  );
  for (const text of ['{"metrics_token":"planted-secret-xx"', "[]", "null", '"planted"']) {
    const [problem] = problems({}, text);
    expect(problem).toMatch(/^the file \S+ is not one JSON object$/);
  }
});

test("no problem repeats what was set", () => {
  const all = problems(
    { metrics_token: "pla nted secret planted", port: "planted" },
    { metrics_token: "planted", log_level: "planted" },
    { MEMSYNC_SERVER_METRICS_TOKEN: "planted x" },
  );
  expect(all.length).toBe(5);
  expect(all.join()).not.toContain("planted");
});
