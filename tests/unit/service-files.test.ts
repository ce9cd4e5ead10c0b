import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { homeOf } from "../../daemon/home/home.ts";
import { launchdAgent } from "../../daemon/supervise/launchd-agent.ts";
import { RUNTIME_ENVIRONMENT } from "../../daemon/supervise/runtime-environment.ts";
import { scheduledTask } from "../../daemon/supervise/scheduled-task.ts";
import {
  defineService,
  type ServiceDefinition,
  serviceName,
} from "../../daemon/supervise/service-definition.ts";
import { systemdUnit } from "../../daemon/supervise/systemd-unit.ts";
import { programs, testWith } from "../support/needs.ts";
import { parseUnit } from "../support/parse-unit.ts";

/** Where there is no systemd, units are not checked by it, and the run says so. */
const SYSTEMD = programs("systemd-analyze");

const folder = mkdtempSync(join(tmpdir(), "memsync-service-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** All that a service manager could take for something else. */
const NASTY = `/a b/100% $HOME/it's "q" \\ <&> ;`;

const PLAIN: ServiceDefinition = {
  name: "memsync",
  command: ["/bin/true", "/srv/memsync/cli.js", "daemon", "--started", "service"],
  environment: { MEMSYNC_HOME: "/srv/home", PATH: "/bin:/usr/bin", MEMSYNC_URL: "https://x.y" },
  log: "/srv/home/daemon.log",
};

const ODD: ServiceDefinition = {
  name: "memsync-0123abcd",
  command: ["/bin/true", `${NASTY}/cli.js`, "", "daemon"],
  environment: { MEMSYNC_HOME: NASTY, MEMSYNC_URL: "https://x.y/?a=1&b=%20" },
  log: "/a b/100% c/daemon.log",
};

async function verify(text: string): Promise<{ status: number; output: string }> {
  const path = join(folder, "memsync.service");
  writeFileSync(path, text);
  const runtime = join(folder, "runtime");
  mkdirSync(runtime, { recursive: true });
  const child = Bun.spawn(["systemd-analyze", "verify", "--user", path], {
    env: { PATH: process.env.PATH ?? "", HOME: folder, XDG_RUNTIME_DIR: runtime },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = (await child.stdout.text()) + (await child.stderr.text());
  return { status: await child.exited, output };
}

for (const notifies of [true, false]) {
  for (const [name, definition] of Object.entries({ plain: PLAIN, odd: ODD })) {
    testWith(
      SYSTEMD,
      `systemd finds nothing wrong with a unit that is ${name} and notifies: ${notifies}`,
      async () => {
        const unit = systemdUnit(definition, { notifies });
        expect(await verify(unit)).toEqual({ status: 0, output: "" });
        const broken = unit.replace("WantedBy", "WantedFrom");
        expect((await verify(broken)).output).toContain("WantedFrom");
      },
    );
  }
}

test("a unit runs the very command, with the very environment and restart limits", () => {
  for (const definition of [PLAIN, ODD]) {
    const { command, environment, values } = parseUnit(systemdUnit(definition, { notifies: true }));
    const meant = definition.command.map((word) => (word === "" ? '""' : word));
    expect(command.map((word) => (word === "" ? '""' : word))).toEqual(meant);
    expect(environment).toEqual(definition.environment);
    const one = (key: string) => values.get(key)?.join("\n");
    expect(one("Service.StandardOutput")?.replaceAll("%%", "%")).toBe(`append:${definition.log}`);
    expect(one("Service.Restart")).toBe("on-failure");
    expect(Number(one("Unit.StartLimitBurst"))).toBeGreaterThan(0);
    expect(Number(one("Service.WatchdogSec"))).toBeGreaterThan(0);
    expect(one("Service.UMask")).toBe("0077");
  }
});

test("a unit whose daemon can't notify has no watchdog that would kill it", () => {
  const { values } = parseUnit(systemdUnit(PLAIN, { notifies: false }));
  expect(values.has("Service.WatchdogSec")).toBe(false);
  expect(values.get("Service.Type")).toEqual(["exec"]);
});

function elementsIn(node: Bun.XML.Node): Bun.XML.Node[] {
  return node.children.flatMap((each) =>
    typeof each !== "string" && "name" in each ? [each] : [],
  );
}

type PropertyList = string | number | boolean | PropertyList[] | { [key: string]: PropertyList };

function propertiesOf(node: Bun.XML.Node): PropertyList {
  const children = elementsIn(node);
  const text = node.children.filter((each) => typeof each === "string").join("");
  switch (node.name) {
    case "dict": {
      const pairs: [string, PropertyList][] = [];
      for (let at = 0; at < children.length; at += 2) {
        const [key, value] = children.slice(at, at + 2);
        if (!key || !value || key.name !== "key") throw new Error("a key and a value, in turn");
        pairs.push([key.children.join(""), propertiesOf(value)]);
      }
      return Object.fromEntries(pairs);
    }
    case "array":
      return children.map(propertiesOf);
    case "string":
      return text;
    case "integer":
      return Number(text);
    default:
      return node.name === "true";
  }
}

/** Keys of launchd.plist(5) that are in use, and what kind of value each has there. */
const LAUNCHD_KEYS: Readonly<Record<string, string>> = {
  Label: "string",
  ProgramArguments: "object",
  EnvironmentVariables: "object",
  WorkingDirectory: "string",
  StandardOutPath: "string",
  StandardErrorPath: "string",
  Umask: "number",
  ProcessType: "string",
  RunAtLoad: "boolean",
  KeepAlive: "object",
  ThrottleInterval: "number",
  ExitTimeOut: "number",
};

test("a launchd agent is a property list of documented keys that says what was meant", () => {
  for (const definition of [PLAIN, ODD]) {
    const root = Bun.XML.parse(launchdAgent(definition), { compact: false });
    const [list] = elementsIn(root);
    if (!list) throw new Error("an empty property list");
    const found = propertiesOf(list) as Record<string, PropertyList>;
    for (const [key, value] of Object.entries(found)) {
      expect([key, LAUNCHD_KEYS[key]]).toEqual([key, typeof value]);
    }
    expect(found).toMatchObject({
      Label: definition.name,
      ProgramArguments: [...definition.command],
      EnvironmentVariables: definition.environment,
      StandardErrorPath: definition.log,
      KeepAlive: { SuccessfulExit: false },
      Umask: 0o077,
    });
  }
});

/** What may stand in what, in the schema of the task scheduler, as far as it is in use. */
const TASK_SCHEMA: Readonly<Record<string, readonly string[]>> = {
  Task: ["RegistrationInfo", "Triggers", "Principals", "Settings", "Actions"],
  RegistrationInfo: ["Description", "URI"],
  Triggers: ["LogonTrigger"],
  LogonTrigger: ["Enabled", "UserId"],
  Principals: ["Principal"],
  Principal: ["UserId", "LogonType", "RunLevel"],
  Settings: [
    "MultipleInstancesPolicy",
    "DisallowStartIfOnBatteries",
    "StopIfGoingOnBatteries",
    "StartWhenAvailable",
    "RestartOnFailure",
    "ExecutionTimeLimit",
    "Hidden",
    "Enabled",
  ],
  RestartOnFailure: ["Interval", "Count"],
  Actions: ["Exec"],
  Exec: ["Command", "Arguments"],
};

/** The values that the schema's simple types allow. */
const TASK_VALUES: Readonly<Record<string, RegExp>> = {
  LogonType: /^InteractiveToken$/,
  RunLevel: /^LeastPrivilege$/,
  MultipleInstancesPolicy: /^IgnoreNew$/,
  Enabled: /^true$/,
  Interval: /^PT\d+M$/,
  Count: /^\d+$/,
  ExecutionTimeLimit: /^PT0S$/,
  URI: /^\\[\w-]+$/,
};

function taskProblems(node: Bun.XML.Node): string[] {
  const children = elementsIn(node);
  const names = children.map(({ name }) => name);
  const allowed = TASK_SCHEMA[node.name];
  const misplaced = names.filter((name) => !allowed?.includes(name));
  const text = node.children.filter((each) => typeof each === "string").join("");
  const ordered = (allowed ?? []).filter((name) => names.includes(name));
  return [
    ...misplaced.map((name) => `${name} in ${node.name}`),
    ...(Bun.deepEquals(ordered, names) ? [] : [`${node.name} is out of order`]),
    ...(TASK_VALUES[node.name]?.test(text) === false ? [`${node.name} is ${text}`] : []),
    ...children.flatMap(taskProblems),
  ];
}

/** Splits as Windows' programs do (CommandLineToArgvW), for arguments without a lone quote. */
function windowsWords(line: string): string[] {
  const found = line.match(/(?:"(?:\\+"|[^"])*"|[^\s"])+/g) ?? [];
  return found.map((word) => {
    if (!word.startsWith('"')) return word;
    const inner = word.slice(1, -1).replace(/(\\+)$/, (all) => all.slice(all.length / 2));
    return inner.replace(/(\\+)"/g, (_, all) => `${"\\".repeat((all.length - 1) / 2)}"`);
  });
}

test("a scheduled task keeps to its schema and says what was meant", () => {
  const home = "C:\\Users\\A B\\memsync home\\";
  const definition: ServiceDefinition = {
    name: "memsync",
    command: ["C:\\Program Files\\memsync.exe", "daemon", "--started", "service"],
    environment: { MEMSYNC_HOME: home, MEMSYNC_URL: "https://x.y/?a&b", PATH: "C:\\Windows" },
    log: "",
  };
  const text = scheduledTask(definition, "DOMAIN\\A & B");
  const root = Bun.XML.parse(text.replace(/^<\?.*\?>\n/, ""), { compact: false });
  expect(taskProblems(root)).toEqual([]);
  const task = Bun.XML.parse(text.replace(/^<\?.*\?>\n/, "")) as unknown as {
    Task: {
      Actions: { Exec: { Command: string; Arguments: string } };
      Principals: { Principal: { UserId: string } };
    };
  };
  const { Command, Arguments } = task.Task.Actions.Exec;
  expect(Command).toBe(definition.command[0] ?? "");
  const words = ["daemon", "--started", "service", "--home", home, "--url", "https://x.y/?a&b"];
  expect(windowsWords(Arguments)).toEqual(words);
  expect(task.Task.Principals.Principal.UserId).toBe("DOMAIN\\A & B");
});

test("no token and nothing but what is listed goes into a service's files", () => {
  const home = homeOf({ MEMSYNC_HOME: join(folder, "a home") });
  const variables = {
    MEMSYNC_TOKEN: "mst_secret",
    MEMSYNC_URL: "https://x.y",
    OTHER: "secret",
    PATH: ["/a/node_modules/.bin", "/usr/bin", "", "/bin"].join(":"),
  };
  const definition = defineService(home, variables);
  expect(definition.environment).toEqual({
    MEMSYNC_HOME: home.dir,
    MEMSYNC_URL: "https://x.y",
    PATH: "/usr/bin:/bin",
    ...RUNTIME_ENVIRONMENT,
  });
  const texts = [
    systemdUnit(definition, { notifies: true }),
    launchdAgent(definition),
    scheduledTask(definition, "user"),
  ];
  for (const text of texts) expect(text).not.toContain("secret");
  expect(definition.command.slice(-3)).toEqual(["daemon", "--started", "service"]);
});

test("each home has a service of its own", () => {
  expect(serviceName(homeOf({ MEMSYNC_HOME: join(homedir(), ".memsync") }))).toBe("memsync");
  const names = ["one", "two"].map((name) => serviceName(homeOf({ MEMSYNC_HOME: `/${name}` })));
  expect(names[0]).toMatch(/^memsync-[0-9a-f]{8}$/);
  expect(new Set(names).size).toBe(2);
});
