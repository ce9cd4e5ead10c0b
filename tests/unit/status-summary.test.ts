import { expect, test } from "bun:test";
import type { Standing } from "../../cli/screen/standing.ts";
import { type Screen, statusOnScreen } from "../../cli/views/status-summary.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import {
  madeUpProject as project,
  statusLines,
  madeUpStatus as statusOf,
} from "../support/made-up-status.ts";

const NOW = Date.UTC(2026, 0, 1, 0, 1);

test("a status tells the last contact and what is left of the requests, as spans of time", () => {
  const status = statusOf([]);
  const [remote] = status.remotes;
  const service = {
    ...status.service,
    state: "offline" as const,
    online: false,
    message: "the connection was refused",
    requests: {
      minute: { limit: 60, remaining: 54, resets_at: "2026-01-01T00:02:05.000Z" },
      day: { limit: null, remaining: 12, resets_at: "2026-01-01T11:04:00.000Z" },
    },
    throttled: {
      since: "2026-01-01T00:00:30.000Z",
      until: "2026-01-01T00:01:43.000Z",
      projects: 12,
      reason: "the account has 60 requests a minute",
      code: "requests-used" as const,
    },
  };
  const shown = { ...status, remotes: remote ? [{ ...remote, service }] : [] };
  expect(statusLines(shown, { now: NOW }).slice(0, 4)).toEqual([
    "service   https://memory.example.com   offline: the connection was refused; " +
      "last contact 1 min 0 s ago; what is saved here goes when it is back",
    "requests  minute: 54 of 60 left, more in 1 min 5 s",
    "          day: 12 left, more in 11 h 3 min",
    "          12 projects still to go, the next in 43 s: the account has 60 requests a minute",
  ]);
  const [, calm] = statusLines(shown, { now: NOW, calm: true });
  expect(calm).toMatch(/^requests {2}12 projects still to go, the next at .+: the account has 60/);
  const past = { limit: 60, remaining: 59, resets_at: new Date(NOW).toISOString() };
  const due = { ...service, requests: { minute: past }, throttled: null };
  const again = { ...status, remotes: remote ? [{ ...remote, service: due }] : [] };
  expect(statusLines(again, { now: NOW })).toContain("requests  minute: 59 of 60 left");
  const minute = { limit: 60, remaining: 60, resets_at: "2026-01-01T00:02:00.000Z" };
  const idle = { ...service, requests: { minute }, throttled: null };
  const rested = { ...status, remotes: remote ? [{ ...remote, service: idle }] : [] };
  expect(statusLines(rested, { now: NOW })).toContain("requests  minute: all 60 left");
});

test.each([
  [null, [], []],
  ["2026-01-09T12:00:00.000Z", [], []],
  [
    "2026-01-04T12:00:00.000Z",
    ["token     expires in 3 days: `memsync login` gives the service another one"],
    ["token     expires in 3 days"],
  ],
  [
    "2025-12-30T12:00:00.000Z",
    ["token     expired 1 day ago: `memsync login` gives the service another one"],
    ["token     expired 1 day ago"],
  ],
])("a token that ends %j is spoken of in its last week", (end, taken, refused) => {
  const status = statusOf([]);
  const linesOf = (token_refused: boolean) => {
    const remotes = status.remotes.map((remote) => {
      return { ...remote, service: { ...remote.service, token_refused }, token_expires_at: end };
    });
    const lines = statusLines({ ...status, remotes }, { now: NOW });
    return lines
      .filter((line) => line.startsWith("token"))
      .map((line) => line.replace(/, or MEMSYNC_TOKEN.*/, ""));
  };
  expect(linesOf(false)).toEqual(taken);
  expect(linesOf(true)).toEqual(refused);
});

test("what the embedded service could not keep is not said to be saved", () => {
  const status = statusOf([]);
  const [remote] = status.remotes;
  const message = "it answered 500: the disk is full: make room and try again";
  const service = { ...status.service, state: "offline" as const, name: "embedded", message };
  const shown = remote ? [{ ...remote, name: "embedded", service }] : [];
  const [line] = statusLines({ ...status, remotes: shown }, { now: NOW });
  expect(line).toContain(message);
  expect(line).not.toContain("saved here");
});

const SCREEN = { columns: 80, rows: 24 };
const onScreen = (status: DaemonStatus, screen: Screen, standing?: Standing) =>
  statusOnScreen(status, standing && { standing }, screen);
