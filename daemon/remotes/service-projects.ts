import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { isObject } from "../../shared/json.ts";
import type { World } from "../../shared/world.ts";
import { within } from "../home/within.ts";
import type { Service } from "../service/service.ts";

/** A person waits for the answer this long, and then goes on without it. */
const ANSWER_MS_MAX = 3000;

/** One answer serves all folders that are linked within this time. */
const LIST_MS_MAX = 10_000;

const PAGE = 100;

/** The ids of a service's projects, and whether these are all of them. */
interface Listed {
  readonly ids: ReadonlySet<string>;
  readonly isWhole: boolean;
}

/** Asks services which projects they have: one request for many questions. */
export class ServiceProjects {
  readonly #world: World;
  readonly #lists = new Map<AccountId, { at: number; listed: Promise<Listed | undefined> }>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Whether the account's service has a project; undefined where it does not tell in time. */
  async has(
    account: AccountId,
    service: Pick<Service, "forward">,
    project: ProjectId,
  ): Promise<boolean | undefined> {
    const answer = this.#ask(account, service, project);
    const isInTime = await within(this.#world, ANSWER_MS_MAX, { work: answer });
    return isInTime ? await answer : undefined;
  }

  async #ask(
    account: AccountId,
    service: Pick<Service, "forward">,
    project: ProjectId,
  ): Promise<boolean | undefined> {
    const listed = await this.#list(account, service);
    if (!listed) return undefined;
    if (listed.isWhole || listed.ids.has(project)) return listed.ids.has(project);
    const outcome = await service.forward("GET", `/v1/projects/${project}`);
    if (outcome.kind === "answered") return true;
    return outcome.kind === "refused" && outcome.status === 404 ? false : undefined;
  }

  #list(account: AccountId, service: Pick<Service, "forward">): Promise<Listed | undefined> {
    const now = this.#world.monotonic();
    const known = this.#lists.get(account);
    if (known && now - known.at < LIST_MS_MAX) return known.listed;
    const listed = readList(service).then((answer) => {
      // A service that did not answer may be back at any moment, so it is asked again.
      if (!answer) this.#lists.delete(account);
      return answer;
    });
    this.#lists.set(account, { at: now, listed });
    return listed;
  }
}

async function readList(service: Pick<Service, "forward">): Promise<Listed | undefined> {
  const outcome = await service.forward("GET", `/v1/projects?limit=${PAGE}`);
  if (outcome.kind !== "answered") return undefined;
  const { projects, next_cursor: next } = isObject(outcome.value) ? outcome.value : {};
  if (!Array.isArray(projects)) return undefined;
  const ids = projects.flatMap((each: { readonly id?: unknown } | null) => each?.id ?? []);
  return { ids: new Set(ids.map(String)), isWhole: typeof next !== "string" };
}
