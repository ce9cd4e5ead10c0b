import { LIMITS } from "../../shared/limits.ts";
import type { World } from "../../shared/world.ts";
import type { SyncUnit } from "../budget/sync-units.ts";
import type { Outcome } from "../service/service.ts";

/** The same as for the question whether a service has the exchange at all. */
const TRIED_AGAIN_MS = 10 * 60_000;

/**
 * Decides whether a service is called about several projects at once, and about how many. Only an
 * answer shows whether it has such calls: an answer without the projects, or a refusal of the whole
 * call, means that it has not. It is tried again once the service was out of reach or failed, and
 * after a while anyway, since it may be another version by then.
 */
export class Batches {
  readonly #world: Pick<World, "monotonic">;
  /** When the service turned out to have no such calls, by the steady clock. */
  #unknownAt: number | undefined;
  #size: number = LIMITS.projectsPerExchange;
  /** Units to be called about alone, once. */
  readonly #alone = new Set<SyncUnit>();

  constructor(world: Pick<World, "monotonic">) {
    this.#world = world;
  }

  /** The projects for the next call, of those that are due; includes the first. */
  choose(projects: readonly SyncUnit[]): readonly SyncUnit[] {
    const [first] = projects;
    if (first === undefined || !this.mayHold(first)) return projects.slice(0, 1);
    return projects.filter((project) => !this.#alone.has(project)).slice(0, this.#size);
  }

  /** Whether a project may share a call with others. */
  mayHold(project: SyncUnit): boolean {
    return !this.#isUnknown && !this.#alone.has(project);
  }

  /** The batch refused this unit. A call of its own either succeeds or is refused with a reason. */
  setAlone(unit: SyncUnit): void {
    this.#alone.add(unit);
  }

  /** The service answered a call about several projects. */
  served(): void {
    this.#unknownAt = undefined;
    this.#grow();
  }

  /** The service has no such calls. */
  unknown(): void {
    this.#unknownAt = this.#world.monotonic();
  }

  get #isUnknown(): boolean {
    const at = this.#unknownAt;
    return at !== undefined && this.#world.monotonic() - at < TRIED_AGAIN_MS;
  }

  /** A call about this many projects failed. */
  failed(outcome: Outcome<unknown>, projects: number): void {
    if (!("tooMuch" in outcome) || !outcome.tooMuch) return;
    if (projects > 1) this.#size = Math.floor(projects / 2);
    else this.unknown();
  }

  /** A call about one unit ended. */
  calledAlone(unit: SyncUnit, outcome: Outcome<unknown>): void {
    this.#alone.delete(unit);
    if (outcome.kind === "answered") this.#grow();
    if (outcome.kind === "unreachable" || outcome.kind === "busy") this.#unknownAt = undefined;
  }

  #grow(): void {
    this.#size = Math.min(LIMITS.projectsPerExchange, this.#size * 2);
  }
}
