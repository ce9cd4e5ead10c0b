import { projectDocument } from "../../shared/replica/document/address.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import type { World } from "../../shared/world.ts";
import { documentsOf, NOT_FOUND, type SyncUnit } from "../budget/sync-units.ts";
import { readDeletion } from "../home/deleted-project.ts";
import { isKnownToService } from "../home/positions.ts";
import { rowName } from "../plain/document-state.ts";
import { ownRound, readOwnMemories } from "../plain/own-round.ts";
import type { PlainOptions } from "../plain/plain-options.ts";
import { type PlainResult, projectRound } from "../plain/project-round.ts";
import type { RoundOptions } from "../service/round-options.ts";
import type { Outcome } from "../service/service.ts";
import { batchRound } from "./batch-round.ts";
import { Batches } from "./batches.ts";
import {
  exchangeRound,
  isTokenRefused,
  type RefusedCall,
  type RoundResult,
  type SinglePlan,
} from "./round.ts";
import {
  KIND_UNKNOWN,
  type KindEvent,
  mustAsk,
  type ServiceKind,
  stepKind,
} from "./service-kind.ts";

/**
 * Makes rounds with a service of either kind; see `stepKind`. Each process finds out the kind anew.
 */
export class ServiceRounds {
  readonly #options: PlainOptions;
  readonly #world: World;
  #known = KIND_UNKNOWN;
  /** Units whose last round sent something that no reading has shown yet. */
  readonly #unread = new Set<SyncUnit>();
  readonly #batches: Batches;

  constructor(options: RoundOptions, world: World) {
    this.#options = { ...options, taken: new Set() };
    this.#batches = new Batches(world);
    this.#world = world;
  }

  /** Undefined before the first answer. */
  get kind(): ServiceKind | undefined {
    return this.#known.kind;
  }

