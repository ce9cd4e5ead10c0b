import type { DaemonStatus, RemoteStatus, UnitStatus } from "./status.ts";

/** Why what is not synced will not be by waiting, each in a sentence. */
export function listRefusals({ projects, remotes }: DaemonStatus): string[] {
  const blocked = remotes.filter(({ service }) => service.blocked);
  const own = remotes.map((remote) => {
    const name = remotes.length > 1 ? `user and global at ${remote.name}` : "user and global";
    return { ...remote.own, name, remote: remote.name };
  });
  const refused = [...projects, ...own].filter((unit) => {
    return unit.refused !== null && isUnsettled(unit) && !isAt(blocked, unit);
  });
  return [
    ...blocked.map(({ name, service }) => `${name} can't be called: ${service.message}`),
    ...refused.map(({ name, refused: why }) => `the service refuses ${name}: ${why}`),
  ];
}

/**
 * Whether all that is not synced has just been refused, or is for a service that can't be called
 * until a person does something: waiting brings nothing. Not so while another service does not
 * answer, or calls wait for more requests.
 */
export function isRefused({ projects, remotes }: DaemonStatus): boolean {
  const blocked = remotes.filter(({ service }) => service.blocked);
  const open = remotes.filter(({ service }) => !service.blocked);
  const openProjects = projects.filter((project) => !isAt(blocked, project));
  const left = [...openProjects, ...open.map(({ own }) => own)].filter(isUnsettled);
  return (
    open.every(({ service }) => service.online && service.held_back === null) &&
    left.length + blocked.length > 0 &&
    left.every(({ refused }) => refused !== null) &&
    openProjects.every(({ refused, folders }) => {
      return refused !== null || folders.every(({ state }) => state !== "waiting");
    })
  );
}

function isAt(remotes: readonly RemoteStatus[], { remote }: { readonly remote: string }): boolean {
  return remotes.some(({ name }) => name === remote);
}

function isUnsettled({ contacted, waiting }: UnitStatus): boolean {
  return !contacted || waiting > 0;
}
