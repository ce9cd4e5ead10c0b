import { expect } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { control, controlled } from "./emulator-calls.ts";
import type { Lab } from "./lab.ts";
import { waitFor } from "./wait-for.ts";

const PROJECTS = 30;

/** Long enough that its commit takes a while, and that SQLite begins to write before it. */
const TEXT = "a line of text\n".repeat(2000);

function seedOf(word: string) {
  const projects = Array.from({ length: PROJECTS }, (_, at) => ({
    id: `proj_${word}${at}`,
    name: `${word}${at}`,
    memories: ["a", "b", "c"].map((key) => ({ key, value: `${word} ${TEXT}` })),
  }));
  return { projects };
}

/** How many projects of each word there are. */
async function counted(emulator: { readonly url: string }): Promise<Record<string, number>> {
  const { projects } = await controlled<ReturnType<typeof seedOf>>(emulator, "GET export");
  const counts: Record<string, number> = {};
  for (const { name } of projects) {
    const word = name.replace(/\d+$/, "");
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

/** The calls that bring much at once, with what there is before such a call and after it. */
export const CALLS = [
  ["seed", { old: PROJECTS }, { old: PROJECTS, new: PROJECTS }],
  ["import", { old: PROJECTS }, { new: PROJECTS }],
] as const;

/**
 * Kills an emulator in the middle of a call, at each of these moments: as soon as the database's
 * log has grown by so many bytes, or it has answered. A kept folder has all of the call or nothing.
 */
export async function expectAllOrNothing(
  lab: Lab,
  [call, before, after]: (typeof CALLS)[number],
  moments: readonly number[],
): Promise<void> {
  const dataDir = lab.git.path(`kept-${call}`);
  const log = join(dataDir, "emulator.db-wal");
  const emulator = await lab.emulator(dataDir);
  for (const bytes of moments) {
    expect((await control(emulator, "POST import", { body: seedOf("old") })).status).toBe(200);
    await emulator.end("SIGTERM");
    await emulator.again();
    const grown = () => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    const from = grown();
    let isOver = false;
    const asked = control(emulator, `POST ${call}`, { body: seedOf("new") })
      .then(({ status }) => status)
      .catch(() => "cut")
      .finally(() => {
        isOver = true;
      });
    await waitFor("its moment", () => isOver || grown() >= from + bytes, undefined, 0);
    await emulator.end("SIGKILL");
    const answered = await asked;
    await emulator.again();
    const counts = await counted(emulator);
    if (answered === 200) expect(counts).toEqual({ ...after });
    else expect([{ ...before }, { ...after }]).toContainEqual(counts as never);
  }
}
