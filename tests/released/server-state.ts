import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { TokenAuthenticator } from "../../server/accounts/token-authenticator.ts";
import { createApp } from "../../server/app/app.ts";
import { RequestLimits } from "../../server/limits/request-limits.ts";
import { createServices } from "../../server/services/create-services.ts";
import { hostAccounts } from "../../server/services/host-accounts.ts";
import { serviceStoreOf } from "../../server/services/service-store.ts";
import { openHostStore } from "../../server/stores/open-store.ts";
import { silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { createTestWorld } from "../support/test-world.ts";

/** What the interface answers of everything in a server's database. */
export interface ServerState {
  /** Tokens of the users that are in it. */
  readonly tokens: readonly string[];
  /** Answers by token and path. */
  readonly answers: Readonly<Record<string, unknown>>;
}

interface OpenServer {
  send(token: string, method: string, path: string, body?: unknown): Promise<unknown>;
  createToken(account: string, user: string): Promise<string>;
  close(): Promise<void>;
}

async function openServer(path: string, world: World): Promise<OpenServer> {
  const host = await openHostStore(path, world);
  const tokens = new TokenAuthenticator(host.database, world, silentLog);
  const admin = new HostAdmin(host.database, world);
  const store = serviceStoreOf(host.store);
  const app = createApp({
    services: createServices(store, world, {
      usage: new RequestLimits(world, undefined),
      account: hostAccounts(host.database.reader),
    }),
    authenticate: (header) => tokens.authenticate(header),
    world,
    log: silentLog,
  });
  return {
    async send(token, method, at, body) {
      const headers = { Authorization: `Bearer ${token}` };
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await app.fetch(new Request(`http://localhost${at}`, init));
      if (response.status !== 200) throw new Error(`${method} ${at}: ${await response.text()}`);
      return await response.json();
    },
    async createToken(account, user) {
      const request = { account, user, name: "released", scope: "write" } as const;
      return (await admin.createToken({ ...request, projects: null, expiresAt: null })).token;
    },
    async close() {
      await tokens.settled();
      await host.close();
    },
  };
}

/** Fills an empty database with something of everything, a compacted log among it. */
export async function fillServer(path: string): Promise<readonly string[]> {
  const world = createTestWorld("released");
  const host = await openHostStore(path, world);
  const admin = new HostAdmin(host.database, world);
  await admin.createAccount("one", "team");
  await admin.createAccount("two", "pro");
  await host.close();
  const server = await openServer(path, world);
  const ann = await server.createToken("one", "ann");
  const bob = await server.createToken("one", "bob");
  const eve = await server.createToken("two", "eve");
  const post = (token: string, at: string, body: unknown) => {
    world.advance(1000);
    return server.send(token, "POST", at, body);
  };
  for (const [token, name] of [
    [ann, "shared"],
    [ann, "second"],
    [eve, "shared"],
  ] as const) {
    await post(token, "/api/projects", {
      id: `proj_${name}`,
      name: `Project ${name}`,
      claude_md_content: `# ${name}\r\n\r\nIt's "quoted".\r\n`,
      metadata: { language: "TypeScript", deep: { list: [1, null, "ä"] } },
    });
  }
  await post(ann, "/api/projects/connect", {
    project_id: "proj_shared",
    target_project_id: "proj_second",
  });
  await post(ann, "/api/projects/proj_shared/sync", {
    claude_md_content: "# shared\n\nChanged.\n",
    memories: [
      { key: "style", value: "use tabs\nand more" },
      { key: "__proto__", value: "" },
    ],
    sessions: [
      { id: "sess_1", title: "A 'title'", source: "test", started_at: "2026-01-01T00:00:00.000Z" },
    ].map((session) => ({ ...session, last_activity_at: session.started_at, message_count: 3 })),
  });
  for (const token of [ann, bob, eve]) {
    await post(token, "/v1/memories", { content: "mine", key: "own", layer: "user" });
    await post(token, "/v1/memories", { content: "everybody's 😀", layer: "global" });
  }
  for (let at = 0; at < COUNTED; at++) {
    await post(bob, "/v1/memories", { content: `${at}`, key: "counter", layer: "user" });
  }
  await server.close();
  return [ann, bob, eve];
}

/** More writes of one document than its log keeps without a snapshot. */
const COUNTED = 260;

/** Reads all that the interface shows of a server's database. */
export async function readServer(path: string, tokens: readonly string[]): Promise<ServerState> {
  const server = await openServer(path, createTestWorld("reader"));
  const answers: Record<string, unknown> = {};
  const read = async (token: string, at: string) => {
    const answer = await server.send(token, "GET", at);
    answers[`${tokens.indexOf(token)} ${at}`] = answer;
    return answer as { projects: readonly { id: string }[] };
  };
  for (const token of tokens) {
    const { projects } = await read(token, "/api/projects");
    for (const at of ["/v1/memories", "/v1/sessions", "/v1/memories?q=mine"]) await read(token, at);
    for (const { id } of projects) {
      await read(token, `/v1/projects/${id}`);
      await read(token, `/api/projects/${id}`);
      await read(token, `/v1/memories?project_id=${id}&layer=project`);
    }
  }
  await server.close();
  return { tokens, answers };
}
