import { expect, test } from "bun:test";
import { whyUnsynced } from "../../cli/status/why-unsynced.ts";
import { isOffline, isRefused, listFailing } from "../../daemon/status/refused-units.ts";
import { isSynced } from "../../daemon/status/synced-projects.ts";
import type { ReasonCode } from "../../shared/reasons.ts";
import { madeUpProject, madeUpStatus } from "../support/made-up-status.ts";

const DELETED = { at: "2026-01-01T00:00:00.000Z", machine: null };

function statusWith(fields: Partial<ReturnType<typeof madeUpProject> & { sending: number }>) {
  const made = { ...madeUpProject(1), name: null, folders: [], plain: false, sending: 0 };
  const unlinked = [{ ...made, ...fields }];
  return { ...madeUpStatus([]), unlinked };
}

test("what is linked nowhere is not waited for, but for a deletion that is to be sent", () => {
  expect(isSynced(statusWith({ waiting: 2 }))).toBe(true);
  expect(isSynced(statusWith({ waiting: 2, deleted: DELETED }))).toBe(true);
  expect(isSynced(statusWith({ waiting: 2, sending: 1, deleted: DELETED }))).toBe(false);
});

test("a deletion that its service refuses, or that can't be sent, is not waited for", () => {
  const waits = { waiting: 2, sending: 2, deleted: DELETED };
  expect(isRefused(statusWith(waits))).toBe(false);
  expect(isRefused(statusWith({ ...waits, refused: "it answered 403" }))).toBe(true);
  const status = statusWith(waits);
  const [remote] = status.remotes;
  const service = { ...status.service, online: false, live: false, message: "no network" };
  expect(isOffline(status, 0)).toBe(false);
  expect(isOffline({ ...status, remotes: remote ? [{ ...remote, service }] : [] }, 0)).toBe(true);
});

test("a further file that waits, or can't be read, is not synced, as one that counts", () => {
  const statusOf = (state: "waiting" | "failing" | "followed") => {
    const project = madeUpProject(1);
    const also = [{ path: "GEMINI.md", state, note: null, why: null }];
    return madeUpStatus([
      { ...project, folders: project.folders.map((folder) => ({ ...folder, also })) },
    ]);
  };
  expect(isSynced(statusOf("followed"))).toBe(true);
  for (const state of ["waiting", "failing"] as const) {
    expect(isSynced(statusOf(state))).toBe(false);
    const said = whyUnsynced(statusOf(state), 0);
    expect(said).toContain("GEMINI.md");
    expect(isRefused(statusOf(state))).toBe(state === "failing");
    expect(listFailing(statusOf(state)).map(({ path }) => path)).toEqual(
      state === "failing" ? ["GEMINI.md"] : [],
    );
  }
});

test("a memory or a rule that waits for its end is not synced, and is named", () => {
  const statusWithNote = (kind: "auto_memory" | "serena" | "rules", code: ReasonCode) => {
    const known = { project_id: "proj_1", layer: "project", moved_to: null, files: 1 } as const;
    const none = { asked: [], git: null, git_code: null, note: null, code: null } as const;
    const notes = [{ name: "x.md", note: "said", code }];
    const folder = { path: "/src/1/kept", ...known, ...none, notes };
    const kept = { mode: "write", folders: [folder] } as const;
    return { ...madeUpStatus([madeUpProject(1)]), [kind]: kept };
  };
  for (const kind of ["auto_memory", "serena", "rules"] as const) {
    expect(isSynced(statusWithNote(kind, "memory-linked"))).toBe(true);
    const waits = statusWithNote(kind, "being-written");
    expect(isSynced(waits)).toBe(false);
    expect(whyUnsynced(waits, 0)).toBe("not everything is synced yet: /src/1/kept/x.md waits");
    expect(isRefused(waits)).toBe(false);
  }
});

test("a file of the personal text that waits is not synced, and is named", () => {
  const statusWith = (state: "waiting" | "left-alone", code: ReasonCode | null) => {
    const file = { assistant: "claude", path: "/src/CLAUDE.md", state, note: null, code };
    return {
      ...madeUpStatus([madeUpProject(1)]),
      personal: { lines: 1, files: [file], merges: [] },
    };
  };
  expect(isSynced(statusWith("left-alone", "personal-in-project"))).toBe(true);
  for (const waits of [statusWith("waiting", null), statusWith("left-alone", "personal-unheard")]) {
    expect([isSynced(waits), isRefused(waits), isOffline(waits, 0)]).toEqual([false, false, false]);
    expect(whyUnsynced(waits, 0)).toBe("not everything is synced yet: /src/CLAUDE.md waits");
  }
  const unheard = statusWith("left-alone", "personal-unheard");
  const at = (service: Partial<typeof unheard.service>) => ({
    ...unheard,
    remotes: unheard.remotes.map((each) => ({ ...each, service: { ...each.service, ...service } })),
  });
  // Whose the token is will not be told, or not before the service is back.
  expect(isRefused(at({ token_refused: true }))).toBe(true);
  expect(isOffline(at({ online: false, live: false, message: "no network" }), 0)).toBe(true);
});
