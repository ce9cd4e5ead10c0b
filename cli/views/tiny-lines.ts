import type {
  DaemonStatus,
  FolderStatus,
  ProjectStatus,
  RemoteStatus,
} from "../../daemon/status/status.ts";
import {
  isUnitSynced,
  serviceTroubleOf,
  syncedProjects,
} from "../../daemon/status/synced-projects.ts";
import { count } from "../screen/output.ts";
import { isStandingIn, type Standing } from "../screen/standing.ts";
import { styled } from "../screen/terminal.ts";
import { cut } from "../screen/text-width.ts";
import { visible } from "../screen/visible.ts";
import { isMissed, isUnread, oddFolders } from "./odd-folders.ts";
import { shownRemotes } from "./shown-remotes.ts";

interface KnownNow {
  readonly status: DaemonStatus;
  readonly standing: Standing;
  /** How many conflicts are to be told. */
  readonly conflicts: number;
}

/**
 * What a screen shows that has no room for the status: a line for each thing, what a person has to
 * know first at the top.
 */
export function tinyLines({ status, standing, conflicts }: KnownNow, columns: number): string[] {
  const { held } = status;
  const remotes = shownRemotes(status);
  const projects = syncedProjects(status);
  const here = projects.find((each) => isStandingIn(standing, each));
  const units = [...projects, ...status.remotes.map(({ own }) => own)];
  const left = units.filter((unit) => !isUnitSynced(unit));
  const refused = left.filter((unit) => unit.refused !== null);
  const waiting = left.reduce((sum, unit) => sum + unit.waiting, 0);
  const told = remotes.map((remote) => ({
    trouble: serviceTroubleOf(remote.service),
    // Two remotes may be at one address, and only the names tell them apart.
    shown: remotes.length > 1 ? `${remote.name} ${remote.service.name}` : remote.service.name,
    word: troubleWord(remote),
  }));
  const well = told.filter(({ trouble }) => trouble === undefined);
  const reconnecting = told.filter(({ trouble }) => trouble === "reconnecting");
  const mute = told.filter((each) => !well.includes(each) && !reconnecting.includes(each));
  const files = fileLines(status);
  const deleted = status.projects.filter((each) => each.deleted !== null);
  const joined = status.projects.filter((each) => each.joined.length > 0);
  const isUnfollowed = standing.kind === "unfollowed";
  const bad = [
    ...mute.map(({ word, shown }) => `${word}: ${shown}`),
    ...(refused.length > 0 ? [`\`memsync doctor\`: ${refused.length} refused`] : []),
  ];
  const pending = [
    ...reconnecting.map(({ word, shown }) => `${word}: ${shown}`),
    ...(conflicts > 0 ? [`\`memsync conflicts\`: ${conflicts}`] : []),
    ...(held.length > 0 ? [`\`memsync held\`: ${held.length}`] : []),
    ...files,
    ...deleted.map(({ name }) => `deleted: ${name}`),
    ...joined.map(({ name }) => `\`memsync projects\`: ${name} is joined`),
    ...(status.ignore_lines.length > 0 ? ["`memsync doctor`: .memsyncignore"] : []),
    ...(waiting > 0 ? [count(waiting, "change waits", "changes wait")] : []),
    ...(isUnfollowed ? ["not followed: `memsync link`"] : []),
  ];
  const isCalm = left.length + files.length + deleted.length === 0 && projects.length > 0;
  // If a service does not answer, nobody knows what others wrote.
  const calm = well.length === told.length ? "all synced" : "nothing waiting";
  const line = (text: string) => cut(visible(text), columns - 1);
  return [
    ...bad.map((text) => styled("red", line(text))),
    ...pending.map((text) => styled("yellow", line(text))),
    ...(isCalm ? [calm] : []).map(line),
    ...(here ? [line(`here: ${here.name}`)] : []),
    ...well.map(({ shown }) => line(shown)),
  ];
}

/** What is wrong with a remote's service, in a word or two. */
function troubleWord({ service }: RemoteStatus): string {
  return serviceTroubleOf(service) === "refused" ? "token refused" : service.state;
}

/** That a file is missing or not followed; several are counted. */
function fileLines({ projects }: DaemonStatus): string[] {
  const files = projects
    .filter(({ deleted }) => deleted === null)
    .flatMap((project) => {
      // What is held has a line of its own.
      const odd = oddFolders(project).filter(({ state }) => state !== "held");
      return odd.map((folder) => {
        return `${folder.path} ${oddWord(folder, project)}: ${project.name}`;
      });
    });
  return files.length < 2 ? files : [`\`memsync status\`: ${files.length} files`];
}

function oddWord(folder: FolderStatus, { text }: ProjectStatus): string {
  if (isMissed(folder, text)) return "missing";
  if (folder.why === "gone") return "gone";
  if (folder.state === "failing" || isUnread(folder)) return "not followed";
  return folder.state === "waiting" ? "waits" : "moved";
}
