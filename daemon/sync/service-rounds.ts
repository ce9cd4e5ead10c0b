import type { CommittedRow } from "../../shared/replica/open-document.ts";
import type { World } from "../../shared/world.ts";
import { rowName } from "./plain/document-state.ts";
import { ownRound, readOwnMemories } from "./plain/own-round.ts";
import type { PlainOptions } from "./plain/plain-options.ts";
import { type PlainResult, projectRound } from "./plain/project-round.ts";
import { exchangeRound, NOT_FOUND, type RoundPlan, type RoundResult } from "./round.ts";
import type { RoundOptions } from "./round-options.ts";
import type { SyncUnit } from "./schedule.ts";
import type { Outcome } from "./service.ts";

/** A service that had no exchange is asked again after this long whether it has one now. */
const ASK_AGAIN_MS = 10 * 60_000;

/** What a service turned out to be: one with the replica exchange, or one without. */
export type ServiceKind = "extended" | "plain";

/**
 * Keeps units in step with a service of either kind. Which one it is only an answer decides: one to
 * an exchange, without an exchange in it, and then a reading in the published form. Each process
 * asks at its start; again when a plain service was out of reach, shows more than it did, or was
 * not asked for a while.
 */
export class ServiceRounds {
  readonly #options: PlainOptions;
  readonly #world: World;
  #kind: ServiceKind | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #askNow = true;
  #showedMore = false;
  /** Units that were sent something by their last round. */
  readonly #unread = new Set<SyncUnit>();

  constructor(options: RoundOptions, world: World) {
    this.#options = { ...options, taken: new Set() };
    this.#world = world;
  }

  /** Undefined before the first answer. */
  get kind(): ServiceKind | undefined {
    return this.#kind;
  }

  /** Whether a row came of the service's own answer; said once of each. */
  isTaken({ documentId, seq }: CommittedRow): boolean {
    return this.#options.taken.delete(rowName(documentId, seq));
  }

  /** One round about what is planned. */
  async run(plan: RoundPlan): Promise<Outcome<RoundResult>> {
    if (this.#mustAsk(plan)) {
      const asked = await this.#ask(plan);
      if (asked !== "plain") return asked;
    }
    const outcome = await this.#plainRound(plan);
    if (outcome.kind === "answered") this.#kind = "plain";
    if (outcome.kind === "unreachable") this.#askNow = true;
    return outcome;
  }

  #mustAsk({ unit }: RoundPlan): boolean {
    if (this.#kind !== "plain") return true;
    // Only a question about a project is one that a plain service answers.
    if (unit === "own" && this.#options.projects().size > 0) return false;
    return this.#askNow || this.#world.monotonic() - this.#askedAt >= ASK_AGAIN_MS;
  }

  async #ask(plan: RoundPlan): Promise<Outcome<RoundResult> | "plain"> {
    const outcome = await exchangeRound(this.#options, plan);
    if (outcome.kind === "refused" && outcome.status === NOT_FOUND && plan.unit === "own") {
      return (await this.#isPublishedList()) ? this.#asked() : outcome;
    }
    if (outcome.kind !== "answered") return outcome;
    if (outcome.value !== "plain") {
      this.#kind = "extended";
      return { kind: "answered", value: outcome.value };
    }
    return this.#asked();
  }

  #asked(): "plain" {
    this.#askedAt = this.#world.monotonic();
    this.#askNow = false;
    return "plain";
  }

  /**
   * Without a project there is nothing to ask about by an exchange that a plain service would
   * answer. Then the list of memories says it: of a service with the exchange it has pages.
   */
  async #isPublishedList(): Promise<boolean> {
    if (this.#kind === "extended") return false;
    const read = await readOwnMemories(this.#options);
    return read.kind === "answered" && !read.value.showsMore;
  }

  async #plainRound({ unit, withOwn }: RoundPlan): Promise<Outcome<RoundResult>> {
    const units: SyncUnit[] = withOwn && unit !== "own" ? [unit, "own"] : [unit];
    const again = new Set<SyncUnit>();
    const later = new Set<SyncUnit>();
    for (const each of units) {
      const outcome =
        each === "own" ? await ownRound(this.#options) : await projectRound(this.#options, each);
      if (outcome.kind === "refused" && each !== unit) {
        return { kind: "answered", value: { again, later, ownRefused: outcome } };
      }
      if (outcome.kind !== "answered") return outcome;
      const { sent } = this.#noted(outcome.value);
      if (sent) (this.#unread.has(each) ? later : again).add(each);
      if (sent) this.#unread.add(each);
      else this.#unread.delete(each);
    }
    return { kind: "answered", value: { again, later } };
  }

  #noted(result: PlainResult): PlainResult {
    if (result.showsMore && !this.#showedMore) this.#askNow = true;
    this.#showedMore = result.showsMore;
    return result;
  }
}
