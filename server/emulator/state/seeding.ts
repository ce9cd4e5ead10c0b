import { AppError } from "../../../shared/errors.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import type { ServiceStore } from "../../services/service-store.ts";
import type { Caller, PageRequest, Services } from "../../services/services.ts";
import { storeWithin } from "../../services/store-within.ts";
import type { HostTables } from "../../stores/account-tables.ts";
import type { HostStore } from "../../stores/open-store.ts";
import type { EmulatorSeed, SeedMemory } from "../interface/state.ts";
import { deleteData } from "./reset-data.ts";
import { parseSeed } from "./seed-body.ts";

const EVERYTHING_LEFT: PageRequest = { limit: undefined, cursor: undefined };

/** How much a seed has written. */
interface Seeded {
  readonly projects: number;
  readonly memories: number;
}

/** Whose account is seeded, and with what stores and services. */
export interface SeededAccount {
  readonly host: HostStore;
  readonly caller: Caller;
  readonly servicesOf: (store: ServiceStore) => Services;
  /** Whether what was there before is deleted. */
  readonly emptied: boolean;
}

/**
 * Writes all that a seed has into the caller's account, in one transaction. Where it rejects, with
 * the place in the seed, or the process is killed, the account has what it had.
 */
export async function seedAccount(
  { host, caller, servicesOf, emptied }: SeededAccount,
  value: unknown,
): Promise<Seeded> {
  const seed = parseSeed(value);
  // Changes that are only in memory yet belong to the documents of now: they are written before
  // these are replaced.
  await host.store.settle();
  const write = async (context: WriteContext<HostTables>) => {
    if (emptied) await deleteData(context, caller.account);
    const store = storeWithin(context);
    try {
      return await writeSeed(servicesOf(store), caller, seed);
    } finally {
      await store.settle();
    }
  };
  return await host.store.write(write, { isLong: true });
}

async function writeSeed(
  services: Services,
  caller: Caller,
  seed: ReturnType<typeof parseSeed>,
): Promise<Seeded> {
  let memories = 0;
  for (const [at, { put, sync, keyless }] of seed.projects.entries()) {
    await placed(`/projects/${at}`, async () => {
      const { id } = await services.projects.put(caller, put);
      await services.sync.apply(caller, id, { payload: sync, createMissing: true });
      for (const { value: content } of keyless) {
        await services.memories.create(caller, { layer: "project", project_id: id, content });
      }
    });
    memories += (sync.memories?.length ?? 0) + keyless.length;
  }
  for (const { layer, key, value: content } of seed.memories) {
    const create = { layer, content, ...(key !== undefined && { key }) };
    const place = `/${layer}/memories${key === undefined ? "" : ` (${key})`}`;
    await placed(place, () => services.memories.create(caller, create));
    memories += 1;
  }
  if (seed.sessions.length > 0) {
    const exchange = { documents: {}, sessions: seed.sessions, createMissing: false };
    await placed("/sessions", () => services.sync.exchange(caller, null, exchange));
  }
  for (const [at, pair] of seed.connections.entries()) {
    await placed(`/connections/${at}`, () => services.connections.connect(caller, pair));
  }
  return { projects: seed.projects.length, memories };
}

/** A refusal of a seed says where in it. What the token may not do is no fault of the seed. */
async function placed<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const isOfSeed =
      thrown instanceof AppError &&
      (thrown.code === "not_found" || thrown.code === "invalid_request");
    throw isOfSeed ? refusedAt(place, thrown.message) : thrown;
  }
}

/** What the caller's account has, as a seed that gives the same, sessions of no project apart. */
export async function exportAccount(services: Services, caller: Caller): Promise<EmulatorSeed> {
  const { items } = await services.projects.list(caller, EVERYTHING_LEFT);
  const ids = items.map(({ id }) => id).sort();
  const found = await Promise.all(ids.map((id) => services.projects.get(caller, id)));
  const ofLayer = async (layer: "user" | "global"): Promise<SeedMemory[]> => {
    const query = { projectId: undefined, headerProjectId: undefined, q: undefined };
    const page = await services.memories.list(caller, { ...EVERYTHING_LEFT, ...query, layer });
    return byKey(page.items.map(({ key, content }) => ({ key, value: content })));
  };
  const sessions = await services.sessions.list(caller, {
    ...EVERYTHING_LEFT,
    projectId: undefined,
  });
  const sessionsOf = (project: string | null) =>
    sessions.items
      .filter((session) => session.project_id === project)
      .map(({ project_id: _, ...session }) => session);
  const pairs = found.flatMap(({ project, connected }) =>
    connected.filter(({ id }) => project.id < id).map(({ id }) => [project.id, id] as const),
  );
  return {
    format: 1,
    projects: found.map(({ project, claudeMdContent, memories }) => ({
      id: project.id,
      name: project.name,
      claude_md_content: claudeMdContent,
      metadata: project.metadata,
      memories: byKey(memories.map(({ key, content }) => ({ key, value: content }))),
      sessions: sessionsOf(project.id),
    })),
    user: { memories: await ofLayer("user") },
    global: { memories: await ofLayer("global") },
    sessions: sessionsOf(null),
    connections: pairs.sort().map(([one, other]) => ({ project_ids: [one, other] })),
  };
}

function byKey(memories: readonly SeedMemory[]): SeedMemory[] {
  const text = ({ key = "" }: SeedMemory) => key;
  return [...memories].sort((one, other) => (text(one) < text(other) ? -1 : 1));
}
