import { expect, test } from "bun:test";
import { frameOf, type LiveView } from "../../cli/live/frame.ts";
import { madeUpProject, madeUpStatus, untoned } from "../support/made-up-status.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
/** All small screens, where parts of it give way to others, and some larger ones. */
const ROWS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 19, 24, 40];
const transfer = {
  event: "received",
  project: "project 1",
  layer: "project",
  text: true,
  memories: 2,
  key: null,
  bytes: 345,
  machine: "desktop",
} as const;

function viewOf(projects: number, happened: number): LiveView {
  const text = { lines: 8, bytes: 75, changed_at: "2025-12-31T00:00:00.000Z" };
  const all = Array.from({ length: projects }, (_, at) =>
    madeUpProject(at, { text, waiting: at % 2 }),
  );
  const what = { kind: "conflict", where: "project 1", what: "deploy" } as const;
  return {
    status: madeUpStatus(all),
    standing: { kind: "in", project: "proj_0", dir: "/src/0" },
    notices: [what],
    happened: Array.from({ length: happened }, (_, at) => ({ at: NOW + at, activity: transfer })),
    now: NOW,
  };
}

test("a screen of any size gets no more lines than it has rows, the first of them the title", () => {
  for (const [projects, happened] of [
    [0, 0],
    [1, 3],
    [50, 200],
  ] as const) {
    for (const rows of ROWS) {
      for (const columns of [20, 33, 40, 80, 200]) {
        const lines = frameOf(viewOf(projects, happened), { columns, rows });
        expect(lines.length).toBeLessThanOrEqual(rows);
        expect(lines[0]).toStartWith("memsync is up");
      }
    }
  }
});

test("at 80x24 everything is there: where one stands, conflicts, and what happened last", () => {
  const lines = frameOf(viewOf(50, 200), { columns: 80, rows: 24 });
  const text = lines.join("\n");
  expect(lines).toHaveLength(24);
  expect(lines.every((line) => line.length <= 80)).toBe(true);
  expect(text).toContain("here      project 0   proj_0");
  expect(text).toContain("service   https://memory.example.com   connected");
  expect(text).toContain("conflict, deploy in project 1: `memsync conflicts` shows it");
  expect(text).toContain("received   project 1  document, 2 memories  345 bytes  from desktop");
  expect(lines.at(-1)).toStartWith(
    "followed: the first of CLAUDE.md, .claude/CLAUDE.md, AGENTS.md",
  );
});

test("while nothing happens the screen stays as it is, whatever time it is", () => {
  const [remote] = madeUpStatus([]).remotes;
  const view = viewOf(3, 5);
  const minute = { limit: 60, remaining: 54, resets_at: "2026-01-01T12:00:30.000Z" };
  for (const online of [true, false]) {
    const service = { ...view.status.service, online, live: false, requests: { minute } };
    const remotes = remote ? [{ ...remote, service }] : [];
    const at = (now: number) => {
      return frameOf(
        { ...view, status: { ...view.status, remotes }, now },
        { columns: 80, rows: 24 },
      );
    };
    expect(at(NOW + 60_000)).toEqual(at(NOW));
  }
});

test("a notice that is wider than the screen is broken, so that its command stays", () => {
  const view = viewOf(3, 5);
  const notices = ["deploy", "build", "release"].map((what) => {
    return { kind: "conflict", where: "a project with a long name", what } as const;
  });
  for (const columns of [60, 80, 100]) {
    const lines = frameOf({ ...view, notices }, { columns, rows: 24 });
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.every((line) => line.length < columns)).toBe(true);
    const text = lines.map((line) => line.trim()).join(" ");
    expect(text).toContain("release in a project with a long name: `memsync conflicts` shows them");
  }
});

test("what is wider than the screen is broken, for the terminal would cut it", () => {
  const view = viewOf(2, 0);
  for (const columns of [24, 30, 40]) {
    const lines = frameOf({ ...view, notices: [] }, { columns, rows: 60 }).map(untoned);
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    const text = lines.map((line) => line.trim()).join("");
    for (const { id, folders } of view.status.projects) {
      for (const whole of [id, ...folders.map(({ dir }) => dir)]) expect(text).toContain(whole);
    }
    expect(text).toContain("http://127.0.0.1:1");
  }
});

test("on a small screen the latest events are seen, before what says nothing new", () => {
  const small = { columns: 60, rows: 12 };
  const { notices, ...calm } = viewOf(1, 5);
  const lines = frameOf({ ...calm, notices: [] }, small);
  expect(lines).toHaveLength(12);
  expect(lines.filter((line) => line.includes("received"))).toHaveLength(5);
  expect(lines.join("\n")).not.toMatch(/gateway|followed: the first/);
  expect(lines[0]).toMatch(/^memsync is up +more: `memsync status`; Ctrl-C stops it$/);
  const narrow = frameOf({ ...calm, notices: [] }, { columns: 50, rows: 12 });
  expect(narrow[0]).toMatch(/^memsync is up +more: `memsync status`$/);
  const quiet = frameOf({ ...calm, happened: [], notices: [] }, small).join("\n");
  expect(quiet).toMatch(/^memsync is up +Ctrl-C stops it$/m);
  expect(quiet).toMatch(/gateway[\s\S]*followed: the first/);
  const waiting = calm.status.remotes.map((remote) => {
    return { ...remote, user: { ...remote.user, waiting: 2 } };
  });
  const busy = frameOf({ ...calm, notices, status: { ...calm.status, remotes: waiting } }, small);
  expect(busy.join("\n")).toMatch(/user {6}[\s\S]*conflict[\s\S]*received/);
  expect(busy.join("\n")).not.toContain("global  ");
});

test("at 30x8 and less what a person has to know first comes first, a line for each thing", () => {
  const view = viewOf(3, 3);
  const [remote] = view.status.remotes;
  const away = { state: "offline", online: false, live: false } as const;
  const remotes = remote ? [{ ...remote, service: { ...remote.service, ...away } }] : [];
  const status = { ...view.status, remotes };
  const said = (rows: number) =>
    frameOf({ ...view, status }, { columns: 30, rows }).map((line) => untoned(line).trimEnd());
  expect(said(8).slice(0, 5)).toEqual([
    "memsync is up Ctrl-C stops it",
    "offline: https://memory.exam…",
    "`memsync conflicts`: 1",
    "1 change waits",
    "here: project 0",
  ]);
  expect(said(3)).toEqual(said(8).slice(0, 3));
  expect(said(8).every((line) => line.length < 30)).toBe(true);
});

test("at 30x8 a file that is missing here is not covered by that all is synced", () => {
  const { status, ...view } = viewOf(1, 0);
  const missing = { state: "left-alone", why: "missing", note: "it is missing" } as const;
  const projects = status.projects.map((project) => {
    return { ...project, folders: project.folders.map((folder) => ({ ...folder, ...missing })) };
  });
  const shown = { ...view, notices: [], status: { ...status, projects } };
  const lines = frameOf(shown, { columns: 30, rows: 8 }).map(untoned);
  expect(lines[1]).toBe("CLAUDE.md missing: project 0");
  expect(lines).toContain("here: project 0");
  expect(lines).not.toContain("all synced");
});
