import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Kysely } from "kysely";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { Remote } from "../../daemon/home/remote.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import {
  getRemote,
  readRemotes,
  remotesOfNewHome,
  shownDefault,
} from "../../daemon/remotes/remote-view.ts";
import type { AccountId } from "../../shared/ids.ts";
import { passGate } from "../../shared/sqlite/lock.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { openLocal } from "../local/open-local.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import type { Environment } from "./environment.ts";
import { findMeantProject, LostFolder } from "./find-project.ts";
import { LAYER_ORDER, ownDocument, parseLayerOption } from "./layer-option.ts";
import { remoteEnvironment } from "./remote-environment.ts";

/** The options that choose which memories a command is about. */
export interface PlaceOptions {
  readonly layer?: string;
  readonly project?: string;
  readonly remote?: string;
}

/** Where a memory is: its layer and its local document. */
export interface MemoryPlace {
  readonly layer: Layer;
  /** A project's id, `user/<user id>` or `global`. */
  readonly document: string;
  /** The account that the document is bound to. */
  readonly account: AccountId;
  /** The name of the remote; undefined while remotes have no names. */
  readonly remote: string | undefined;
}

/** Adds `--layer`, `--project` and `--remote`. */
export function withPlace(command: Command): Command {
  return command
    .option("--layer <layer>", "project, user (you alone) or global (everybody in the account)")
    .option("--project <dir|id|name>", "another project than the current folder's")
    .option("--remote <name>", "user and global memories of this remote, not the project's");
}

/** Adds `--yes` to a command that may write what others see. */
export function withAgreement(command: Command): Command {
  return command.option("--yes", "do not ask whether everybody in the account is to see it");
}

/** The same of a command that may replace the user's own instructions as well. */
export function withAgreements(command: Command): Command {
  return command.option("--yes", "ask neither who is to see it nor about your own instructions");
}

/**
 * The place that a write goes to: the project, unless a layer is named.
 *
 * ```
 * await targetOf(env, db, { layer: "global" }); // its `document` is "global"
 * ```
 */
export async function targetOf(
  env: Environment,
  db: Kysely<DaemonTables> | undefined,
  options: PlaceOptions,
): Promise<MemoryPlace> {
  const layer = options.layer === undefined ? "project" : parseLayerOption(options.layer);
  if (layer === "project") {
    if (options.remote !== undefined) {
      throw new UsageError("--remote goes with --layer user or global: a project has its own");
    }
    const document = await findMeantProject(db, options.project, env);
    const account = (db && (await findBinding(db, document))) ?? LOCAL_ACCOUNT;
    return { layer, document, account, remote: undefined };
  }
  return { layer, document: ownDocument(layer), ...(await ownPlace(env, db, options)) };
}

/** The places that a read searches, in order. */
export interface ReadPlaces {
  readonly places: readonly MemoryPlace[];
  /** Why no project is among them although none was named: to be said if nothing is found. */
  readonly unlinked: CommandFailed | undefined;
}

/** Outside of all projects, only the user's and the account's memories. */
export async function placesToRead(
  env: Environment,
  db: Kysely<DaemonTables> | undefined,
  options: PlaceOptions,
): Promise<ReadPlaces> {
  const all = options.remote === undefined ? LAYER_ORDER : LAYER_ORDER.slice(1);
  const wanted = options.layer === undefined ? all : [parseLayerOption(options.layer)];
  const isNamed = options.layer !== undefined || options.project !== undefined;
  const places: MemoryPlace[] = [];
  let unlinked: CommandFailed | undefined;
  for (const layer of wanted) {
    try {
      places.push(await targetOf(env, db, { ...options, layer }));
    } catch (thrown) {
      if (isNamed || layer !== "project" || !(thrown instanceof CommandFailed)) throw thrown;
      // The project might have a value in place of the one in `user` or `global`, so these alone
      // would mislead.
      if (thrown instanceof LostFolder) throw thrown;
      unlinked = thrown;
    }
  }
  return { places, unlinked };
}

/**
 * The account of user and global memories: that of the named remote, the project or the default.
 */
async function ownPlace(
  env: Environment,
  db: Kysely<DaemonTables> | undefined,
  options: PlaceOptions,
): Promise<Pick<MemoryPlace, "account" | "remote">> {
  const environment = remoteEnvironment(env);
  const view = db ? await readRemotes(db, environment) : remotesOfNewHome(environment);
  const named = options.remote === undefined ? undefined : getRemote(view.remotes, options.remote);
  if (!db || view.follows) return { account: LOCAL_ACCOUNT, remote: undefined };
  if (named) return ownOf(named);
  const project = await projectMeant(env, db, options);
  const bound = project && (await findBinding(db, project));
  return ownOf(view.remotes.find(({ account }) => account === bound) ?? shownDefault(view));
}

function ownOf({ account, name }: Remote): Pick<MemoryPlace, "account" | "remote"> {
  return { account, remote: name };
}

/** Undefined outside of all projects. */
async function projectMeant(env: Environment, db: Kysely<DaemonTables>, { project }: PlaceOptions) {
  try {
    return await findMeantProject(db, project, env);
  } catch (thrown) {
    if (project !== undefined || !(thrown instanceof CommandFailed)) throw thrown;
    return undefined;
  }
}

/** Runs `work` on the home's replica, opened for reading; undefined where there is none yet. */
export async function withLocal<Result>(
  env: Environment,
  work: (db: Kysely<DaemonTables> | undefined) => Promise<Result>,
): Promise<Result> {
  const { home } = env;
  // A home that can't be written can be read, too: nobody replaces its files then.
  const gate = existsSync(home.database) ? passGate(home.gate, "shared") : undefined;
  const passed = await gate?.catch(() => undefined);
  try {
    const db = await openLocal(home);
    try {
      return await work(db);
    } finally {
      await db?.destroy();
    }
  } finally {
    passed?.release();
  }
}
