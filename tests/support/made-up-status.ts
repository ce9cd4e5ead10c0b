import { type StatusView, tonedStatusLines } from "../../cli/views/status-view.ts";
import type {
  DaemonStatus,
  ProjectStatus,
  ServiceStatus,
  UnitStatus,
} from "../../daemon/status/status.ts";

/** A document of one memory that is in step with its service. */
export const SYNCED: UnitStatus = {
  memories: 1,
  waiting: 0,
  contacted: true,
  refused: null,
  refused_code: null,
  notes: [],
};

/** A service with which all is well. */
export const CONNECTED: ServiceStatus = {
  name: "https://memory.example.com",
  state: "connected",
  online: true,
  live: true,
  plain: false,
  last_contact_at: "2026-01-01T00:00:00.000Z",
  unanswered_since: null,
  busy_until: null,
  message: null,
  code: null,
  blocked: false,
  token_refused: false,
  requests: {},
  throttled: null,
};

/** The line as it is without colours. */
export function untoned(line: string): string {
  return line.replace(/[\ufdd0-\ufdd3]/g, "");
}

/** What `memsync status` shows, without tones. */
export function statusLines(status: DaemonStatus, view?: StatusView): string[] {
  return tonedStatusLines(status, view).map(untoned);
}

/** A followed project with which all is well, but for `fields`. */
export function madeUpProject(at: number, fields: Partial<ProjectStatus> = {}): ProjectStatus {
  const known = {
    state: "followed",
    note: null,
    why: null,
    polled: null,
    repository: null,
    repository_code: null,
    place: null,
  } as const;
  const folder = { dir: `/src/${at}`, path: "CLAUDE.md", beside: [], also: [], ...known };
  const names = {
    id: `proj_${at}`,
    name: `project ${at}`,
    remote: "work",
    text: null,
    changed_at: null,
    deleted: null,
    joined: [],
  };
  return { ...names, folders: [folder], ...SYNCED, memories: 3, ...fields };
}

/** A status in which these are all that is followed, at a service that is connected. */
export function madeUpStatus(projects: readonly ProjectStatus[]): DaemonStatus {
  const service = CONNECTED;
  const own = SYNCED;
  const told = { audience: null, of_another: null, token_expires_at: null };
  const global = { ...SYNCED, memories: 0 };
  return {
    version: "0.1.0",
    home: "/home",
    machine: { name: "laptop", note: null, code: null },
    gateway: { url: "http://127.0.0.1:1" },
    service,
    remotes: [{ name: "work", default: true, service, own, user: own, global, ...told }],
    unused_remotes: [],
    projects,
    unlinked: [],
    own,
    damaged: [],
    held: [],
    auto_memory: { mode: "off", folders: [] },
    serena: { mode: "off", folders: [] },
    rules: { mode: "off", folders: [] },
    personal: { lines: null, files: [], merges: [] },
    ignore_lines: [],
  };
}
