import { AppError } from "../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { deletionOf } from "../../shared/replica/document/project-deletion.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { World } from "../../shared/world.ts";
import { documentsOf } from "../budget/sync-units.ts";
import { readDeletion } from "../home/deleted-project.ts";
import { findFormerService, findOwner } from "../home/former-service.ts";
import { giveHeldTo } from "../home/held-store.ts";
import { listLinks } from "../home/links.ts";
import { LOCAL_ACCOUNT, LOCAL_USER, randomAccount } from "../home/local-account.ts";
import { forgetPositions } from "../home/positions.ts";
import { findProjectName } from "../home/project-name.ts";
import {
  EMBEDDED,
  isSameAddress,
  nameOfUrl,
  parseRemoteName,
  type Remote,
  type RemoteEnvironment,
  serviceNameOf,
} from "../home/remote.ts";
import {
  deleteRemote,
  findBinding,
  insertRemote,
  isOfService,
  listBindings,
  listRemotes,
  setDefaultRemote,
} from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { listUnsent } from "../home/unlinked-projects.ts";
import { forgetPlain } from "../plain/plain-store.ts";
import { moveMemories } from "./move-memories.ts";
import { findAtOther, giveAddress } from "./moved-service.ts";
import { refusalOfOthers, type ToldOwner } from "./others-token.ts";
import { refusePrivate, settlePrivateOver } from "./private-parts.ts";
import { keepOwner, refuseOwners } from "./refuse-owners.ts";
import { getRemote } from "./remote-view.ts";

type Context = WriteContext<DaemonTables>;

/** What changes of remotes need. Each change is one transaction. */
export interface BookOptions {
  readonly world: World;
  readonly environment: RemoteEnvironment;
}

/**
 * The home's remotes; where none has a name yet, those that it gets with the first one. What the
 * home has stays with the service that it was last synced with, also if it was started without an
 * address since; without one, with the service that the environment names. Changes nothing.
 */
export async function plannedRemotes(
  db: Context["db"],
  { world, environment }: BookOptions,
): Promise<Remote[]> {
  const known = await listRemotes(db);
  if (known.length > 0) return known;
  const [synced] = await db.selectFrom("sync_positions").select("service").limit(1).execute();
  const url = (await findFormerService(db)) ?? synced?.service ?? environment.url ?? EMBEDDED;
  const unused = { tokenPlace: undefined, isDefault: false };
  const embedded = { ...unused, name: EMBEDDED, url: undefined };
  if (url === EMBEDDED) return [{ ...embedded, account: LOCAL_ACCOUNT }];
  const name = nameOfUrl(url, [EMBEDDED]);
  return [
    { ...embedded, account: randomAccount(world, EMBEDDED) },
    { ...unused, name, url, account: LOCAL_ACCOUNT },
  ];
}

/**
 * Gives names to remotes: from now on every project is bound to a named one, and nothing follows
 * the environment.
 */
export async function nameRemotes(context: Context, options: BookOptions): Promise<Remote[]> {
  const { db, now } = context;
  const planned = await plannedRemotes(db, options);
  if ((await listRemotes(db)).length > 0) return planned;
  for (const remote of planned) await insertRemote(db, remote, now);
  return await listRemotes(db);
}

/** If remotes have names, the service in `MEMSYNC_URL` gets one, too. */
export async function nameEnvironment(context: Context, options: BookOptions): Promise<void> {
  const { url } = options.environment;
  const remotes = await listRemotes(context.db);
  if (url === undefined || remotes.length === 0) return;
  if (remotes.some((each) => isSameAddress(url, each.url ?? null))) return;
  await insertNew(context, options.world, { name: nameOfUrl(url, namesOf(remotes)), url });
}

/**
 * Adds a remote. Adding the same one again changes nothing. Refuses a name that another address
 * has.
 */
export async function addRemote(
  context: Context,
  options: BookOptions,
  { name, url }: { readonly name: string; readonly url: string },
): Promise<Remote> {
  const remotes = await nameRemotes(context, options);
  const known = remotes.find((each) => each.name === parseRemoteName(name));
  if (known && !isSameAddress(url, known.url ?? null)) {
    const moved =
      known.url === undefined
        ? ""
        : `; if that service is at another address now, ${atAnother(name, url)}`;
    throw new AppError(
      "invalid_request",
      `there is a remote ${name} already: choose another name, or remove it first${moved}`,
    );
  }
  return known ?? (await insertNew(context, options.world, { name, url }));
}

