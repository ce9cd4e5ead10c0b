import { expect, test } from "bun:test";
import { awayWord, whyUnsynced } from "../../cli/status/why-unsynced.ts";
import type {
  ProjectStatus,
  RemoteStatus,
  ServiceStatus,
  UnitStatus,
} from "../../daemon/status/status.ts";
import { CONNECTED, madeUpStatus, SYNCED } from "../support/made-up-status.ts";

const AT = "2026-01-01T00:00:00.000Z";

function remote(service: Partial<ServiceStatus>, own: Partial<UnitStatus> = {}): RemoteStatus {
  const usual = { name: "usual", default: true };
  const layers = {
    user: SYNCED,
    global: SYNCED,
    audience: null,
    of_another: null,
    token_expires_at: null,
  };
  return { ...usual, service: { ...CONNECTED, ...service }, own: { ...SYNCED, ...own }, ...layers };
}

function project(name: string, unit: Partial<UnitStatus>): ProjectStatus {
  return {
    id: `proj_${name}`,
    name,
    remote: "usual",
    text: null,
    changed_at: null,
    deleted: null,
    joined: [],
    folders: [],
    ...SYNCED,
    ...unit,
  };
}

/** What is said three seconds after `AT`. */
function said(projects: readonly ProjectStatus[], remotes: readonly RemoteStatus[]): string {
  const status = { ...madeUpStatus(projects), remotes };
  return whyUnsynced(status, Date.parse(AT) + 3000);
}

test("a busy service is no silent one, and is asked again at a time", () => {
  const busy_until = "2026-01-01T00:00:45.000Z";
  const message = "it answered 429: slower";
  const busy = { state: "busy", online: false, message, busy_until } as const;
  expect(said([project("app", { waiting: 1 })], [remote(busy)])).toBe(
    "not everything is synced yet: app (1 change) waits; " +
      "https://memory.example.com is busy (it answered 429: slower), asked again in 42 s",
  );
  const throttledBy = (code: "requests-refused" | "requests-used") => {
    const throttled = { since: AT, until: busy_until, projects: 1, reason: "", code };
    return said([project("app", { waiting: 1 })], [remote({ ...busy, throttled })]);
  };
  expect(throttledBy("requests-refused")).toEndWith("asked again in 42 s");
  expect(throttledBy("requests-used")).toEndWith(
    "; calls wait for more requests, as `memsync status` shows",
  );
  const offline = { state: "offline", online: false, message: "no network" } as const;
  const full = { ...offline, name: "embedded", message: "the disk is full" } as const;
  const words = [[busy], [offline], [busy, offline], [full]] as const;
  expect(words.map((services) => awayWord(services.map((each) => remote(each))))).toEqual([
    "busy",
    "offline",
    "offline",
    "failing",
  ]);
});

test("what waits is named with how much of it, and the service with how long it was silent", () => {
  const projects = [project("app", { waiting: 2 }), project("well", {})];
  expect(said(projects, [remote({ unanswered_since: AT })])).toBe(
    "not everything is synced yet: app (2 changes) waits; " +
      "https://memory.example.com has not answered for 3 s",
  );
});

test("a service that can't be reached is said to be so, and what has never met it", () => {
  const away = remote({ online: false, message: "the connection was refused" }, { waiting: 1 });
  expect(said([project("app", { contacted: false })], [away])).toBe(
    "not everything is synced yet: app (no first answer yet), user and global (1 change) wait; " +
      "https://memory.example.com has not answered (the connection was refused)",
  );
});

test("with nothing waiting here it is said that nobody told what others wrote", () => {
  expect(said([project("app", {})], [remote({ unanswered_since: AT })])).toBe(
    "not everything is synced yet: what others wrote was not asked for; " +
      "https://memory.example.com has not answered for 3 s",
  );
});

test("of many only some are named", () => {
  const many = Array.from({ length: 5 }, (_, at) => project(`p${at}`, { waiting: 1 }));
  expect(said(many, [remote({})])).toBe(
    "not everything is synced yet: p0 (1 change), p1 (1 change), p2 (1 change) and 2 more wait",
  );
});

test("what is refused is said before anything else", () => {
  const refused = project("app", { waiting: 1, refused: "it answered 403" });
  expect(said([refused], [remote({ unanswered_since: AT })])).toBe(
    "not everything is synced: the service refuses app: it answered 403",
  );
});

test("of two remotes at one address the silent one is named", () => {
  const remotes = [remote({}), { ...remote({ unanswered_since: AT }), name: "other" }];
  expect(said([], remotes)).toBe(
    "not everything is synced yet: what others wrote was not asked for; " +
      "other (https://memory.example.com) has not answered for 3 s",
  );
});
