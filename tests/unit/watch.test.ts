import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FolderWatch, watchFolder } from "../../daemon/sources/watch.ts";
import { silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { createTestWorld } from "../support/test-world.ts";
import { waitFor } from "../support/wait-for.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const SAVES = 20;

/** As editors do: there is no moment in which the file holds half of it. */
async function save(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content);
  await rename(`${file}.new`, file);
}

/** Without the second look that a timer makes. */
const world: World = { ...createTestWorld(), setTimer: () => ({ cancel() {} }) };

let dir = "";
let watch: FolderWatch | undefined;

afterEach(async () => {
  await watch?.close();
  await rm(dir, { recursive: true, force: true });
});

describe("watching", () => {
  test("hears of each save, however soon it follows the one before", async () => {
    dir = await mkdtemp(join(tmpdir(), "memsync-watch-"));
    const file = join(dir, "CLAUDE.md");
    await save(file, "");
    const seen = new Set<string>();
    watch = watchFolder(dir, undefined, world, silentLog, () => {
      seen.add(readFileSync(file, "utf8"));
    });
    await waitFor("the watch to be up", async () => {
      await save(file, "up");
      return seen.has("up");
    });
    for (let at = 0; at < SAVES; at++) {
      await save(file, `save ${at}`);
      await waitFor(`save ${at} to be heard of`, () => seen.has(`save ${at}`));
    }
    expect(seen.size).toBeGreaterThanOrEqual(SAVES);
  });
});