/** How a remote that is known gets another address. */
function atAnother(name: string, url: string): string {
  return `\`memsync login --url ${url} --remote ${name}\` takes there all that is bound to it`;
}

/** The service that somebody logs in to. */
export interface LoginTarget {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  /** Becomes the default even if there is one. */
  readonly makeDefault?: boolean | undefined;
  /** Whose the token is; undefined where the service has not told. */
  readonly told?: ToldOwner | undefined;
  /** The address that the named remote had, where it is another: somebody agreed to leave it. */
  readonly movedFrom?: string | undefined;
}

/**
 * The remote that is meant by a name or an address. Of several at an address it is the one whose
 * owner gives the token. Throws if the token is of somebody else than what the home has of it.
 */
async function findTarget(
  db: Context["db"],
  remotes: readonly Remote[],
  { name, url = "", told }: LoginTarget,
): Promise<Remote | undefined> {
  const meant = remotes.filter((each) => {
    return name === undefined ? isSameAddress(url, each.url ?? null) : each.name === name;
  });
  const refused: string[] = [];
  const open: Remote[] = [];
  for (const remote of meant) {
    const known = await findOwner(db, remote);
    const why = known && told && refusalOfOthers(remote, known, { token: "this token", told });
    if (why !== undefined) refused.push(why);
    else if (known) return remote;
    else open.push(remote);
  }
  const [first] = open;
  if (!first && refused[0] !== undefined) throw new AppError("invalid_request", refused[0]);
  return first;
}

/** The remote that is meant, with the address that is named, or a new one. */
async function findOrAdd(
  context: Context,
  options: BookOptions,
  target: LoginTarget,
): Promise<Remote> {
  const { name, url, movedFrom } = target;
  const remotes = await nameRemotes(context, options);
  const other = findAtOther(remotes, target);
  if (other) {
    const given = { remote: other, url: url ?? other.url, told: target.told };
    return await giveAddress(context, given, movedFrom);
  }
  const known = await findTarget(context.db, remotes, target);
  if (!known && url === undefined) getRemote(remotes, name ?? "");
  if (known && (url === undefined || isSameAddress(url, known.url ?? null))) return known;
  return await addRemote(context, options, {
    name: name ?? nameOfUrl(url ?? "", namesOf(remotes)),
    url: url ?? "",
  });
}

/**
 * Finds or creates the remote of a login. Tells whether it became the default. Throws, so that
 * nothing is changed, if what the home has of that remote is known to be somebody else's.
 */
export async function openLogin(
  context: Context,
  options: BookOptions,
  target: LoginTarget,
): Promise<{ readonly remote: Remote; readonly becameDefault: boolean }> {
  const { makeDefault } = target;
  const remote = await findOrAdd(context, options, target);
  if (remote.url === undefined) {
    throw new AppError("invalid_request", "the embedded service needs no login: name a service");
  }
  const hasDefault = (await listRemotes(context.db)).some((each) => each.isDefault);
  const becameDefault = !remote.isDefault && (makeDefault === true || !hasDefault);
  if (becameDefault) await setDefaultRemote(context.db, remote.name);
  return { remote, becameDefault };
}

/** A refusal names at most this many projects. */
const NAMED_MAX = 3;

interface RemoveOptions {
  readonly isGone?: boolean | undefined;
  /** What the embedded service has may be another owner's. */
  readonly ofAnother?: boolean | undefined;
}

/**
 * Removes a remote. Refuses while something is bound to it or waits for it. `isGone`: its service
 * will never be back, so nothing waits; what this machine has of it goes into the embedded one: the
 * memories of `user` and `global`, and projects that no folder is linked to. Resolves to how many
 * such memories went there, or otherwise stay with the service alone.
 */
