import { existsSync } from "node:fs";
import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { realWorld } from "../../shared/world-real.ts";
import { count, sayAside, sayJson, sayRows, table } from "../screen/output.ts";
import { isStandingIn, type Standing } from "../screen/standing.ts";
import { hasTerminal } from "../screen/terminal.ts";
import { tilde } from "../screen/tilde.ts";
import { joinedSentence, joinedShown } from "./joined-view.ts";
import { timestampShown } from "./version-view.ts";

/** The projects of a status, with or without a daemon. */
interface Listed {
  readonly projects: readonly {
    readonly id: string;
    readonly name: string;
    readonly changed_at: string | null;
    readonly deleted: object | null;
    readonly joined: readonly JoinedStatus[];
    readonly folders: readonly { readonly dir: string }[];
  }[];
  readonly unlinked: readonly {
    readonly id: string;
    readonly name: string | null;
    readonly changed_at: string | null;
    readonly deleted: object | null;
    readonly joined: readonly JoinedStatus[];
    readonly memories: number;
    readonly sending: number;
  }[];
}

const NO_FOLDER = "linked nowhere here";

/**
 * `projects`: each linked folder, the current one's project first; then the home's others. With
 * `byChange` all of them together, those that changed last first.
 */
export function showProjects(
  status: Listed,
  standing: Standing,
  { byChange = false, json = false }: { readonly byChange?: boolean; readonly json?: boolean },
): void {
  const { unlinked } = status;
  const rank = (each: { readonly id: string }) => (isStandingIn(standing, each) ? 0 : 1);
  const projects = status.projects.toSorted((one, other) => rank(one) - rank(other));
  if (json) {
    const placed = projects.map((each) => {
      return {
        ...each,
        folders: each.folders.map((folder) => ({ ...folder, gone: isGone(folder) })),
      };
    });
    const all = [...placed, ...unlinked];
    sayJson(byChange ? latestFirst(all) : all);
    return;
  }
  if (projects.length === 0) sayAside("no project is followed yet: `memsync link DIR` follows one");
  const listed = [
    ...projects.map(({ folders, ...project }) => ({ ...project, places: folders.map(placeShown) })),
    ...unlinked.map((project) => ({ ...project, places: [unlinkedPlace(project)] })),
  ];
  const rows = (byChange ? latestFirst(listed) : listed).flatMap((project) => {
    const changed = project.changed_at === null ? "never" : timestampShown(project.changed_at);
    const { id, name, places } = project;
    const cells = [...(byChange ? [changed] : []), name ?? "(no name)", id];
    return places.map((place) => [...cells, place]);
  });
  // A folder identifies its project, also in commands, so ids may be left out: beside times and
  // folders none fits into 80 columns.
  const spare = unlinked.length > 0 ? [] : [1];
  sayRows(table(rows, byChange ? [2] : spare, { isLastWhole: true }));
  if (projects.some(({ folders }) => folders.some(isGone))) {
    sayAside(
      "gone: it deletes nothing; a memsync command that runs in the folder finds it where it is " +
        "now, `memsync unlink DIR` forgets it",
    );
  }
  const deleted = projects.filter((each) => each.deleted).map(({ name }) => name);
  if (deleted.length > 0) {
    sayAside(
      `deleted: ${deleted.join(", ")}; \`memsync link --anew\` in a folder begins its project ` +
        "anew, `memsync unlink` forgets it",
    );
  }
  if (unlinked.some(hasEnded)) {
    sayAside(
      "written since the deletion: it is synced no more, and on this machine alone; " +
        "`memsync list --project ID` shows it",
    );
  }
  for (const { name, joined } of projects) {
    for (const each of joined) sayAside(joinedSentence(name, each));
  }
  for (const { id, name, deleted, joined } of unlinked) {
    const [first] = joined;
    if (deleted || !first) continue;
    sayAside(`${name ?? id} is ${joinedShown(first, realWorld.now())}`);
  }
  if (unlinked.some(({ deleted }) => !deleted)) {
    sayAside(
      `${NO_FOLDER}: \`memsync link DIR --id ID\` follows one of them, ` +
        "`memsync project rm ID` deletes it everywhere",
    );
  }
}

/** Projects without anything in them come last. */
function latestFirst<Each extends { readonly changed_at: string | null }>(
  projects: readonly Each[],
): Each[] {
  const timeOf = ({ changed_at }: Each) => (changed_at === null ? 0 : Date.parse(changed_at));
  return projects.toSorted((one, other) => timeOf(other) - timeOf(one));
}

/** A linked folder. A program gets the path as it is. */
function placeShown(folder: { readonly dir: string }): string {
  const dir = hasTerminal() ? tilde(folder.dir) : folder.dir;
  return `${dir}${isGone(folder) ? "   (gone)" : ""}`;
}

/** Whether a linked folder is missing. */
export function isGone({ dir }: { readonly dir: string }): boolean {
  return !existsSync(dir);
}

/**
 * Whether an unlinked project has ended: the service has its deletion, and nothing more comes of
 * it.
 */
export function hasEnded({
  deleted,
  sending,
}: {
  readonly deleted: object | null;
  readonly sending: number;
}): boolean {
  return deleted !== null && sending === 0;
}

/** Where an unlinked project is. If it was deleted, only what was written since is here. */
function unlinkedPlace(project: Listed["unlinked"][number]): string {
  const [joined] = project.joined;
  if (!project.deleted && joined && !joined.is_return)
    return `joined to ${joined.name ?? joined.id}`;
  if (!project.deleted) return NO_FOLDER;
  if (!hasEnded(project)) return "deleted, which waits for its service";
  return `deleted, ${count(project.memories, "memory", "memories")} written since`;
}

/** The status line about projects without a link; none where there are none. */
export function unlinkedCount(howMany: number): string[] {
  if (howMany === 0) return [];
  const projects = howMany === 1 ? "1 project is" : `${howMany} projects are`;
  return [`unlinked  ${projects} ${NO_FOLDER}: \`memsync projects\` lists them`];
}
