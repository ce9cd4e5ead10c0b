import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SAVE_STYLES, save } from "./editor.ts";
import type { Lab } from "./lab.ts";
import type { Machine } from "./machine.ts";
import { pick } from "./random.ts";
import { type FileHistory, fileHistories } from "./real-data.ts";
import { waitFor } from "./wait-for.ts";

export const FILE = "CLAUDE.md";

/** A history's repository on two machines, one project by its origin; git ignores the file. */
export interface ReplayPlace {
  readonly history: FileHistory;
  readonly a: string;
  readonly b: string;
}

/** A repository on either machine for every history. */
export async function makePlaces({ git }: Lab): Promise<ReplayPlace[]> {
  const places: ReplayPlace[] = [];
  for (const history of fileHistories()) {
    const made: string[] = [];
    for (const machine of ["a", "b"]) {
      const folder = await git.repository(`${machine}/${history.name}`, { ".gitignore": FILE });
      await git.run(folder, "remote", "add", "origin", `https://example.com/${history.name}`);
      made.push(folder);
    }
    const [a = "", b = ""] = made;
    places.push({ history, a, b });
  }
  return places;
}

/** Starts both machines, each following its side of all places. */
export async function followPlaces(
  places: readonly ReplayPlace[],
  a: Machine,
  b: Machine,
): Promise<void> {
  for (const machine of [a, b]) machine.worksLong = true;
  await Promise.all([
    a.up(...places.map((place) => place.a)),
    b.up(...places.map((place) => place.b)),
  ]);
}

/** Saves the followed file in one of the ways in which programs do. */
export async function saveSomehow(
  folder: string,
  content: string,
  random: () => number,
): Promise<void> {
  await save(join(folder, FILE), content, pick(random, SAVE_STYLES));
}

/** The followed file's text; empty when it is missing. */
export async function readFollowed(folder: string): Promise<string> {
  return await readFile(join(folder, FILE), "utf8").catch(() => "");
}

/** Whole histories meet at once, on machines that do other things besides. */
const EQUAL_MS_MAX = 180_000;

/** Waits until all is acknowledged and the files of either side are equal. */
export async function untilEqual(
  places: readonly Omit<ReplayPlace, "history">[],
  a: Machine,
  b: Machine,
): Promise<void> {
  await waitFor(
    "both machines to hold the same files",
    async () => {
      const synced = await Promise.all([a.syncOnce(), b.syncOnce()]);
      if (!synced.every(Boolean)) return false;
      for (const place of places) {
        if ((await readFollowed(place.a)) !== (await readFollowed(place.b))) return false;
      }
      return true;
    },
    EQUAL_MS_MAX,
  );
}
