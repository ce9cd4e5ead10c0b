import type { DaemonStatus, UnitStatus } from "./status.ts";

/** Something that the service won't take, and why. */
export interface RefusedUnit {
  /** A project's name, or `user and global`. */
  readonly name: string;
  readonly why: string;
}

/** What the services refuse of all that is not synced. */
export function listRefused({ projects, remotes }: DaemonStatus): RefusedUnit[] {
  const own = remotes.map((remote) => {
    const name = remotes.length > 1 ? `user and global at ${remote.name}` : "user and global";
    return { name, ...remote.own };
  });
  return [...projects, ...own].flatMap((unit) => {
    const { name, refused: why } = unit;
    return why !== null && isUnsettled(unit) ? [{ name, why }] : [];
  });
}

/**
 * Whether all that is not synced has just been refused, so that waiting brings nothing. Not so
 * while a service can't be reached, or calls wait for more requests.
 */
export function isRefused(status: DaemonStatus): boolean {
  const { projects, remotes } = status;
  const refuses = ({ refused }: UnitStatus) => refused !== null;
  const left = [...projects, ...remotes.map(({ own }) => own)].filter(isUnsettled);
  return (
    remotes.every(({ service }) => service.online && service.held_back === null) &&
    left.length > 0 &&
    left.every(refuses) &&
    projects.every((project) => {
      return refuses(project) || project.folders.every(({ state }) => state !== "waiting");
    })
  );
}

function isUnsettled({ contacted, waiting }: UnitStatus): boolean {
  return !contacted || waiting > 0;
}