export async function removeRemote(
  context: Context,
  name: string,
  { isGone = false, ofAnother }: RemoveOptions = {},
): Promise<number> {
  const { db } = context;
  const remote = getRemote(await listRemotes(db), name);
  if (remote.url === undefined) {
    throw new AppError("invalid_request", "the embedded service can't be removed");
  }
  const bound = [...(await listBindings(db))].flatMap(([project, account]) => {
    return account === remote.account ? [project] : [];
  });
  const deleted = await deletedAmong(db, bound);
  const there = bound.filter((project) => !deleted.includes(project));
  const linked = new Set((await listLinks(db)).map(({ projectId }) => projectId));
  const inUse = there.filter((project) => linked.has(project));
  const serviceOf = () => serviceNameOf(remote);
  if (inUse.length > 0 || (there.length > 0 && !isGone)) {
    const joined = await listUnsent(db, { what: "join", links: [], serviceOf });
    const untold = joined.filter((project) => there.includes(project));
    const why = await whyBound(db, name, { there, inUse, untold });
    const moved = `If it is at another address now, ${atAnother(name, "URL")}`;
    throw new AppError("invalid_request", `${why}. ${moved}`);
  }
  const all = await listUnsent(db, { what: "deletion", links: [], serviceOf });
  const unsent = all.filter((project) => deleted.includes(project));
  const orGone = "or say --gone if its service will never be back";
  const first = `\`memsync sync\` first, ${orGone}`;
  if (unsent.length > 0 && !isGone) {
    throw new AppError(
      "invalid_request",
      `${name} was not told yet of what was deleted (${await namesShown(db, unsent)}): ${first}`,
    );
  }
  const waits = isGone ? undefined : await whatWaits(context, remote.account);
  if (waits) {
    const held = `\`memsync held\` lists them: allow or drop each first, ${orGone}`;
    throw new AppError(
      "invalid_request",
      `user or global memories of ${name} are on this machine only` +
        (waits === "held" ? `, for they are held, and no sync sends them; ${held}` : `: ${first}`),
    );
  }
  const embedded = (await listRemotes(db)).find(({ url }) => url === undefined);
  const to = embedded?.account ?? LOCAL_ACCOUNT;
  const memories = isGone
    ? await saveOwn(context, remote, { to, ofAnother })
    : await countOwn(db, remote.account);
  // What is left of a deleted project says so to whatever comes later, and is nobody's.
  for (const project of bound) {
    await moveProject(context, project, { to, ofAnother: ofAnother || deleted.includes(project) });
  }
  await deleteRemote(db, name);
  return memories;
}

async function countOwn(db: Context["db"], account: AccountId): Promise<number> {
  const row = await db
    .selectFrom("memories")
    .innerJoin("documents", "documents.id", "memories.document_id")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("documents.owner", "=", account)
    .where("documents.name", "in", documentsOf("own", LOCAL_USER))
    .executeTakeFirstOrThrow();
  return row.count;
}

async function whyBound(
  db: Context["db"],
  name: string,
  { there, inUse, untold }: Readonly<Record<"there" | "inUse" | "untold", readonly ProjectId[]>>,
): Promise<string> {
  const bound =
    `${there.length === 1 ? "a project is" : `${there.length} projects are`} bound to ${name} ` +
    `(${await namesShown(db, there)})`;
  if (inUse.length > 0) {
    const which = inUse.length === there.length ? "each" : await namesShown(db, inUse);
    const command = "`memsync link DIR --remote NAME`";
    return `${bound}: bind ${which} to another remote with ${command} first`;
  }
  return (
    `${bound} and linked to no folder here: \`memsync link DIR --id ID --remote NAME\` binds it ` +
    "to another remote, `memsync project rm ID` deletes it everywhere, and --gone keeps it on " +
    "this machine alone if the service will never be back" +
    (untold.length === 0
      ? ""
      : `. It was not told yet where its folder went (${await namesShown(db, untold)}): ` +
        "`memsync sync` first")
  );
}

/**
 * Moves the memories of `user` and `global` to another account, and counts them. Throws where one
 * can't be moved.
 */
async function saveOwn(
  context: Context,
  { name, account }: Remote,
  target: MoveTarget,
): Promise<number> {
  let memories = 0;
  for (const layer of ["user", "global"] as const) {
    const { moved, stayed } = await moveMemories(context, layer, { from: account, ...target });
    memories += moved;
    if (stayed === 0) continue;
    throw new AppError(
      "invalid_request",
      `of the same keys in the layer ${layer} writes are held for ${name} and for the embedded ` +
        "service: `memsync held drop ID` one of each first",
    );
  }
  return memories;
}

async function deletedAmong(
  db: Context["db"],
  projects: readonly ProjectId[],
): Promise<ProjectId[]> {
  const deleted: ProjectId[] = [];
  for (const project of projects) if (await readDeletion(db, project)) deleted.push(project);
  return deleted;
}

async function namesShown(db: Context["db"], projects: readonly ProjectId[]): Promise<string> {
  const names: string[] = [];
  for (const project of projects.slice(0, NAMED_MAX)) {
    names.push((await findProjectName(db, project)) ?? project);
  }
  return `${names.join(", ")}${projects.length > names.length ? ", …" : ""}`;
}

