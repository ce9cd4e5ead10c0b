import type { ServiceStatus } from "../../daemon/status/status.ts";
import { count } from "../../shared/count.ts";
import { askStatus, contactDaemon } from "../contact/daemon-contact.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { readHomeStatus } from "../status/home-status.ts";
import { wholeStatus } from "../status/whole-status.ts";
import { findScope, scopeJson, scopeLine } from "./project-scope.ts";
import { framed, type ToolResult } from "./tool-result.ts";

/** What `memory_status` is asked. */
export interface MemoryStatusRequest {
  readonly project?: string | undefined;
}

/** How the home stands, as far as that is of use to an assistant. */
interface Standing {
  readonly daemon: "running" | "none";
  /** Writes that are saved here and nowhere else yet. */
  readonly waiting: number;
  readonly held: number;
  readonly conflicts: number;
  /** Null without a daemon, which alone asks. */
  readonly service: Pick<ServiceStatus, "name" | "state" | "busy_until"> | null;
}

/** `memory_status`: which project this is and why, and what is not synced. */
export async function memoryStatus(
  env: Environment,
  option: string | undefined,
  { project }: MemoryStatusRequest,
): Promise<ToolResult> {
  const scope = await withLocal(env, (db) => findScope(env, db, { argument: project, option }));
  const standing = await readStanding(env, scope.kind === "project" ? scope.id : undefined);
  const { daemon, waiting, held, conflicts, service } = standing;
  const lines = [
    scopeLine(scope),
    `daemon: ${daemon}${daemon === "running" ? "" : "; `memsync start` starts it"}`,
    ...(service ? [`service: ${service.name}, ${service.state}${againShown(service)}`] : []),
    `waiting to be synced: ${count(waiting, "write", "writes")}`,
    `held on this machine: ${count(held, "write", "writes")}${held > 0 ? ", by `memsync held`" : ""}`,
    `conflicts: ${conflicts}${conflicts > 0 ? ", by `memsync conflicts`" : ""}`,
  ];
  return { text: framed(lines), data: { ...scopeJson(scope), ...standing } };
}

async function readStanding(env: Environment, project: string | undefined): Promise<Standing> {
  const daemon = await contactDaemon(env.home);
  if (!daemon) {
    const home = await readHomeStatus(env);
    const { in_inbox: waiting = 0, held = [], conflicts = 0 } = home ?? {};
    return { daemon: "none", waiting, held: held.length, conflicts, service: null };
  }
  const status = await wholeStatus(env, await askStatus(daemon));
  return { daemon: "running", ...standingOf(status, project) };
}

function againShown({ busy_until }: Pick<ServiceStatus, "busy_until">): string {
  return busy_until === null ? "" : ` and asked again at ${busy_until}`;
}

type Whole = Awaited<ReturnType<typeof wholeStatus>>;

function standingOf(status: Whole, project: string | undefined): Omit<Standing, "daemon"> {
  const { projects, remotes, held, conflicts } = status;
  const units = [...projects, ...remotes.map(({ own }) => own)];
  const waiting = units.reduce((sum, each) => sum + each.waiting, 0);
  const remote = projects.find(({ id }) => id === project)?.remote;
  const { service } = remotes.find(({ name }) => name === remote) ?? status;
  const { name, state, busy_until } = service;
  return { waiting, held: held.length, conflicts, service: { name, state, busy_until } };
}
