import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { type AccountId, type ProjectId, parseProjectId } from "../../shared/ids.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../home/local-account.ts";
import { findProjectName } from "../home/project-name.ts";
import { EMBEDDED, type Remote, type RemoteEnvironment, type TokenPlace } from "../home/remote.ts";
import { listBindings, listRemotes, setTokenPlace } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { applyInbox } from "../inbox/drain-inbox.ts";
import { readLocalMemories } from "../reading/local-memories.ts";
import { leaveFormer } from "./leave-former.ts";
import { type MovedMemories, moveMemories, type SharedLayer } from "./move-memories.ts";
import { PrivateThere } from "./private-parts.ts";
import {
  addRemote,
  type BookOptions,
  type LoginTarget,
  moveProject,
  openLogin,
  removeRemote,
} from "./remote-book.ts";
import { getRemote, readRemotes } from "./remote-view.ts";

/** A change of the remotes that a command asks for. Each is made completely or not at all. */
export type RemoteChange =
  | { readonly op: "add"; readonly name: string; readonly url: string }
  | ({ readonly op: "login" } & LoginTarget)
  /** The token was stored elsewhere or replaced; null: removed. */
  | { readonly op: "token"; readonly name: string; readonly place: TokenPlace | null }
  /** Changes nothing; names the remote. */
  | { readonly op: "find"; readonly name: string }
  | ({ readonly op: "remove"; readonly name: string; readonly isGone?: boolean } & MayBeOfAnother)
  /** Binds a project to another remote. */
  | ({ readonly op: "move"; readonly project: string; readonly to: string } & MayBeOfAnother)
  /** Moves the memories of a layer that belongs to no project. */
  | ({
      readonly op: "memories";
      readonly layer: SharedLayer;
      readonly from: string;
      readonly to: string;
    } & MayBeOfAnother);

/** What is moved may come to another owner: a person has agreed who was told whose both are. */
interface MayBeOfAnother {
  readonly ofAnother?: boolean | undefined;
}

/** The result of a change. */
export interface ChangedRemote {
  readonly remote: Remote;
  readonly becameDefault?: boolean;
  /** The result of moving memories. */
  readonly memories?: MovedMemories;
  /** Why a project was not moved: it has what must not come to another service. */
  readonly stays?: string;
  /** How many memories of `user` and `global` a removed remote had here. */
  readonly own?: number;
  /** What was synced with it by `MEMSYNC_URL` stays in the embedded service. */
  readonly isLeft?: boolean;
}

/** Makes one change. Durable with its transaction's commit. */
export async function changeRemote(
  context: WriteContext<DaemonTables>,
  options: BookOptions,
  change: RemoteChange,
): Promise<ChangedRemote> {
  const { db } = context;
  const named = async (name: string) => getRemote(await listRemotes(db), name);
  switch (change.op) {
    case "add":
      return { remote: await addRemote(context, options, { name: change.name, url: change.url }) };
    case "login":
      await applyWaiting(context, options);
      return await openLogin(context, options, change);
    case "token": {
      const remote = await named(change.name);
      await setTokenPlace(db, remote.name, change.place ?? undefined);
      return { remote };
    }
    case "find":
      return { remote: await named(change.name) };
    case "remove": {
      const left = await leaveFormer(context, options.environment, change.name);
      if (left) return { remote: left, isLeft: true };
      const remote = await named(change.name);
      if (change.isGone) await applyWaiting(context, options);
      return { remote, own: await removeRemote(context, remote.name, change) };
    }
    case "move": {
      const remote = await named(change.to);
      const project = projectIn(change.project);
      try {
        await moveProject(context, project, { to: remote.account, ofAnother: change.ofAnother });
      } catch (thrown) {
        if (thrown instanceof PrivateThere) return { remote, stays: thrown.message };
        throw thrown;
      }
      return { remote };
    }
    case "memories": {
      await applyWaiting(context, options);
      const { layer, ofAnother } = change;
      const [from, remote] = [await named(change.from), await named(change.to)];
      const memories = await moveMemories(context, layer, {
        from: from.account,
        to: remote.account,
        ofAnother,
      });
      return { remote, memories };
    }
  }
}

/**
 * Writes of the inbox are applied before anything is moved or another remote becomes the default,
 * so that they go where their author meant them to.
 */
async function applyWaiting(
  context: WriteContext<DaemonTables>,
  { environment }: BookOptions,
): Promise<void> {
  const view = await readRemotes(context.db, environment);
  await applyInbox(context, view.default?.account ?? LOCAL_ACCOUNT);
}

function projectIn(text: string): ProjectId {
  const id = parseProjectId(text);
  if (id !== undefined) return id;
  throw new AppError("invalid_request", "a project id is proj_ and 1 to 64 of [0-9A-Za-z_-]");
}

/** A remote as `remote list` shows it, without its token. */
export interface ListedRemote {
  readonly name: string;
  readonly url: string | null;
  readonly default: boolean;
  /** Where its token is. */
  readonly token: TokenPlace | "environment" | null;
  /** A login has stored a token, even if the environment's is used. */
  readonly logged_in: boolean;
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  /** How many memories of the shared layers it has here. */
  readonly memories: Readonly<Record<SharedLayer, number>>;
}

/** All remotes of the home, the embedded service included. */
export async function describeRemotes(
  db: Kysely<DaemonTables>,
  environment: RemoteEnvironment,
): Promise<ListedRemote[]> {
  const view = await readRemotes(db, environment);
  const bindings = [...(await listBindings(db))];
  const listed: ListedRemote[] = [];
  for (const remote of view.remotes) {
    const isDefault = remote === view.default;
    const fromEnvironment = isDefault && remote.url !== undefined && environment.token;
    const projects: { id: string; name: string }[] = [];
    for (const [id, account] of bindings) {
      if (account !== remote.account) continue;
      projects.push({ id, name: (await findProjectName(db, id)) ?? id });
    }
    listed.push({
      name: remote.name,
      url: remote.url ?? null,
      default: isDefault,
      token: fromEnvironment ? "environment" : (remote.tokenPlace ?? null),
      logged_in: remote.tokenPlace !== undefined,
      projects,
      memories: {
        user: await countShown(db, remote.account, `user/${LOCAL_USER}`),
        global: await countShown(db, remote.account, "global"),
      },
    });
  }
  if (listed.some(({ name }) => name === EMBEDDED)) return listed;
  const embedded = { name: EMBEDDED, url: null, default: false, token: null };
  return [
    { ...embedded, logged_in: false, projects: [], memories: { user: 0, global: 0 } },
    ...listed,
  ];
}

/** As a reader sees them: with held writes and the inbox. */
async function countShown(db: Kysely<DaemonTables>, account: AccountId, document: string) {
  return (await readLocalMemories(db, document, account)).length;
}