/** What its service does not have of `user` and `global`. `held`: a sync would send nothing. */
async function whatWaits(
  { db }: Context,
  account: AccountId,
): Promise<"unsent" | "held" | undefined> {
  const isHeld = await isAnyIn(db, ["held"], account);
  if (await isAnyIn(db, ["inbox", "salvaged_memories"], account)) return "unsent";
  if ((await isUnsent(db, account)) || (await isOutstanding(db, account))) return "unsent";
  return isHeld ? "held" : undefined;
}

async function isAnyIn(
  db: Context["db"],
  tables: readonly ("held" | "inbox" | "salvaged_memories")[],
  account: AccountId,
): Promise<boolean> {
  for (const table of tables) {
    const row = await db
      .selectFrom(table)
      .select("id")
      .where("account", "=", account)
      .where("document", "in", documentsOf("own", LOCAL_USER))
      .limit(1)
      .executeTakeFirst();
    if (row) return true;
  }
  return false;
}

async function isUnsent(db: Context["db"], account: AccountId): Promise<boolean> {
  const waiting = await db
    .selectFrom("updates")
    .innerJoin("documents", "documents.id", "updates.document_id")
    .leftJoin("sync_positions", "sync_positions.document_id", "documents.id")
    .select("updates.seq")
    .where("documents.owner", "=", account)
    .where("updates.origin", "=", "local")
    .where(({ eb, fn }) =>
      eb("updates.seq", ">", fn.coalesce("sync_positions.acked_seq", eb.lit(0))),
    )
    .limit(1)
    .executeTakeFirst();
  return waiting !== undefined;
}

/** A service without a log acknowledges no rows; the last reading counted what it lacked. */
async function isOutstanding(db: Context["db"], account: AccountId): Promise<boolean> {
  const row = await db
    .selectFrom("plain_documents")
    .innerJoin("documents", "documents.id", "plain_documents.document_id")
    .select("documents.id")
    .where("documents.owner", "=", account)
    .where("plain_documents.outstanding", ">", 0)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The account that something is moved to, and whether what moves may be another owner's. */
type MoveTarget = Omit<Parameters<typeof refuseOwners>[1], "from">;

/**
 * Binds a project to another account, with everything that belongs to it. There it has a first
 * contact. The former service keeps what it has. Throws `PrivateThere`, and changes nothing, if it
 * has what must not come to that account's service; and so it does if it is known to be another
 * owner's than that account. False: the project was bound to that account
 * already, or is not in the home.
 */
export async function moveProject(
  context: Context,
  project: ProjectId,
  { to, ofAnother }: MoveTarget,
): Promise<boolean> {
  const { db } = context;
  const from = await findBinding(db, project);
  if (from === undefined || from === to) return false;
  await refuseOwners(db, { from, to, ofAnother });
  const open = await context.open(projectDocument(from, project));
  if (await isOfService(db, to)) {
    const { name: remote = "NAME" } =
      (await listRemotes(db)).find(({ account }) => account === to) ?? {};
    await refusePrivate(context, open, { project, remote });
    await settlePrivateOver(context, open);
  } else if (!deletionOf(open.document)) {
    await keepOwner(db, { from, to }, context.now);
  }
  await context.giveTo(open, to);
  await forgetPositions(db, open.id);
  await forgetPlain(db, open.id);
  await giveHeldTo(db, project, to);
  await db
    .updateTable("salvaged_memories")
    .set({ account: to })
    .where("document", "=", project)
    .execute();
  const moved = db.selectFrom("sessions").select("id").where("project_id", "=", project);
  await db.deleteFrom("sessions").where("account", "=", to).where("id", "in", moved).execute();
  await db
    .updateTable("sessions")
    .set({ account: to })
    .where("account", "=", from)
    .where("project_id", "=", project)
    .execute();
  await db.deleteFrom("current_projects").where("project_id", "=", project).execute();
  return true;
}

async function insertNew(
  context: Context,
  world: World,
  { name, url }: { readonly name: string; readonly url: string },
): Promise<Remote> {
  const account = randomAccount(world, name);
  await insertRemote(context.db, { name, url, account }, context.now);
  return { name, url, account, tokenPlace: undefined, isDefault: false };
}

function namesOf(remotes: readonly Remote[]): string[] {
  return remotes.map(({ name }) => name);
}
