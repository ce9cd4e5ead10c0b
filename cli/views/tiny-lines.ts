import type { DaemonStatus } from "../../daemon/status/status.ts";
import { isUnitSynced, syncedProjects } from "../../daemon/status/synced-projects.ts";
import { count } from "../screen/output.ts";
import { isStandingIn, type Standing } from "../screen/standing.ts";
import { styled } from "../screen/terminal.ts";
import { cut } from "../screen/text-width.ts";
import { visible } from "../screen/visible.ts";
import { isMissed, oddFolders } from "./odd-folders.ts";

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
  const { remotes, held } = status;
  const projects = syncedProjects(status);
  const here = projects.find((each) => isStandingIn(standing, each));
  const units = [...projects, ...remotes.map(({ own }) => own)];
  const left = units.filter((unit) => !isUnitSynced(unit));
  const refused = left.filter((unit) => unit.refused !== null);
  const waiting = left.reduce((sum, unit) => sum + unit.waiting, 0);
  const away = remotes.flatMap(({ service }) => (service.online ? [] : [service]));
  const files = fileLines(status);
  const isUnfollowed = standing.kind === "unfollowed";
  const bad = [
    ...away.map(({ state, name }) => `${state}: ${name}`),
    ...(refused.length > 0 ? [`\`memsync doctor\`: ${refused.length} refused`] : []),
  ];
  const pending = [
    ...(conflicts > 0 ? [`\`memsync conflicts\`: ${conflicts}`] : []),
    ...(held.length > 0 ? [`\`memsync held\`: ${held.length}`] : []),
    ...files,
    ...(waiting > 0 ? [count(waiting, "change waits", "changes wait")] : []),
    ...(isUnfollowed ? ["not followed: `memsync link`"] : []),
  ];
  const isCalm = left.length + away.length + files.length === 0 && projects.length > 0;
  const line = (text: string) => cut(visible(text), columns - 1);
  return [
    ...bad.map((text) => styled("red", line(text))),
    ...pending.map((text) => styled("yellow", line(text))),
    ...(isCalm ? ["all synced"] : []).map(line),
    ...(here ? [line(`here: ${here.name}`)] : []),
    ...remotes.flatMap(({ service }) => (service.online ? [line(service.name)] : [])),
  ];
}

/** That a file is missing or not followed; several are counted. */
function fileLines({ projects }: DaemonStatus): string[] {
  const files = projects
    .filter(({ deleted }) => deleted === null)
    .flatMap((project) => {
      // What is held has a line of its own.
      const odd = oddFolders(project).filter(({ state }) => state !== "held");
      return odd.map((folder) => {
        return `${folder.path} ${oddWord(folder, isMissed(folder, project.text))}: ${project.name}`;
      });
    });
  return files.length < 2 ? files : [`\`memsync status\`: ${files.length} files`];
}

function oddWord({ state }: { readonly state: string }, missed: boolean): string {
  if (missed) return "missing";
  if (state === "failing") return "not followed";
  return state === "waiting" ? "waits" : "moved";
}
