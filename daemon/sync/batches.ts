import { LIMITS } from "../../shared/limits.ts";
import type { World } from "../../shared/world.ts";
import type { SyncUnit } from "../budget/sync-units.ts";
import type { Outcome } from "../service/service.ts";

/** As long as for the question whether a service speaks the exchange at all. */
const TRIED_AGAIN_MS = 10 * 60_000;

/**
 * Whether a service is called about several projects at once, and about how many. That it can be
 * only an answer shows: one that does not speak of the projects is of a service that knows no such
 * calls, and so is a refusal of the whole call. It is tried again once the service was out of reach
 * or failed, and after a while in any case: it may be another version by then.
 */
export class Batches {
  readonly #world: Pick<World, "monotonic">;
  /** When the service was found to know no such calls, by the steady clock. */
  #unknownAt: number | undefined;
  #size: number = LIMITS.projectsPerExchange;
  /** Units that are to be called about alone, the next time. */
  readonly #alone = new Set<SyncUnit>();

  constructor(world: Pick<World, "monotonic">) {
    this.#world = world;
  }

  /** Of projects that are due, those to be called about now, the first among them. */
  choose(projects: readonly SyncUnit[]): readonly SyncUnit[] {
    const [first] = projects;
    if (first === undefined || !this.mayHold(first)) return projects.slice(0, 1);
    return projects.filter((project) => !this.#alone.has(project)).slice(0, this.#size);
  }

  /** Whether a project may be called about with others. */
  mayHold(project: SyncUnit): boolean {
    return !this.#isUnknown && !this.#alone.has(project);
  }

  /** What is refused here is refused by a call of its own, too, or goes through by it. */
  setAlone(unit: SyncUnit): void {
    this.#alone.add(unit);
  }

  /** The service has answered for itself about several projects. */
  served(): void {
    this.#unknownAt = undefined;
    this.#grow();
  }

  /** The service knows no such calls. */
  unknown(): void {
    this.#unknownAt = this.#world.monotonic();
  }

  get #isUnknown(): boolean {
    const at = this.#unknownAt;
    return at !== undefined && this.#world.monotonic() - at < TRIED_AGAIN_MS;
  }

  /** A call about so many projects has come to nothing. */
  failed(outcome: Outcome<unknown>, projects: number): void {
    if (!("tooMuch" in outcome) || !outcome.tooMuch) return;
    if (projects > 1) this.#size = Math.floor(projects / 2);
    else this.unknown();
  }

  /** A call about one unit has ended. */
  calledAlone(unit: SyncUnit, outcome: Outcome<unknown>): void {
    this.#alone.delete(unit);
    if (outcome.kind === "answered") this.#grow();
    if (outcome.kind === "unreachable" || outcome.kind === "busy") this.#unknownAt = undefined;
  }

  #grow(): void {
    this.#size = Math.min(LIMITS.projectsPerExchange, this.#size * 2);
  }
}
