import { mintToken } from "../../server/accounts/token.ts";
import { memoryIdOf } from "../../shared/ids.ts";
import { realWorld } from "../../shared/world-real.ts";
import { type HostServer, startHost } from "./host-server.ts";
import { projectId } from "./project-id.ts";

/** Who may ask at all: whose token, and what it may do. All but `stranger` are of one account. */
export const GOOD = ["reading", "elsewhere", "stranger", "colleague", "right"] as const;
export type Good = (typeof GOOD)[number];

/** Stands in all that each of them wrote, and in nothing else. */
export const MARK = {
  main: "MARKED-MAIN",
  elsewhere: "MARKED-ELSEWHERE",
  ann: "MARKED-ANN",
  bob: "MARKED-BOB",
  account: "MARKED-ACCOUNT",
  stranger: "MARKED-STRANGER",
} as const;

/** What of all this the answers to each of them may hold. */
export const VISIBLE: Readonly<Record<Good, readonly string[]>> = {
  reading: [MARK.main, MARK.elsewhere, MARK.ann, MARK.account],
  elsewhere: [MARK.elsewhere],
  stranger: [MARK.stranger],
  colleague: [MARK.main, MARK.elsewhere, MARK.bob, MARK.account],
  right: [MARK.main, MARK.elsewhere, MARK.ann, MARK.account],
};

/** Ids in the account that neither a stranger nor a token bound elsewhere ever learns. */
export const HIDDEN_IDS = ["proj_main", "sess_main"];

export const MEMORY_IDS = {
  main: memoryIdOf("proj_main", "to-delete"),
  user: memoryIdOf("user", "to-delete"),
  account: memoryIdOf("global", "to-delete"),
};

/** Two accounts of a hosted server that know nothing of each other. */
export interface TwoAccounts extends AsyncDisposable {
  readonly host: HostServer;
  /** `Authorization` headers that are good. */
  readonly good: Readonly<Record<Good, string>>;
  /** Those that are not, by what is wrong with them. */
  readonly bad: Readonly<Record<string, string>>;
  /** Puts back what a test may delete. */
  restore(): Promise<void>;
  /** All that there is in the account, as its users see it. */
  state(): Promise<string>;
}

export async function startTwoAccounts(): Promise<TwoAccounts> {
  const host = await startHost();
  await host.admin.createAccount("acme", "team");
  await host.admin.createAccount("rival", "pro");
  const bearer = async (request: Parameters<HostServer["token"]>[0]) =>
    `Bearer ${(await host.token({ account: "acme", ...request })).token}`;
  const good = {
    reading: await bearer({ scope: "read" }),
    elsewhere: await bearer({ projects: [projectId("elsewhere")] }),
    stranger: await bearer({ account: "rival" }),
    colleague: await bearer({ user: "bob" }),
    right: await bearer({}),
  };
  const revoked = await host.token({ account: "acme" });
  await host.admin.revokeToken(revoked.id);
  const bad = {
    "no token": "",
    "another scheme": good.right.replace("Bearer", "Basic"),
    garbage: "Bearer garbage",
    "a wrong checksum": good.right.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    "a token never minted": `Bearer ${mintToken(realWorld)}`,
    "a token of the emulator": "Bearer mst_dev_pro",
    "an expired token": await bearer({ expiresAt: host.now() }),
    "a revoked token": `Bearer ${revoked.token}`,
  };
  const accounts: TwoAccounts = {
    host,
    good,
    bad,
    restore: () => fill(host, good),
    state: () => stateOf(host, good),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
  await accounts.restore();
  return accounts;
}

async function fill(host: HostServer, good: TwoAccounts["good"]): Promise<void> {
  const { main, elsewhere, ann, bob, account, stranger } = MARK;
  await post(host, good.right, "/v1/projects/proj_shared/sync", PLAIN);
  await post(host, good.right, "/api/projects", { id: "proj_main", name: main });
  await post(host, good.right, "/v1/projects/proj_main/sync", syncOf(main, "sess_main"));
  await post(host, good.right, "/v1/projects/proj_elsewhere/sync", syncOf(elsewhere));
  await post(host, good.right, "/api/projects/connect", CONNECTED);
  await post(host, good.right, "/v1/memories", note("user", ann));
  await post(host, good.colleague, "/v1/memories", { ...note("user", bob), key: "bobs" });
  await post(host, good.right, "/v1/memories", note("global", account));
  await post(host, good.stranger, "/v1/projects/proj_own/sync", syncOf(stranger));
}

/** What stands in `proj_shared`, so that syncing it again writes nothing. */
export const PLAIN = { memories: [{ key: "plain", value: "plain" }] };

const CONNECTED = { project_id: "proj_main", target_project_id: "proj_elsewhere" };

function note(layer: string, mark: string) {
  return { layer, key: "to-delete", content: `a note of ${mark}` };
}

function syncOf(mark: string, session = `sess_${mark}`) {
  return {
    claude_md_content: `# ${mark}\n`,
    metadata: { language: mark },
    memories: [
      { key: "to-delete", value: mark },
      { key: `key of ${mark}`, value: "kept" },
    ],
    sessions: [
      {
        id: session,
        title: `session of ${mark}`,
        source: "test",
        started_at: "2026-01-01T10:00:00Z",
        last_activity_at: "2026-01-01T11:00:00Z",
        message_count: 1,
      },
    ],
  };
}

async function post(
  host: HostServer,
  authorization: string,
  path: string,
  body: unknown,
): Promise<void> {
  const { status, text } = await host.send(authorization, "POST", path, body);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
}

async function stateOf(host: HostServer, good: TwoAccounts["good"]): Promise<string> {
  const paths = ["main", "elsewhere", "shared"].map((name) => `/api/projects/proj_${name}`);
  const texts: string[] = [];
  for (const path of [...paths, "/api/projects", "/v1/memories", "/v1/sessions"]) {
    texts.push((await host.send(good.right, "GET", path)).text);
  }
  texts.push((await host.send(good.colleague, "GET", "/v1/memories")).text);
  return texts.join("\n");
}
