// Decides when a service is called, and about what; a round of `service-rounds.ts` does it.
// One engine for each service.

import { ERROR_STATUS } from "../../shared/errors.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Reason } from "../../shared/reasons.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { isOfEntries } from "../../shared/replica/document/own-metadata.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import type { Account } from "../../shared/wire/account.ts";
import { randomFraction, type Timer, type World } from "../../shared/world.ts";
import type { Urgency } from "../budget/budget.ts";
import type { RequestBudget } from "../budget/request-budget.ts";
import { SyncSchedule } from "../budget/schedule.ts";
import { type SyncUnit, unitsToSync } from "../budget/sync-units.ts";
import type { OnActivity } from "../home/activity.ts";
import { type Failure, failureBy } from "../service/failure.ts";
import type { RoundOptions } from "../service/round-options.ts";
import type { Outcome } from "../service/service.ts";
import type { Announced } from "./announced.ts";
import {
  type CallEffect,
  type CallEvent,
  isFree,
  NO_CALL,
  stepCall,
  type Throttled,
} from "./call-machine.ts";
import type { Contact } from "./contact.ts";
import { ContactKeeper } from "./contact-keeper.ts";
import { FrameReader } from "./frame-reader.ts";
import { LiveLink } from "./live-link.ts";
import type { LiveState } from "./live-machine.ts";
import { NewUnits, type NewUnitsOptions } from "./new-units.ts";
import { RegularAsking } from "./regular-asking.ts";
import { isTokenRefused, type RefusedCall, type RoundResult } from "./round.ts";
import { ServiceRounds } from "./service-rounds.ts";
import { SyncJournal } from "./sync-journal.ts";

/** What the engine works with, beyond what each of its calls needs. */
export interface EngineOptions extends RoundOptions, NewUnitsOptions {
  readonly world: World;
  readonly log: Log;
  /** The requests of the service's account; undefined where nobody counts them. */
  readonly budget?: RequestBudget | undefined;
  /** Called when the contact changes or the service has answered; `units`: about what. */
  readonly onContact: (units: readonly SyncUnit[]) => void;
  /** Called when the service tells who shares the account; not by every service. */
  readonly onAccount?: ((told: Account) => void) | undefined;
  /** Called with what is sent and received, and when the service comes or goes. */
  readonly onActivity?: OnActivity | undefined;
}

/** Calls that wait for the budget: about how many projects, and why. */
export interface ThrottledCalls extends Throttled {
  readonly projects: number;
  readonly why: Reason;
}

/**
 * Keeps the followed projects' documents in step with one service: sends what is not acknowledged,
 * and fetches what the service announces, in one call at a time. The pure parts decide: `stepCall`
 * when a call begins, `SyncSchedule` about what, `stepContact` what is known of the service. This
 * class has the timers, the promises and the log.
 *
 * ```
 * const engine = new SyncEngine(options);
 * engine.start();
 * await engine.syncNow(); // the calls that were due are over
 * await engine.stop();
 * ```
 */
export class SyncEngine {
  readonly #options: EngineOptions;
  readonly #schedule = new SyncSchedule();
  readonly #newUnits: NewUnits;
  readonly #contact: ContactKeeper;
  readonly #live: LiveLink | undefined;
  readonly #frames: FrameReader;
  readonly #asking: RegularAsking;
  readonly #rounds: ServiceRounds;
  readonly #journal: SyncJournal;
  readonly #stopListening: () => void;
  readonly #refused = new Map<SyncUnit, Reason>();
  #state = NO_CALL;
  /** What was logged last of failures that are not over. */
  #loggedFailure: string | undefined;
  /** Units that a call got to: what is written into these is an edit of what the service knows. */
  readonly #served = new Set<SyncUnit>();
  /** The followed units at the last look. */
  #known: ReadonlySet<SyncUnit> = new Set();
  #timer: Timer | undefined;
  /** The call under way, with the look at what was announced during it. */
  #call: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #waiters: (() => void)[] = [];