const fifty = Array.from({ length: 50 }, (_, at) => project(at));

test("a status that fits its screen is whole, and so is one without a screen", () => {
  const few = statusOf(fifty.slice(0, 3));
  expect(onScreen(few, SCREEN)).toEqual(statusLines(few));
  expect(onScreen(statusOf(fifty), { columns: 80, rows: 1000 }).length).toBe(154);
});

test("of fifty projects a screen shows those with troubles, and counts the others", () => {
  const waiting = project(7, { waiting: 2 });
  const refused = project(9, { refused: "it is too large" });
  const projects = fifty.with(7, waiting).with(9, refused);
  const lines = onScreen(statusOf(projects), SCREEN);
  const text = lines.join("\n");
  expect(lines.length).toBeLessThanOrEqual(SCREEN.rows - 3);
  expect(text).toContain("project 7");
  expect(text).toContain("refused by the service: it is too large");
  expect(text).not.toContain("project 8");
  expect(text).toContain("48 more, all synced");
  expect(text).toContain("service   https://memory.example.com");
});

test("of a dozen projects each has its line, behind the one that one stands in", () => {
  const here: Standing = { kind: "in", project: "proj_4", dir: "/src/4" };
  const waiting = project(2, { waiting: 2 });
  const lines = onScreen(statusOf(fifty.slice(0, 12).with(2, waiting)), SCREEN, here);
  expect(lines.length).toBeLessThanOrEqual(SCREEN.rows - 3);
  expect(lines[0]).toBe("here      project 4   proj_4");
  expect(lines.filter((line) => line.startsWith("project   "))).toHaveLength(11);
  expect(lines).toContain("project   project 11   /src/11   all synced");
  expect(lines).toContain("          no text, 3 memories saved, 2 changes waiting");
  const all = fifty.slice(0, 12).map((each) => ({ ...each, waiting: 1 }));
  expect(onScreen(statusOf(all), SCREEN, here)).toContain(
    "project   project 11   /src/11   1 change waiting",
  );
  const deep = { ...project(1).folders[0], dir: `/src/${"deep/".repeat(20)}` };
  const folders = [deep] as ReturnType<typeof project>["folders"];
  expect(onScreen(statusOf(fifty.slice(0, 12).with(1, project(1, { folders }))), SCREEN)).toContain(
    "project   project 1   all synced",
  );
});

test("in one line, a project whose file nobody reads says why, and is not said to be synced", () => {
  const note = "is a symbolic link to .env, which memsync does not follow";
  const unread = fifty.slice(0, 12).map((each, at) => {
    const [folder] = each.folders;
    if (!folder) throw new Error("a project has a folder");
    return project(at, {
      folders: [{ ...folder, state: "left-alone", why: "link-to-other", note }],
    });
  });
  const [first, ...others] = onScreen(statusOf(unread), SCREEN).filter((line) =>
    line.startsWith("project   "),
  );
  expect(first).toBe(
    "project   project 0   CLAUDE.md is a symbolic link to .env, which memsync does …",
  );
  expect(others).toHaveLength(11);
  expect(others.join("\n")).not.toContain("all synced");
});

test("what is held of a project that is only counted has its name", () => {
  const held = [
    {
      id: "1",
      kind: "memory",
      key: "sec",
      layer: "project",
      project_id: "proj_8",
      remote: "work",
      advice: "held: it looks like a token; it stays on this machine",
    },
  ];
  const lines = onScreen({ ...statusOf(fifty), held: held as never }, SCREEN);
  expect(lines.join("\n")).toContain("50 projects, all synced");
  expect(lines).toContain("held      sec   project 8");
});

test("more troubles than fit are counted, too", () => {
  const projects = fifty.map((each) => ({ ...each, waiting: 1 }));
  const lines = onScreen(statusOf(projects), SCREEN);
  expect(lines.length).toBeLessThanOrEqual(SCREEN.rows - 3);
  expect(lines.join("\n")).toMatch(
    /\d+ more: .*\s+and \d+ others have\s+something waiting, refused or not followed;/,
  );
  const tiny = onScreen(statusOf(projects), { columns: 80, rows: 5 });
  expect(tiny).toEqual(["50 changes wait", "more: `memsync status --all`"]);
});

