import type { DaemonStatus, RemoteStatus } from "../../daemon/status/status.ts";

const EMBEDDED = "embedded";

/** Whether it is this home's own service, which no other machine reaches. */
export function isEmbedded(remote: RemoteStatus | undefined): boolean {
  return remote?.service.name === EMBEDDED;
}

/** The remotes of which a screen speaks. */
export function shownRemotes(status: DaemonStatus): readonly RemoteStatus[] {
  return status.remotes.filter((remote) => !isEmptyEmbedded(status, remote));
}

/** Everything was moved out of it, so there is nothing to show. */
function isEmptyEmbedded(status: DaemonStatus, remote: RemoteStatus): boolean {
  if (!isEmbedded(remote) || remote.default) return false;
  const { memories, waiting, refused, contacted } = remote.own;
  const hasOwn = memories > 0 || waiting > 0 || refused !== null || !contacted;
  const rest = [...status.projects, ...status.unlinked, ...status.held];
  return !hasOwn && rest.every((each) => each.remote !== remote.name);
}

/** A remote's service by its address; with the remote's name where others are at the same one. */
export function serviceShown(
  { name, service }: RemoteStatus,
  remotes: readonly RemoteStatus[],
): string {
  const isAlone = !remotes.some((each) => each.name !== name && each.service.name === service.name);
  return isAlone ? service.name : `${name} (${service.name})`;
}
