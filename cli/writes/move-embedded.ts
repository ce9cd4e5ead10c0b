import { EMBEDDED, type Remote } from "../../daemon/home/remote.ts";
import type { MovedMemories, SharedLayer } from "../../daemon/remotes/move-memories.ts";
import type { ListedRemote } from "../../daemon/remotes/remote-change.ts";
import type { Environment } from "../place/environment.ts";
import { ask, confirm, isTerminal, isYes } from "../screen/ask.ts";
import { count, sayAside } from "../screen/output.ts";
import { isShared, seenBy } from "../views/seen-by.ts";
import { audienceOf, mayBeSeen } from "./audience.ts";
import { changeRemotes, listRemotesOf } from "./remote-changes.ts";

/** What was moved out of the embedded service, as `--json` prints it. */
export interface Moved {
  /** The projects' ids. */
  readonly projects: readonly string[];
  readonly user: MovedMemories;
  readonly global: MovedMemories;
}

const NONE: MovedMemories = { moved: 0, conflicts: 0, held: 0, stayed: 0 };

export const NOTHING_MOVED: Moved = { projects: [], user: NONE, global: NONE };

interface MoveOptions {
  readonly remote: Remote;
  /** Moves everything without asking. Otherwise projects and each layer are asked about. */
  readonly all: boolean;
  /** Does not ask whether others may read what is in `global`. */
  readonly yes: boolean;
  /** It may be another owner's: the user has agreed to that. */
  readonly ofAnother: boolean;
  /** Called with one line for each step. */
  readonly tell: (line: string) => void;
}

/** The embedded service with its contents; undefined where it has none. */
export async function findEmbedded(env: Environment): Promise<ListedRemote | undefined> {
  const embedded = (await listRemotesOf(env)).find(({ name }) => name === EMBEDDED);
  return embedded && hasAnything(embedded) ? embedded : undefined;
}

/**
 * Moves the contents of the embedded service to a remote. Each project and each layer is a
 * transaction of its own. What is not moved stays, and can be moved later.
 */
export async function moveEmbedded(
  env: Environment,
  embedded: ListedRemote,
  options: MoveOptions,
): Promise<Moved> {
  const { remote, all, ofAnother, tell } = options;
  const agreed = async (what: string) => all || (await confirm(`${what} to ${remote.name}?`));
  const projects: string[] = [];
  let isUnasked = false;
  const which = all ? "all" : await askWhich(embedded.projects.length, remote);
  for (const { id, name } of which === "none" ? [] : embedded.projects) {
    if (which === "each" && !(await agreed(`Move the project ${name} (${id})`))) continue;
    const change = { op: "move", project: id, to: remote.name, ofAnother } as const;
    const { stays } = await changeRemotes(env, change);
    if (stays !== undefined) {
      sayAside(`the project ${name} (${id}) was not moved: ${stays}`);
      continue;
    }
    tell(`moved the project ${name} (${id})`);
    projects.push(id);
  }
  const moveLayer = async (layer: SharedLayer): Promise<MovedMemories> => {
    const memories = embedded.memories[layer];
    const between = { from: EMBEDDED, to: remote.name, ofAnother };
    const change = { op: "memories", layer, ...between } as const;
    if (memories === 0) {
      // Moving an empty layer brings along the history of what was deleted there, which stays on
      // this machine. Not of `global`: what somebody saves there at this very moment, nobody has
      // agreed to show to others.
      if (all && layer === "user") await changeRemotes(env, change);
      return NONE;
    }
    const what = `Move ${ofLayer(memories, layer)}`;
    const isAgreed = layer === "global" ? mayMoveGlobal(env, memories, options) : agreed(what);
    const answer = await isAgreed;
    if (answer === "unasked") isUnasked = true;
    if (answer !== true) return NONE;
    const { memories: moved = NONE } = await changeRemotes(env, change);
    for (const line of linesOf(moved, layer, remote)) tell(line);
    return moved;
  };
  const moved = { projects, user: await moveLayer("user"), global: await moveLayer("global") };
  const left = await findEmbedded(env);
  tell(left ? `${stayLine(left)}; ${moveLater(remote, isUnasked)}` : NOTHING_LEFT);
  return moved;
}

