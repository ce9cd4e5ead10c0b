import { expect } from "bun:test";
import { join } from "node:path";
import { exchange } from "./exchange-machines.ts";
import { FILE, type FollowedClones, followText, type Pair } from "./followed-clones.ts";
import type { FollowedMachine } from "./followed-machines.ts";

export const OTHER = "AGENTS.md";
export const TEXT = "# Guide\n\nBuild with make.\n\nTest with make test.\n\nShip with make ship.\n";
export const EDITED = TEXT.replace("make ship", "make release");
export const POINTER = "@AGENTS.md\n";

/** Two machines of one project, with empty folders outside of git. */
export async function openFolders(lab: FollowedClones): Promise<Pair> {
  return { a: await lab.folder("a"), b: await lab.folder("b") };
}

export function at({ dir }: FollowedMachine, name: string): string {
  return join(dir, name);
}

/** Both follow the text, in a file of this name on a. */
export async function followGuide(pair: Pair, name = FILE): Promise<void> {
  await followText(pair, { name, text: TEXT });
}

/** Neither has anything twice, or lost. */
export async function expectAll({ a, b }: Pair, text: string): Promise<void> {
  await exchange([a, b]);
  expect([await a.doc(), await b.doc(), b.file()]).toEqual([text, text, text]);
}