  constructor(options: EngineOptions) {
    this.#options = options;
    const { service, world } = options;
    this.#newUnits = new NewUnits(options);
    this.#contact = new ContactKeeper(options);
    this.#journal = new SyncJournal({
      ...options,
      isEmbedded: service.openLive === undefined,
      onTransfer: (transfer) => options.onActivity?.(transfer),
    });
    const onSent = this.#journal.sent.bind(this.#journal);
    this.#rounds = new ServiceRounds({ ...options, onSent }, world);
    this.#frames = new FrameReader({
      ...options,
      isCalled: (unit) => this.#state.units.includes(unit),
      onToFetch: (announced) => this.#step({ kind: "announced", announced }).includes("due"),
      onAbsent: (projects) => {
        this.#newUnits.heard(projects, world.monotonic());
        options.onContact(projects);
      },
    });
    this.#asking = new RegularAsking({
      ...options,
      unannounced: () => this.#unannounced(),
      onAsk: (unit) => {
        this.#schedule.markDue(unit, "ask");
        this.#pump();
      },
    });
    this.#live = service.openLive ? this.#createLive(options) : undefined;
    this.#stopListening = options.store.onCommit((rows) => this.#onCommit(rows));
  }

  #createLive({ service, world, log, projects, budget }: EngineOptions): LiveLink {
    return new LiveLink({
      open: (handlers) => service.openLive?.(handlers),
      world,
      log,
      projects: () => [...projects().keys()],
      onFrame: async (frame, asked) => {
        if (await this.#frames.read(frame, asked)) this.#pump();
      },
      onState: (state) => this.#onLive(state),
      mayOpenAt: () => budget?.notBefore("change") ?? 0,
      isReachable: () => this.contact.online,
      onUnreached: () => budget?.unsent(),
    });
  }

  get contact(): Contact {
    const now = this.#contact.now;
    // Somebody who waits may have brought the next call forward.
    if (now.busyUntil === undefined || this.#state.until === undefined) return now;
    return { ...now, busyUntil: this.#state.until };
  }

  /** Undefined while no call waits for the budget. */
  get throttled(): ThrottledCalls | undefined {
    const { budget } = this.#options;
    const { throttled } = this.#state;
    if (!throttled || !budget) return undefined;
    const { units, urgency } = this.#schedule.waiting();
    const projects = units.filter((unit) => unit !== "own").length;
    return { ...throttled, projects, why: budget.whyLater(urgency) };
  }

  /** Why the service refused a unit's last call. */
  refusal(unit: SyncUnit): Reason | undefined {
    return this.#refused.get(unit);
  }

  /** Begins with a call about everything that is followed. */
  start(): void {
    this.#hearPause();
    this.#live?.start();
    const { projects, world } = this.#options;
    const units = unitsToSync(projects());
    this.#known = new Set(units);
    for (const unit of units) this.#schedule.markDue(unit);
    // Where there is no project yet, mostly one is just being linked.
    if (projects().size === 0) this.#schedule.gather(units, world.monotonic());
    this.refresh();
    if (this.#live) this.#asking.start();
  }

  /** A pause for which the service asked before this start is not over. */
  #hearPause(): void {
    const { budget, world } = this.#options;
    const pausedUntil = budget?.pausedUntil;
    if (pausedUntil === undefined) return;
    const until = world.now() + pausedUntil - world.monotonic();
    this.#contact.hear({ kind: "busy", until, why: failureBy({ code: "requests-refused" }) });
  }

  /** The followed projects may have changed: calls about new ones, and about nothing else. */
  refresh(): void {
    const units = new Set(unitsToSync(this.#options.projects()));
    for (const unit of this.#known) if (!units.has(unit)) this.#forget(unit);
    const come = [...units].filter((unit) => !this.#known.has(unit));
    this.#newUnits.came(come);
    if (come.length > 0) this.#schedule.gather(come, this.#options.world.monotonic());
    this.#known = units;
    this.#live?.subscribeMore();
    this.#pump();
  }

  /** Records of a followed project's sessions wait to be sent. */
  sessionsDue(project: ProjectId): void {
    if (!this.#options.projects().has(project) || !this.#rounds.setAlone(project)) return;
    this.#schedule.markDue(project, "change");
    this.#pump();
  }

  /** Calls at once, whatever the backoff. Resolves when the calls that are due now are over. */
  async syncNow(): Promise<void> {
    if (this.#state.phase === "stopped") return;
    this.#live?.hurry();
    this.refresh();
    this.#schedule.hurry();
    for (const unit of this.#known) this.#schedule.markDue(unit, "person");
    await new Promise<void>((resolve) => {
      this.#waiters.push(resolve);
      this.#pump();
    });
  }

  /**
   * Ends the backoff, because a person still waits: the service may be back. Only with the urgency
   * `person` the calls may use the part of the budget that is reserved for people.
   */
  hurry(urgency?: Urgency): void {
    if (urgency) this.#schedule.hurry();
    else this.#schedule.serviceIsBack();
    for (const unit of urgency ? this.#known : []) {
      if (this.#schedule.isDue(unit)) this.#schedule.markDue(unit, urgency);
    }
    this.#live?.hurry();
    this.#pump();
  }

  /**
   * The machine was asleep or is in another network, so every connection may be dead. The world's
   * steady clock stood still for this many milliseconds meanwhile.
   */
  async woke(stoodStillMs: number): Promise<void> {
    const { service, budget } = this.#options;
    budget?.slept(stoodStillMs);
    this.#schedule.slept(stoodStillMs);
    service.dropConnections?.();
    await this.#call;
    if (this.#state.phase === "stopped") return;
    this.#schedule.hurry();
    this.#live?.reopen();
    this.#pump();
  }

  async stop(): Promise<void> {
    this.#step({ kind: "stop" });
    this.#contact.stop();
    this.#asking.stop();
    this.#stopListening();
    this.#live?.stop();
    await this.#call;
    await this.#journal.settled();
    this.#releaseWaiters();
  }

  #forget(unit: SyncUnit): void {
    this.#refused.delete(unit);
    this.#served.delete(unit);
    this.#newUnits.forget(unit);
    this.#schedule.forget(unit);
  }

  #onCommit(rows: readonly CommittedRow[]): void {
    const { budget, account } = this.#options;
    const own = rows.filter(({ address }) => address.owner === account);
    if (own.length > 0) budget?.active();
    for (const row of own) {
      const project = projectOf(row.address.name);
      this.#asking.active(project ?? "own");
      if (row.origin !== "local" || this.#rounds.isTaken(row)) {
        this.#journal.received(row);
        continue;
      }
      this.#journal.changed(row);
      const unit = project ?? "own";
      if (project !== undefined && !this.#options.projects().has(project)) continue;
      this.#markWritten(unit, row);
    }
    this.#pump();
  }

  /**
   * What is taken in a new unit, its first text above all, waits for that of the others. What
   * somebody writes does not: who goes on writing would wait again and again.
   */
  #markWritten(unit: SyncUnit, { changes }: CommittedRow): void {
    const now = this.#options.world.monotonic();
    const isWritten = isOfEntries(changes);
    const isTaken = this.#newUnits.has(unit, now) && !isWritten;
    const isKnown = this.#served.has(unit) || (isWritten && this.#newUnits.isHeard(unit));
    if (isTaken && this.#isMoreComing(now)) this.#schedule.gather([unit], now);
    else this.#schedule.markDue(unit, isKnown ? "edit" : "change");
    if (changes.text) this.#newUnits.forget(unit);
  }

  /** When the service is back, the socket may show it before the calls' backoff is over. */
  #onLive(state: LiveState): void {
    this.#contact.hear({ kind: "socket", at: this.#options.world.now(), state });
    // The answer to a call says what is wrong with the token.
    if (state === "refused") this.#schedule.markDue("own");
    else if (state === "live") this.#schedule.serviceIsBack();
    else return;
    this.#pump();
  }

  /** Asks the schedule what to do now. */
  #pump(): void {
    if (!isFree(this.#state)) return;
    const { world, budget } = this.#options;
    const now = world.monotonic();
    if (this.#schedule.isGathering && this.#isMoreComing(now)) this.#schedule.gatherOn(now);
    const step = this.#schedule.next(now, (urgency) => budget?.notBefore(urgency) ?? 0);
    this.#step({ kind: "next", step, now, wall: world.now() });
  }

  /** Whether a call that waits will carry more. A plain service is called about each project. */
  #isMoreComing(now: number): boolean {
    return this.#rounds.kind !== "plain" && this.#newUnits.isMoreComing(now);
  }

  /** Returns the kinds of what was done. */
  #step(event: CallEvent): CallEffect["kind"][] {
    const { state, effects } = stepCall(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#do(effect);
    return effects.map(({ kind }) => kind);
  }

  #do(effect: CallEffect): void {
    switch (effect.kind) {
      case "call":
        this.#options.budget?.began(effect.urgency);
        this.#call = this.#callAndLook(this.#choose(effect.unit));
        break;
      case "wait":
        this.#timer?.cancel();
        this.#timer = this.#options.world.setTimer(effect.delayMs, () => this.#pump());
        break;
      case "rest":
        this.#timer?.cancel();
        break;
      case "release":
        this.#releaseWaiters();
        break;
      case "due":
        this.#schedule.markDue(effect.announced.unit);
        break;
      case "look":
        this.#looking = this.#look(effect.announced);
        break;
      case "pump":
        this.#pump();
    }
  }

  #releaseWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const release of waiters) release();
  }

  /** The units that go by one call with a unit whose turn it is. */
  #choose(first: SyncUnit): readonly SyncUnit[] {
    const now = this.#options.world.monotonic();
    const along = this.#schedule.along(now).filter((unit) => unit !== first && unit !== "own");
    const due = [first, ...along];
    if (first !== "own" && this.#schedule.isDue("own")) due.push("own");
    return this.#rounds.choose(due);
  }

  async #callAndLook(units: readonly SyncUnit[]): Promise<void> {
    this.#step({ kind: "began", units });
    const call = this.#callAbout(units);
    this.#journal.during(call);
    await call.finally(() => this.#step({ kind: "ended" }));
    await this.#looking;
  }

  async #look(announced: readonly Announced[]): Promise<void> {
    await this.#frames.look(announced).catch(() => {
      for (const each of announced) this.#schedule.markDue(each.unit);
    });
    this.#step({ kind: "looked" });
  }

  async #callAbout(units: readonly SyncUnit[]): Promise<void> {
    const { world, budget } = this.#options;
    for (const each of units) this.#schedule.began(each);
    for (const each of units) this.#asking.called(each);
    const outcome = await this.#rounds.run(units).catch(failedHere);
    this.#noteKind();
    if (outcome.kind === "answered") {
      this.#answered(units, outcome.value);
      return;
    }
    const [unit = "own", ...others] = units;
    for (const each of others) this.#schedule.markDue(each);
    if (outcome.kind === "refused" && !isTokenRefused(outcome)) {
      this.#turnedDown(unit, outcome);
      this.#reached(outcome);
      return;
    }
    const now = world.monotonic();
    this.#logOnce({ unit, outcome: outcome.kind, reason: outcome.message });
    const fraction = randomFraction(world);
    const retryAfterMs = outcome.kind === "busy" ? outcome.retryAfterMs : undefined;
    this.#schedule.serviceFailed(unit, now, { retryAfterMs, fraction });
    const why = whyOf(outcome);
    if (isTokenRefused(outcome)) {
      this.#contact.hear({ kind: "token-refused", at: world.now(), why });
    } else if (outcome.kind === "busy" && outcome.isPause) {
      const at = Math.max(this.#schedule.pausedUntil, budget?.notBefore("change") ?? 0);
      this.#contact.hear({ kind: "busy", until: world.now() + at - now, why });
    } else {
      this.#contact.hear({ kind: "unreached", why });
    }
  }

  /** In an outage each try fails alike, and would fill the log. */
  #logOnce(failure: {
    readonly unit: SyncUnit;
    readonly outcome: string;
    readonly reason: string;
  }) {
    const { outcome, reason } = failure;
    const kind = `${outcome} ${reason}`;
    if (kind === this.#loggedFailure) return;
    this.#loggedFailure = kind;
    this.#options.log.warn(failure, "a sync call failed");
  }

  /** Units that the call did not get to go before those with more to exchange. */
  #answered(units: readonly SyncUnit[], { again, later, left, refused }: RoundResult): void {
    const now = this.#options.world.monotonic();
    for (const each of left ?? []) this.#schedule.leftOut(each);
    const served = units.filter((each) => !left?.has(each) && !refused?.has(each));
    for (const each of served) {
      this.#refused.delete(each);
      this.#served.add(each);
      this.#schedule.succeeded(each, now, again.has(each));
    }
    for (const each of later ?? []) this.#schedule.markDue(each);
    for (const [each, why] of refused ?? []) this.#turnedDown(each, why);
    const [first] = refused?.values() ?? [];
    this.#newUnits.heard(served, now);
    this.#reached(served.length > 0 ? undefined : first, served);
  }

  #turnedDown(unit: SyncUnit, { kind, status, message }: RefusedCall): void {
    const { world, log } = this.#options;
    log.warn({ unit, outcome: kind, reason: message }, "a sync call failed");
    const code = status === ERROR_STATUS.forbidden ? "call-forbidden" : "call-refused";
    this.#refused.set(unit, { code, said: message });
    this.#schedule.unitFailed(unit, world.monotonic(), randomFraction(world));
  }

  /** A service with only the published interface is not asked for a live socket. */
  #noteKind(): void {
    const plain = this.#rounds.kind === "plain";
    if (plain === this.#contact.isPlain) return;
    this.#contact.hear({ kind: "exchanges", plain });
    if (plain) this.#live?.pause();
    else this.#live?.resume();
  }

  #reached(failed: Failure | undefined, units: readonly SyncUnit[] = []): void {
    this.#loggedFailure = undefined;
    const wasHeard = this.#contact.isHeard;
    const why = failed && whyOf(failed);
    this.#contact.hear({ kind: "reached", at: this.#options.world.now(), why }, units);
    if (!wasHeard) this.#live?.serviceAnswered();
  }

  /** Units whose changes nobody announces. */
  #unannounced(): SyncUnit[] {
    const units = unitsToSync(this.#options.projects());
    if (!this.#contact.isLive) return units;
    return units.filter((unit) => unit !== "own" && !this.#live?.tellsOf(unit));
  }
}

const whyOf = ({ code, message }: Failure): Failure => ({ code, message });

/** The disk or this program failed, not the service. The call is made again later anyway. */
function failedHere(thrown: unknown): Outcome<never> {
  const why = failureBy({ code: "call-failed-here", said: fileFailure(thrown) });
  return { kind: "unreachable", ...why };
}
