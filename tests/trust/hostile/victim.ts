import { createHash } from "node:crypto";
import type { Selectable } from "kysely";
import { type PastValue, unpackRevisions } from "../../../shared/replica/history/revision-pack.ts";
import type { ReplicaTables } from "../../../shared/replica/log/tables.ts";
import { pick } from "../../support/random.ts";
import { type RunningServer, ServerFolder } from "../../support/server-process.ts";
import { OWN_PROJECT, TARGET } from "./requests.ts";
import { type StoredTables, tablesOfFile, tablesOfPostgres } from "./stored-tables.ts";

/** Stands in everything that the attacked account holds. */
export const SECRET = "OF-ANOTHER-ACCOUNT";

const TABLES = [
  "documents",
  "updates",
  "snapshots",
  "epochs",
  "texts",
  "memories",
  "metadata",
  "sessions",
  "connections",
  "current_projects",
  "kept_answers",
  "accounts",
  "users",
] as const;

type Revision = Selectable<ReplicaTables["revisions"]>;
type Pack = Selectable<ReplicaTables["revision_packs"]>;

/** Who sends a request: with which header, and whether that is a good token of the attacker's. */
export interface Sender {
  readonly authorization: string;
  readonly known: boolean;
}

/** A hosted server, with an account that holds secrets and one that attacks it. */
export class Victim implements AsyncDisposable {
  private constructor(
    readonly folder: ServerFolder,
    private running: RunningServer,
    private readonly tokens: { readonly attacker: string; readonly bad: readonly string[] },
    private readonly tables: StoredTables,
  ) {}

  static async start(): Promise<Victim> {
    const folder = await ServerFolder.create();
    const owner = await folder.token("owner");
    const attacker = await folder.token("attacker");
    const reader = ["--account", "attacker", "--scope", "read"];
    const readonly = await folder.memsync("server", "token", "create", ...reader);
    const running = await folder.server();
    await fill(running.url, owner, TARGET, SECRET);
    await fill(running.url, attacker, OWN_PROJECT, "my own");
    const { address } = folder;
    const tables =
      address === undefined ? tablesOfFile(folder.database) : tablesOfPostgres(address);
    const bad = ["", "Bearer", `Basic ${owner}`, `bearer${owner}`, `Bearer ${owner.slice(0, -1)}`];
    const stolen = [`${owner}x`, swapped(owner), "mst_dev_pro", `mst_${"0".repeat(36)}`, "\u00e9"];
    return new Victim(
      folder,
      running,
      {
        attacker: `Bearer ${attacker}`,
        bad: [...bad, ...stolen.map((token) => `Bearer ${token}`), `Bearer ${readonly} ${owner}`],
      },
      tables,
    );
  }

  get server(): RunningServer {
    return this.running;
  }

  /** Whoever has a good token for an account of their own. */
  get attacker(): Sender {
    return { authorization: this.tokens.attacker, known: true };
  }

  /** Whoever has none. */
  stranger(random: () => number): Sender {
    return { authorization: pick(random, this.tokens.bad), known: false };
  }

  /**
   * Anything that is stored, but for when tokens were last used and what was counted: syncs are, a
   * second later.
   */
  async stored(): Promise<string> {
    const hash = createHash("sha256");
    for (const table of TABLES) {
      const rows = await this.tables.rows(`select * from ${table}`);
      for (const row of rows.map((each) => JSON.stringify(each, withoutCounts)).sort()) {
        hash.update(row);
      }
    }
    for (const revision of await this.#history()) hash.update(revision);
    return hash.digest("hex");
  }

  /** All that was written over; the server files it later, and packs it when it is a while old. */
  async #history(): Promise<string[]> {
    const loose = await this.tables.rows<Revision>(this.tables.looseRevisions);
    const packs = await this.tables.rows<Pack>("select * from revision_packs");
    const packed = packs.flatMap(({ document_id, kind, key, ...pack }) =>
      unpackRevisions(pack).map((each) => JSON.stringify([document_id, kind, key, each])),
    );
    return loose
      .map(({ document_id, kind, key, value, machine, ...times }) => {
        const { written_at: writtenAt, replaced_at: replacedAt } = times;
        const each: PastValue = { value, writtenAt, replacedAt, machine: machine ?? undefined };
        return JSON.stringify([document_id, kind, key, each]);
      })
      .concat(packed)
      .sort();
  }

  /** What changes with each change of what is stored, or of what is there, and is cheap to read. */
  async mark(): Promise<{ readonly stored: string; readonly made: string }> {
    const read = async (figures: readonly string[]) => {
      const columns = figures.map((figure, at) => `(${figure}) as figure_${at}`);
      return JSON.stringify(await this.tables.rows(`select ${columns.join(", ")}`));
    };
    return { stored: await read(COUNTED), made: await read(MADE) };
  }

  /** Everything of the attacked account. */
  async secrets(): Promise<string> {
    const sql = `
      select name, seq, memories.key, value, updated_at_of from (
        select id, name, seq, documents.updated_at as updated_at_of from documents
        where owner = (select id from accounts where name = 'owner')
      ) as owned left join memories on memories.document_id = id order by name, key`;
    return JSON.stringify(await this.tables.rows(sql));
  }

  async restart(): Promise<void> {
    const { port } = this.running;
    await this.running.process.end("SIGKILL");
    this.running = await this.folder.server("--port", `${port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tables.close();
    await this.folder[Symbol.asyncDispose]();
  }
}

const COUNTED = [
  "select count(*) from documents where seq > 0",
  "select sum(seq) from documents",
  "select sum(updated_at) from documents where seq > 0",
  // When a project was last synced is left out: an exchange is one even if its update is refused.
  "select count(*) from memories",
  "select count(*) from sessions",
  "select sum(last_activity_at) from sessions",
  "select count(*) from connections",
  "select count(*) from kept_answers",
];

const MADE = ["select count(*) from documents", "select sum(updated_at) from documents"];

function withoutCounts(column: string, value: unknown): unknown {
  if (column === "last_synced_at" || column === "sync_count") return undefined;
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

/** The same letters, so that it looks like one. */
function swapped(token: string): string {
  return token.replace(/(..)$/, ([one = "", other = ""]) => `${other}${one}x`);
}

async function fill(url: string, token: string, project: string, mark: string): Promise<void> {
  const post = async (path: string, body: unknown) => {
    const headers = { Authorization: `Bearer ${token}` };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  await post("/api/projects", { id: project, name: mark });
  await post(`/api/projects/${project}/sync`, {
    memories: [{ key: "secret", value: mark }],
    claude_md_content: `# ${mark}\n`,
    metadata: { mark },
  });
  await post("/v1/memories", { content: mark, key: "secret", layer: "user" });
  await post("/v1/memories", { content: mark, key: "secret", layer: "global" });
}