test("no line is wider than the screen, and what is left out of a full one is counted", () => {
  const refused =
    "it answered 403: the token does not reach this project, which is somebody else's";
  const unlinked = fifty.map((each) => {
    return { ...each, name: null, folders: [], waiting: 1, plain: false, sending: 0 };
  });
  const held = fifty.map(({ id }) => ({
    id,
    kind: "memory",
    key: "a key",
    layer: "project",
    project_id: id,
    remote: "work",
    advice: "held: it looks like a token; it stays on this machine",
  }));
  const full = { ...statusOf([project(0, { refused }), ...fifty.slice(1)]), unlinked };
  const lines = onScreen({ ...full, held: held as never }, { columns: 60, rows: 16 });
  expect(lines.every((line) => line.length <= 60)).toBe(true);
  const text = lines.map((line) => line.trim()).join(" ");
  expect(text).toContain(
    "unlinked  50 projects are linked nowhere here: `memsync projects` lists them",
  );
  expect(text).toContain("held      50 here: `memsync held` lists them");
  const one = onScreen(statusOf([project(0, { refused })]), { columns: 60, rows: 24 });
  expect(one.every((line) => line.length <= 60)).toBe(true);
  expect(one.join(" ").replaceAll(/ +/g, " ")).toContain(`refused by the service: ${refused}`);
});

test("the project that one stands in comes first, and stays where only troubles fit", () => {
  const here: Standing = { kind: "in", project: "proj_42", dir: "/src/42" };
  const text = { lines: 8, bytes: 75, changed_at: "2025-12-31T00:00:00.000Z" };
  const status = statusOf(fifty.with(42, project(42, { text })));
  const lines = onScreen(status, SCREEN, here);
  expect(lines.length).toBeLessThanOrEqual(SCREEN.rows - 3);
  expect(lines[0]).toBe("here      project 42   proj_42");
  expect(lines[2]).toContain("8 lines (75 bytes) of 2025-12-31, 3 memories saved, all synced");
  expect(lines[3]).toBe("service   https://memory.example.com   connected");
  expect(lines.join("\n")).toContain("projects  49 more, all synced;");
  const unfollowed = { kind: "unfollowed", dir: "/src/new", renamed: undefined } as const;
  const folder = { ...unfollowed, file: "AGENTS.md", others: undefined } as const;
  expect(onScreen(status, SCREEN, folder)[0]).toBe(
    "here      /src/new   not followed, nor its AGENTS.md: `memsync link` follows it",
  );
  const clone = {
    ...unfollowed,
    file: undefined,
    others: { name: "project 7", dir: "/src/7" },
  } as const;
  expect(onScreen(status, SCREEN, clone).join(" ")).toStartWith(
    "here      /src/new   not followed, though project 7 is in /src/7: `memsync link`",
  );
});

test("of a project's folders the one in which somebody stands comes first", () => {
  const [one] = project(1).folders;
  const folders = one ? [one, { ...one, dir: "/src/clone" }] : [];
  const shown = (dir: string) => {
    const standing = { kind: "in", project: "proj_1", dir } as const;
    const lines = statusLines(statusOf([project(0), project(1, { folders })]), { standing });
    return lines.slice(0, 3).map((line) => line.trim().split("/CLAUDE.md")[0]);
  };
  const here = "here      project 1   proj_1";
  expect(shown("/src/clone")).toEqual([here, "/src/clone", "/src/1"]);
  expect(shown("/src/1")).toEqual([here, "/src/1", "/src/clone"]);
});

test("files that are there besides the followed one are named, and why they are not", () => {
  const [folder] = project(1).folders;
  const folders = folder ? [{ ...folder, beside: [".claude/CLAUDE.md", "AGENTS.md"] }] : [];
  const lines = statusLines(statusOf([project(1, { folders })]));
  for (const name of [".claude/CLAUDE.md", "AGENTS.md"]) {
    expect(lines).toContain(
      `          ${name} is there, too, and is not followed: ` +
        `\`memsync link --file ${name}\` follows it`,
    );
  }
});