  #heard(event: KindEvent): void {
    this.#known = stepKind(this.#known, event);
  }

  /** Whether the service's own answer made this row. True only once for each row. */
  isTaken({ documentId, seq }: CommittedRow): boolean {
    return this.#options.taken.delete(rowName(documentId, seq));
  }

  /**
   * Chooses the units of the next round from the due ones, the most urgent first: as many as one
   * call takes. Includes the first one, and `own` if it is due and costs no call of its own.
   */
  choose(due: readonly SyncUnit[]): readonly SyncUnit[] {
    if (this.kind === "plain") return due.slice(0, 1);
    const projects = due.filter((unit) => unit !== "own");
    const own = due.filter((unit) => unit === "own");
    if (this.#canBatch) return [...this.#batches.choose(projects), ...own];
    return due[0] === "own" ? own : [...projects.slice(0, 1), ...own];
  }

  /** The next call about a project is about it alone. False: the service has no other calls. */
  setAlone(project: SyncUnit): boolean {
    if (this.kind === "plain") return false;
    this.#batches.setAlone(project);
    return true;
  }

  /** One round about chosen units. */
  async run(units: readonly SyncUnit[]): Promise<Outcome<RoundResult>> {
    if (await this.#isBatch(units)) return await this.#batch(units);
    const [unit = "own"] = units;
    const outcome = await this.#single({ unit, withOwn: units.includes("own") });
    this.#batches.calledAlone(unit, outcome);
    return outcome;
  }

  get #canBatch(): boolean {
    return this.kind !== "plain" && this.#options.service.exchangeBatch !== undefined;
  }

  /**
   * Also for a single project that the service may have to create, which would take three calls.
   */
  async #isBatch(units: readonly SyncUnit[]): Promise<boolean> {
    const { store, service, account } = this.#options;
    const projects = units.flatMap((unit) => (unit === "own" ? [] : [unit]));
    const [first] = projects;
    if (!first || !this.#canBatch || !this.#batches.mayHold(first)) return false;
    if (projects.length > 1) return true;
    return !(await isKnownToService(store.reader, service.name, projectDocument(account, first)));
  }

  async #batch(units: readonly SyncUnit[]): Promise<Outcome<RoundResult>> {
    const outcome = await batchRound(this.#options, units);
    if (outcome.kind === "answered" && outcome.value !== "unknown") {
      this.#heard({ kind: "exchanged" });
      this.#batches.served();
      return { kind: "answered", value: this.#withoutMissing(outcome.value) };
    }
    if (isTokenRefused(outcome)) return outcome;
    if (outcome.kind === "answered" || outcome.kind === "refused") {
      this.#batches.unknown();
      return { kind: "answered", value: { again: new Set(), left: new Set(units) } };
    }
    this.#batches.failed(outcome, units.filter((unit) => unit !== "own").length);
    return outcome;
  }

  /** A project that does not exist is created by a call of its own, if the token may. */
  #withoutMissing({ left = new Set(), refused = new Map(), ...result }: RoundResult): RoundResult {
    const missing = [...refused].filter(([, { status }]) => status === NOT_FOUND);
    for (const [unit] of missing) this.#batches.setAlone(unit);
    const units = missing.map(([unit]) => unit);
    const others = [...refused].filter(([unit]) => !units.includes(unit));
    return { ...result, left: new Set([...left, ...units]), refused: new Map(others) };
  }

  async #single(plan: SinglePlan): Promise<Outcome<RoundResult>> {
    if (this.#mustAsk(plan)) {
      const asked = await this.#ask(plan);
      if (asked !== "plain") return asked;
    }
    const outcome = await this.#plainRound(plan);
    if (outcome.kind === "answered") this.#heard({ kind: "read" });
    if (outcome.kind === "unreachable") this.#heard({ kind: "unreachable" });
    return outcome;
  }

  #mustAsk({ unit }: SinglePlan): boolean {
    // A plain service answers only an exchange about a project.
    const isVain = unit === "own" && this.#options.projects().size > 0;
    if (this.kind === "plain" && isVain) return false;
    return mustAsk(this.#known, this.#world.monotonic());
  }

  async #ask(plan: SinglePlan): Promise<Outcome<RoundResult> | "plain"> {
    const outcome = await exchangeRound(this.#options, plan);
    if (outcome.kind === "refused" && outcome.status === NOT_FOUND && plan.unit === "own") {
      return (await this.#isPublishedList()) ? this.#publishedOnly() : outcome;
    }
    if (outcome.kind !== "answered") return outcome;
    if (outcome.value !== "plain") {
      this.#heard({ kind: "exchanged" });
      return { kind: "answered", value: outcome.value };
    }
    return this.#publishedOnly();
  }

  #publishedOnly(): "plain" {
    this.#heard({ kind: "published", at: this.#world.monotonic() });
    return "plain";
  }

  /**
   * Without a project there is no exchange that a plain service would answer. Then the list of
   * memories tells: with the exchange, that list comes in pages.
   */
  async #isPublishedList(): Promise<boolean> {
    if (this.kind === "extended") return false;
    const read = await readOwnMemories(this.#options);
    return read.kind === "answered" && !read.value.showsMore;
  }

  async #plainRound({ unit, withOwn }: SinglePlan): Promise<Outcome<RoundResult>> {
    const units: SyncUnit[] = withOwn && unit !== "own" ? [unit, "own"] : [unit];
    const again = new Set<SyncUnit>();
    const later = new Set<SyncUnit>();
    for (const each of units) {
      if (await this.#saysNothing(each)) continue;
      const outcome =
        each === "own" ? await ownRound(this.#options) : await projectRound(this.#options, each);
      if (outcome.kind === "refused" && each !== unit && !isTokenRefused(outcome)) {
        const refused = new Map<SyncUnit, RefusedCall>([[each, outcome]]);
        return { kind: "answered", value: { again, later, refused } };
      }
      if (outcome.kind !== "answered") return outcome;
      const { sent } = this.#noted(outcome.value);
      if (sent) (this.#unread.has(each) ? later : again).add(each);
      if (sent) this.#tellSent(each);
      if (sent) this.#unread.add(each);
      else this.#unread.delete(each);
    }
    return { kind: "answered", value: { again, later } };
  }

  /** A service without a log carries nothing of a project without a link but its deletion. */
  async #saysNothing(unit: SyncUnit): Promise<boolean> {
    const { isLinked = () => true, store } = this.#options;
    if (unit === "own" || isLinked(unit)) return false;
    return (await readDeletion(store.reader, unit)) === undefined;
  }

  #tellSent(unit: SyncUnit): void {
    const { onSent, user } = this.#options;
    for (const name of documentsOf(unit, user)) onSent?.(name, null);
  }

  #noted(result: PlainResult): PlainResult {
    this.#heard({ kind: "showed", more: result.showsMore });
    return result;
  }
}
