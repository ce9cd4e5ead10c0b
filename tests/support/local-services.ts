import { afterEach } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_ACCOUNT, LOCAL_USER, serviceStoreOf } from "../../daemon/gateway/mount.ts";
import { createWithholding } from "../../daemon/gateway/withholding.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { devAccounts } from "../../server/emulator/state/dev-tokens.ts";
import { RequestLimits } from "../../server/limits/request-limits.ts";
import { createServices } from "../../server/services/create-services.ts";
import type { Services } from "../../server/services/services.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { ProjectPut } from "../../shared/wire/project.ts";
import { openTestReplica } from "./empty-home.ts";
import { caller } from "./test-services.ts";
import { createTestWorld } from "./test-world.ts";

/** Whoever calls a machine's own gateway. */
export const ME = caller({ account: LOCAL_ACCOUNT, user: LOCAL_USER });

/** A home's replica, and what the gateway serves of it. */
export interface LocalServices {
  readonly store: ReplicaStore<DaemonTables>;
  readonly services: Services;
}

/** Opens homes that have this project, and removes each after the test that opened it. */
export function localServicesOfTests(project: ProjectPut): () => Promise<LocalServices> {
  const opened: { readonly folder: string; readonly store: ReplicaStore<DaemonTables> }[] = [];
  afterEach(async () => {
    for (const { folder, store } of opened.splice(0)) {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "memsync-local-"));
    const world = createTestWorld();
    const store = await openTestReplica(join(folder, "memsync.db"), world);
    opened.push({ folder, store });
    const services = createServices(serviceStoreOf(store), world, {
      usage: new RequestLimits(world),
      account: devAccounts,
      withholding: createWithholding(),
    });
    await services.projects.put(ME, project);
    return { store, services };
  };
}