test("at 30x8 a status has a line for each thing, where one stands among them", () => {
  const small = { columns: 30, rows: 8 };
  const here: Standing = { kind: "in", project: "proj_1", dir: "/src/1" };
  const text = { lines: 8, bytes: 75, changed_at: "2025-12-31T00:00:00.000Z" };
  const [folder] = project(1).folders;
  const missing = { state: "left-alone", why: "missing", note: "it is missing" } as const;
  const folders = folder ? [{ ...folder, ...missing }] : [];
  const status = statusOf([project(0), project(1, { text, folders })]);
  expect(onScreen(status, small, here)).toEqual([
    "CLAUDE.md missing: project 1",
    "here: project 1",
    "https://memory.example.com",
    "more: `memsync status --all`",
  ]);
  const calm = statusOf([project(0), project(1, { text })]);
  expect(onScreen(calm, small, here)[0]).toBe("all synced");
  const none = statusOf([]);
  const folderOf = { file: undefined, others: undefined, renamed: undefined };
  const apart: Standing = { kind: "unfollowed", dir: "/src/new", ...folderOf };
  expect(onScreen(none, small, apart)[0]).toBe("not followed: `memsync link`");
  const most = fifty.map((each) => ({ ...each, text, folders, waiting: 1 }));
  const lines = onScreen({ ...statusOf(most), held: [{}] as never }, small, here);
  expect(lines.slice(0, 4)).toEqual([
    "`memsync held`: 1",
    "`memsync status`: 50 files",
    "50 changes wait",
    "here: project 1",
  ]);
  expect(lines.length).toBeLessThanOrEqual(5);
  expect(lines.every((line) => line.length < 30)).toBe(true);
});

test("of a folder without its former consent the files are named that are not written", () => {
  const [folder] = project(1).folders;
  if (!folder) throw new Error("a made-up project has a folder");
  const place = { kind: "replaced", moved_to: null, wrote: true, at: "" } as const;
  const also = { path: "AGENTS.md", state: "upwards", note: null, why: null } as const;
  const missing = { state: "left-alone", why: "missing", note: "it is missing" } as const;
  const told = (given: Partial<typeof folder>) => {
    const lines = statusLines(statusOf([project(1, { folders: [{ ...folder, ...given }] })]));
    return lines.filter((line) => /took the place|was moved/.test(line)).join("\n");
  };
  const until = (files: string) =>
    `nothing is written into ${files} until \`memsync link --write\` there`;
  expect(told({ place, state: "upwards" })).toContain(until("CLAUDE.md"));
  expect(told({ place, ...missing })).toContain(until("CLAUDE.md"));
  // What git ignores, and what no repository has, is written without consent.
  expect(told({ place, state: "followed" })).toEndWith("`memsync unlink` there if it is not to be");
  expect(told({ place, state: "followed", also: [also] })).toContain(until("AGENTS.md"));
  expect(told({ place: { ...place, wrote: false }, state: "upwards" })).not.toContain("written");
  const moved = { kind: "moved", from: "/src/0", wrote: true, at: "" } as const;
  expect(told({ place: moved, state: "upwards" })).toContain(until("CLAUDE.md"));
  expect(told({ place: moved, state: "followed" })).toEndWith("followed here again");
});

test("of a project that was deleted no screen says that all is synced: its files are not read", () => {
  const deleted = { at: "2026-01-01T00:00:00.000Z", machine: "desktop" } as never;
  const status = statusOf([project(1, { deleted, memories: 1 })]);
  const [whole, tiny] = [
    statusLines(status, { now: NOW }),
    onScreen(status, { columns: 30, rows: 8 }),
  ];
  expect(whole.find((line) => line.includes("deleted"))).toEndWith(
    ", 1 memory saved here, no more synced",
  );
  expect(tiny[0]).toBe("deleted: project 1");
  expect(tiny).not.toContain("all synced");
});

test.each([
  ["gone", "CLAUDE.md gone: project 1"],
  ["link-to-other", "CLAUDE.md not followed: proj…"],
  ["not-utf8", "CLAUDE.md not followed: proj…"],
  // Its file is followed where the default branch is.
  ["leave-branch", "all synced"],
] as const)(
  "a file that is left alone (%s) is on every screen, unless git does it",
  (why, first) => {
    const [folder] = project(1).folders;
    if (!folder) throw new Error("a made-up project has a folder");
    const folders = [
      { ...folder, state: "left-alone" as const, why, note: "why it is left alone" },
    ];
    const [tiny] = onScreen(statusOf([project(1, { folders })]), { columns: 30, rows: 8 });
    expect(tiny).toBe(first);
    const others = onScreen(statusOf(fifty.with(1, project(1, { folders }))), SCREEN).join("\n");
    expect(others.includes("why it is left alone")).toBe(first !== "all synced");
    expect(others).toContain(`${first === "all synced" ? "" : "49 more, "}all synced`);
  },
);
