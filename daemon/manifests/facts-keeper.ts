import { messageOf } from "../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { isObject } from "../../shared/json.ts";
import type { Log } from "../../shared/log.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { DERIVED_KEY } from "../../shared/replica/document/own-metadata.ts";
import { deletionOf } from "../../shared/replica/document/project-deletion.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { World } from "../../shared/world.ts";
import { readFileAt } from "../disk/read-file.ts";
import type { Link } from "../home/links.ts";
import { mayWriteTo } from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import { takeIgnored } from "../ignored/ignore-file.ts";
import { type ProjectFacts, readProjectFacts } from "./project-facts.ts";

/** A project's manifests are read at most this often. */
const REST_MS = 10 * 60_000;

const KEYS = ["language", "framework"] as const;

/** What the keeper of a project's facts works with. */
export interface FactsKeeperOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
  readonly links: () => readonly Link[];
  readonly accountOf: (project: ProjectId) => AccountId;
  readonly serviceOf: (account: AccountId) => string;
}

/**
 * Fills in a project's `language` and `framework` from its manifests, where nobody has. What a
 * person has set, changed or removed stays so.
 *
 * ```
 * await new FactsKeeper(options).look([project]);
 * ```
 */
export class FactsKeeper {
  readonly #options: FactsKeeperOptions;
  /** When a project's manifests were read last, by the steady clock. */
  readonly #looked = new Map<ProjectId, number>();
  /** What they said then. Another machine may have another version of them. */
  readonly #said = new Map<ProjectId, string>();
  #looking: Promise<void> = Promise.resolve();

  constructor(options: FactsKeeperOptions) {
    this.#options = options;
  }

  /** To be called after a service has answered about these projects. Never rejects. */
  look(projects: readonly ProjectId[]): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      for (const project of projects) {
        await this.#lookAt(project).catch((thrown) => {
          this.#options.log.warn({ reason: messageOf(thrown) }, "manifests were not read");
        });
      }
    });
    return this.#looking;
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  async #lookAt(project: ProjectId): Promise<void> {
    const { world, links, store, accountOf, serviceOf } = this.#options;
    const link = links().find(({ projectId }) => projectId === project);
    const now = world.monotonic();
    if (!link || now - (this.#looked.get(project) ?? Number.NEGATIVE_INFINITY) < REST_MS) return;
    const account = accountOf(project);
    const found = await store.write((context) => context.find(projectDocument(account, project)));
    // Who may only read would have something forever that the service does not take.
    if (!found || !(await mayWriteTo(store.reader, serviceOf(account), found.id))) return;
    this.#looked.set(project, now);
    const facts = await readFactsAt(store, link.dir);
    const said = JSON.stringify(facts);
    const isChanged = this.#said.has(project) && this.#said.get(project) !== said;
    this.#said.set(project, said);
    await store.write(async (context) => {
      const open = await context.open(projectDocument(account, project));
      if (!deletionOf(open.document)) putFacts(open, facts, { isChanged, now: context.now });
    });
  }
}

async function readFactsAt(store: ReplicaStore<DaemonTables>, dir: string): Promise<ProjectFacts> {
  const ignored = await takeIgnored(store, dir);
  return await readProjectFacts(async (name) => {
    if (ignored.why(name)) return undefined;
    const read = await readFileAt(dir, name);
    return read.kind === "text" ? read.content : undefined;
  });
}

function putFacts(
  { document }: OpenDocument,
  facts: ProjectFacts,
  { isChanged, now }: { readonly isChanged: boolean; readonly now: number },
): void {
  const before = derivedIn(document);
  const put = KEYS.filter((key) => {
    const value = facts[key];
    const current = document.metadata.get(key)[0]?.value;
    if (value === undefined || value === current) return false;
    // What was derived before and is not there any more, a person has removed.
    if (current === undefined) return before[key] === undefined;
    return isChanged && current === before[key];
  });
  if (put.length === 0) return;
  const derived = { ...before, ...Object.fromEntries(put.map((key) => [key, facts[key]])) };
  document.change("local", () => {
    for (const key of put) document.setEntry("metadata", key, { value: facts[key] ?? "", now });
    document.setEntry("metadata", DERIVED_KEY, { value: derived, now });
  });
}

function derivedIn({ metadata }: OpenDocument["document"]): ProjectFacts {
  const value = metadata.get(DERIVED_KEY)[0]?.value;
  return isObject(value) ? value : {};
}
