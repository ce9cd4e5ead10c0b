import { readFileSync } from "node:fs";
import { homeOf } from "../../daemon/home/home.ts";
import { call } from "./emulator.ts";
import { type Program, type Programs, within } from "./programs.ts";

const SYNC_WAIT_SECONDS = 60;

/** How long a row waits for one thing to become visible. */
const VISIBLE_DEADLINE_MS = 30_000;

export interface Address {
  readonly url: string;
  readonly token: string;
}

/** One developer's machine: a daemon that runs as a process of its own, with its gateway. */
export interface Machine extends Program {
  readonly gateway: Address;
  /** Follows a folder as this project, writing into it what others change. */
  link(dir: string, id: string): Promise<void>;
  /** Resolves when the service has acknowledged everything. */
  sync(): Promise<void>;
  /** Resolves to the first `look` that gives something: at once, or after one of its commits. */
  until<Value>(look: () => Promise<Value | undefined>, what: string): Promise<Value>;
}

/** Starts a daemon in a home of its own; `dir` is the folder that `up` follows. */
export async function startMachine(
  programs: Programs,
  home: string,
  dir: string,
  service: Address,
  projects: readonly string[],
): Promise<Machine> {
  const program = await programs.start("memsync", ["up", dir], {
    MEMSYNC_HOME: home,
    MEMSYNC_URL: service.url,
    MEMSYNC_TOKEN: service.token,
  });
  const { socket, gateway: file } = homeOf({ MEMSYNC_HOME: home });
  const gateway = JSON.parse(readFileSync(file, "utf8")) as Address;
  const commits = await hearCommits(gateway, projects);
  const control = async <Body>(name: string, body: unknown) => {
    const request = { unix: socket, method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`http://localhost/_memsync/${name}`, request);
    if (!response.ok) throw new Error(`${name} answered ${response.status}`);
    return (await response.json()) as Body;
  };
  return {
    ...program,
    gateway,
    link: async (folder, id) => void (await control("link", { dir: folder, id, write: true })),
    async sync() {
      const body = { wait_seconds: SYNC_WAIT_SECONDS };
      const { synced, status } = await control<{ synced: boolean; status: unknown }>("sync", body);
      if (!synced) throw new Error(`a machine did not sync: ${JSON.stringify(status)}`);
    },
    until: (look, what) => within(VISIBLE_DEADLINE_MS, commits.until(look), what),
  };
}

/** Looks again whenever the gateway announces a commit. */
interface Commits {
  until<Value>(look: () => Promise<Value | undefined>): Promise<Value>;
}

async function hearCommits({ url, token }: Address, projects: readonly string[]): Promise<Commits> {
  let waiting: (() => void)[] = [];
  let heard = 0;
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/live`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error("a gateway has no live socket")));
  });
  socket.addEventListener("message", () => {
    heard += 1;
    const released = waiting;
    waiting = [];
    for (const release of released) release();
  });
  socket.send(JSON.stringify({ type: "subscribe", project_ids: projects }));
  return {
    async until(look) {
      for (;;) {
        const before = heard;
        const found = await look();
        if (found !== undefined) return found;
        if (heard === before) await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

/** Writes a memory through a machine's gateway. */
export async function saveMemory(
  { gateway }: Machine,
  project: string,
  key: string,
  content: string,
): Promise<void> {
  await call(gateway, "POST", "/v1/memories", { project_id: project, key, content });
}

/** The description document that a machine's gateway shows. */
export async function readText({ gateway }: Machine, project: string): Promise<string> {
  const path = `/v1/projects/${project}`;
  const { claude_md_content } = await call<{ claude_md_content: string }>(gateway, "GET", path);
  return claude_md_content;
}
