import type { DaemonStatus } from "../../daemon/status/status.ts";
import { isUnitSynced, syncedProjects } from "../../daemon/status/synced-projects.ts";
import type { Notice } from "../notices/notice.ts";
import { count } from "../screen/output.ts";
import { isStandingIn, type Standing } from "../screen/standing.ts";
import { styled } from "../screen/terminal.ts";
import { cut } from "../screen/text-width.ts";
import { visible } from "../screen/visible.ts";

interface KnownNow {
  readonly status: DaemonStatus;
  readonly standing: Standing;
  readonly notices: readonly Notice[];
}

/**
 * What a screen shows that has no room for the status: a line for each thing, what a person has to
 * know first at the top.
 */
export function tinyLines({ status, standing, notices }: KnownNow, columns: number): string[] {
  const { remotes, held } = status;
  const conflicts = notices.filter(({ kind }) => kind === "conflict").length;
  const projects = syncedProjects(status);
  const here = projects.find((each) => isStandingIn(standing, each));
  const units = [...projects, ...remotes.map(({ own }) => own)];
  const left = units.filter((unit) => !isUnitSynced(unit));
  const refused = left.filter((unit) => unit.refused !== null);
  const waiting = left.reduce((sum, unit) => sum + unit.waiting, 0);
  const away = remotes.flatMap(({ service }) => (service.online ? [] : [service]));
  const bad = [
    ...away.map(({ state, name }) => `${state}: ${name}`),
    ...(refused.length > 0 ? [`\`memsync doctor\`: ${refused.length} refused`] : []),
  ];
  const pending = [
    ...(conflicts > 0 ? [`\`memsync conflicts\`: ${conflicts}`] : []),
    ...(held.length > 0 ? [`\`memsync held\`: ${held.length}`] : []),
    ...(waiting > 0 ? [count(waiting, "change waits", "changes wait")] : []),
  ];
  const calm = left.length === 0 && away.length === 0 ? ["all synced"] : [];
  const line = (text: string) => cut(visible(text), columns - 1);
  return [
    ...bad.map((text) => styled("red", line(text))),
    ...pending.map((text) => styled("yellow", line(text))),
    ...calm.map(line),
    ...(here ? [line(`here: ${here.name}`)] : []),
    ...remotes.flatMap(({ service }) => (service.online ? [line(service.name)] : [])),
  ];
}
