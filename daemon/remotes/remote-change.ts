import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import type { WriteContext } from "../../shared/replica/write-context.ts";
import { LOCAL_USER } from "../local-account.ts";
import { listLinks } from "../links.ts";
import type { DaemonTables } from "../tables.ts";
import { EMBEDDED, type Remote, type RemoteEnvironment, type TokenPlace } from "./remote.ts";
import {
  addRemote,
  type BookOptions,
  copyOwn,
  moveProject,
  openLogin,
  removeRemote,
} from "./remote-book.ts";
import { listBindings, listRemotes, setTokenPlace } from "./remote-store.ts";
import { getRemote, readRemotes } from "./remote-view.ts";

/** A change of the remotes, as a command asks for it. Each is made whole or not at all. */
export type RemoteChange =
  | { readonly op: "add"; readonly name: string; readonly url: string }
  | {
      readonly op: "login";
      readonly name?: string | undefined;
      readonly url?: string | undefined;
      readonly makeDefault?: boolean | undefined;
    }
  /** Its token is in another place now, or is another; null: nowhere. */
  | { readonly op: "token"; readonly name: string; readonly place: TokenPlace | null }
  /** Changes nothing; names the remote. */
  | { readonly op: "find"; readonly name: string }
  | { readonly op: "remove"; readonly name: string }
  /** Binds a project to another remote. */
  | { readonly op: "move"; readonly project: string; readonly to: string }
  /** Copies user and global memories. */
  | { readonly op: "own"; readonly from: string; readonly to: string };

/** What a change came to. */
export interface ChangedRemote {
  readonly remote: Remote;
  readonly becameDefault?: boolean;
}

/** Makes one change; durable with its transaction's commit. */
export async function changeRemote(
  context: WriteContext<DaemonTables>,
  options: BookOptions,
  change: RemoteChange,
): Promise<ChangedRemote> {
  const { db } = context;
  const named = async (name: string) => getRemote(await listRemotes(db), name);
  switch (change.op) {
    case "add":
      return { remote: await addRemote(context, options, change.name, change.url) };
    case "login":
      return await openLogin(context, options, change);
    case "token": {
      const remote = await named(change.name);
      await setTokenPlace(db, remote.name, change.place ?? undefined);
      return { remote };
    }
    case "find":
      return { remote: await named(change.name) };
    case "remove": {
      const remote = await named(change.name);
      await removeRemote(context, remote.name);
      return { remote };
    }
    case "move": {
      const remote = await named(change.to);
      await moveProject(context, projectIn(change.project), remote.account);
      return { remote };
    }
    case "own": {
      const remote = await named(change.to);
      await copyOwn(context, (await named(change.from)).account, remote.account);
      return { remote };
    }
  }
}

function projectIn(text: string): ProjectId {
  const id = parseProjectId(text);
  if (id !== undefined) return id;
  throw new AppError("invalid_request", "a project id is proj_ and 1 to 64 of [0-9A-Za-z_-]");
}

/** A remote as `remote list` shows it; its token is in no field. */
export interface ListedRemote {
  readonly name: string;
  readonly url: string | null;
  readonly default: boolean;
  /** Where its token is. */
  readonly token: TokenPlace | "environment" | null;
  /** A login has put a token somewhere, even if the environment's is used. */
  readonly logged_in: boolean;
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  /** How many user and global memories it has here. */
  readonly own_memories: number;
}

/** Every remote of the home, the embedded service among them. */
export async function describeRemotes(
  db: Kysely<DaemonTables>,
  environment: RemoteEnvironment,
): Promise<ListedRemote[]> {
  const view = await readRemotes(db, environment);
  const names = new Map((await listLinks(db)).map((link) => [link.projectId, link.name]));
  const bindings = [...(await listBindings(db))];
  const listed: ListedRemote[] = [];
  for (const remote of view.remotes) {
    const isDefault = remote === view.default;
    const fromEnvironment = isDefault && remote.url !== undefined && environment.token;
    const bound = bindings.filter(([, account]) => account === remote.account);
    listed.push({
      name: remote.name,
      url: remote.url ?? null,
      default: isDefault,
      token: fromEnvironment ? "environment" : (remote.tokenPlace ?? null),
      logged_in: remote.tokenPlace !== undefined,
      projects: bound.map(([id]) => ({ id, name: names.get(id) ?? id })),
      own_memories: await countOwn(db, remote.account),
    });
  }
  if (listed.some(({ name }) => name === EMBEDDED)) return listed;
  const embedded = { name: EMBEDDED, url: null, default: false, token: null };
  return [{ ...embedded, logged_in: false, projects: [], own_memories: 0 }, ...listed];
}

async function countOwn(db: Kysely<DaemonTables>, account: string): Promise<number> {
  const { count } = await db
    .selectFrom("memories")
    .innerJoin("documents", "documents.id", "memories.document_id")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("documents.owner", "=", account)
    .where("documents.name", "in", [`user/${LOCAL_USER}`, "global"])
    .executeTakeFirstOrThrow();
  return Number(count);
}
