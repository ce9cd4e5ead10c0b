import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReplica, type ReplicaOptions } from "../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { World } from "../../shared/world.ts";
import { createTestWorld } from "./test-world.ts";

/**
 * A home's replica, as `openReplica` gives it. Where nothing is at `path` it begins as a copy of an
 * empty one: to make each anew takes eight times as long.
 */
export async function openTestReplica(
  path: string,
  world: World,
  options: ReplicaOptions = {},
): Promise<ReplicaStore<DaemonTables>> {
  if (!existsSync(path)) copyFileSync(await emptyHome(), path);
  return await openReplica(path, world, options);
}

let empty: Promise<string> | undefined;

/** The path of a home's database in which nothing is. */
function emptyHome(): Promise<string> {
  empty ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), "memsync-empty-home-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "memsync.db");
    await (await openReplica(path, createTestWorld())).close();
    return path;
  })();
  return empty;
}
