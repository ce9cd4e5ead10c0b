import type { SqliteDisk } from "./sqlite-disk.ts";
import type { Volume } from "./volume.ts";

const volumes: Volume[] = [];
const disks: SqliteDisk[] = [];

/** Makes a run's volumes and disks be found by their paths; forgets those of the run before. */
export function unmountAll(): void {
  volumes.length = 0;
  disks.length = 0;
}

export function mountVolume(volume: Volume): void {
  volumes.push(volume);
}

export function mountDisk(disk: SqliteDisk): void {
  disks.push(disk);
}

export function volumeOf(path: string): Volume {
  const volume = volumes.find((each) => each.holds(path));
  if (!volume) throw new Error(`${path} is on no volume of the simulation`);
  return volume;
}

export function diskOf(path: string): SqliteDisk {
  const disk = disks.find((each) => each.holds(path));
  if (!disk) throw new Error(`${path} is on no disk of the simulation`);
  return disk;
}