/** One question about several projects; `each` has one about each of them. */
async function askWhich(projects: number, { name }: Remote): Promise<"all" | "none" | "each"> {
  if (projects < 2) return "each";
  const answer = await ask(`Move all ${projects} projects to ${name}? [y/N/each] `);
  if (/^e(ach)?$/i.test(answer)) return "each";
  return isYes(answer) ? "all" : "none";
}

const NOTHING_LEFT = "nothing stays in the embedded service";

/**
 * What to type where a question was answered with no, and it is wanted after all. `isUnasked`:
 * nobody could be asked, and the same command would say the same again.
 */
function moveLater({ name }: Remote, isUnasked: boolean): string {
  const command = `memsync login --remote ${name} --move`;
  if (!isUnasked) return `\`${command}\` moves it later`;
  return `\`${command}\` at a terminal asks, and with --yes moves it without asking`;
}

/**
 * Nobody else could read it in the embedded service. The question covers both; where nobody can be
 * asked, only `--yes` or an earlier yes shows it to others, and without these it is `unasked`.
 */
async function mayMoveGlobal(
  env: Environment,
  memories: number,
  { remote, all, yes }: MoveOptions,
): Promise<boolean | "unasked"> {
  const audience = await audienceOf(env, remote.account);
  const what = ofLayer(memories, "global");
  const question = `Move ${what} to ${remote.name}?`;
  const isUnagreed = isShared(audience) && !audience.agreed && !yes;
  if (isUnagreed && !isTerminal()) {
    sayAside(`${what} not moved: global is seen by ${seenBy(audience)}; --yes agrees to that`);
    return "unasked";
  }
  const isAskedAnyway = isUnagreed && isTerminal();
  if (!all && !isAskedAnyway && !(await confirm(question))) return false;
  return await mayBeSeen(env, remote.account, { audience, question, yes });
}

function linesOf(
  { moved, conflicts, held, stayed }: MovedMemories,
  layer: SharedLayer,
  { name }: Remote,
): string[] {
  const few = (amount: number, one: string, more: string) => {
    return `${amount} of them ${amount === 1 ? one : more}`;
  };
  const differing = few(conflicts, "has", "have");
  return [
    `moved ${ofLayer(moved, layer)}`,
    ...(conflicts > 0 ? [`${differing} another value at ${name}, too: ${BOTH_KEPT}`] : []),
    ...(held > 0 ? [`${few(held, "is", "are")} held on this machine: ${WHY_HELD}`] : []),
    ...(stayed > 0 ? [`${ofLayer(stayed, layer)} not moved: ${HELD_TWICE} at ${name}`] : []),
  ];
}

const BOTH_KEPT = "both are kept, `memsync conflicts` shows them";
const WHY_HELD = "`memsync held` says why";
const HELD_TWICE = "of that key another write is held (`memsync held`)";

function ofLayer(memories: number, layer: SharedLayer): string {
  return `${count(memories, "memory", "memories")} of the layer ${layer}`;
}

/** Whether a remote has projects or memories here. */
export function hasAnything({ projects, memories: { user, global } }: ListedRemote): boolean {
  return projects.length + user + global > 0;
}

/** How what stays is moved, and who sees it then, if others do. */
export async function moveHint(
  env: Environment,
  { memories }: ListedRemote,
  { account }: Remote,
): Promise<string> {
  const audience = memories.global > 0 ? await audienceOf(env, account) : null;
  if (!isShared(audience)) return "`--move` moves all of it";
  return `\`--move\` moves all of it, and global is then seen by ${seenBy(audience)}`;
}

/** Says what a remote has, and that it stays there. */
export function stayLine(listed: ListedRemote, where = "in the embedded service"): string {
  const { user, global } = listed.memories;
  const isOne = listed.projects.length + user + global === 1;
  return `${inWords(listed)} ${isOne ? "stays" : "stay"} ${where}`;
}

function inWords({ projects, memories: { user, global } }: ListedRemote): string {
  const parts = [
    ...(projects.length > 0 ? [count(projects.length, "project", "projects")] : []),
    ...(user > 0 ? [ofLayer(user, "user")] : []),
    ...(global > 0 ? [ofLayer(global, "global")] : []),
  ];
  return new Intl.ListFormat("en-GB").format(parts);
}
