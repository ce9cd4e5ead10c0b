import { ERROR_STATUS, messageOf } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Reason } from "../../shared/reasons.ts";
import { layerOf, projectOf } from "../../shared/replica/document/address.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import type { ServerFrame } from "../../shared/wire/live.ts";
import { randomFraction, type Timer, type World } from "../../shared/world.ts";
import type { Urgency } from "../budget/budget.ts";
import type { RequestBudget } from "../budget/request-budget.ts";
import { type NextStep, SyncSchedule } from "../budget/schedule.ts";
import { documentsOf, type SyncUnit, unitsToSync } from "../budget/sync-units.ts";
import type { ContactChanged, OnActivity } from "../home/activity.ts";
import { openBound } from "../home/open-bound.ts";
import { readPosition } from "../home/positions.ts";
import type { RoundOptions } from "../service/round-options.ts";
import type { Outcome } from "../service/service.ts";
import { forgetAbsence, noteAbsent } from "./absent-projects.ts";
import { type Announced, isToFetch } from "./announced.ts";
import { Asking } from "./asking.ts";
import {
  type Contact,
  type ContactEvent,
  contactNow,
  NO_CONTACT,
  stepContact,
  toldOf,
} from "./contact.ts";
import { type Echoes, takeFrame } from "./incoming.ts";
import { LiveLink } from "./live-link.ts";
import type { LiveState } from "./live-machine.ts";
import { isTokenRefused, type RefusedCall, type RoundResult } from "./round.ts";
import { ServiceRounds } from "./service-rounds.ts";
import { SyncJournal } from "./sync-journal.ts";

/** Without the live socket, a unit is asked about at most this often, as the budget allows. */
const ASK_INTERVAL_MS = 10_000;
/** No timer is set for longer. */
const TIMER_MS_MAX = 60 * 60_000;

/** What the engine works with, beyond what each of its calls needs. */
export interface EngineOptions extends RoundOptions {
  readonly world: World;
  readonly log: Log;
  /** The requests of the service's account; undefined where nobody counts them. */
  readonly budget?: RequestBudget | undefined;
  /** Something about the contact with the service has changed; it has answered about `units`. */
  readonly onContact: (units: readonly SyncUnit[]) => void;
  /** Told of what is sent and received, and of a service that comes or goes. */
  readonly onActivity?: OnActivity | undefined;
}

/** Calls wait although nothing but the account's requests is in their way; wall-clock times. */
export interface HeldBack {
  readonly since: number;
  readonly until: number;
}

/**
 * Keeps the followed projects' documents in step with one service: sends what is not acknowledged,
 * fetches what the service announces, one call at a time, and goes on by itself when the service
 * comes back.
 */
export class SyncEngine {
  readonly #options: EngineOptions;
  readonly #schedule = new SyncSchedule();
  readonly #echoes: Echoes = new Map();
  readonly #live: LiveLink | undefined;
  readonly #stopListening: () => void;
  readonly #refused = new Map<SyncUnit, Reason>();
  readonly #asking = new Asking();
  readonly #rounds: ServiceRounds;
  readonly #journal: SyncJournal;
  #contact = NO_CONTACT;
  /** Units that were made due when they came. */
  #known: ReadonlySet<SyncUnit> = new Set();
  #timer: Timer | undefined;
  #askTimer: Timer | undefined;
  #calling: Promise<void> | undefined;
  /** What the call under way is about. */
  #called: readonly SyncUnit[] = [];
  /** Of that, what was announced meanwhile: often what the call itself has done. */
  #announced: Announced[] = [];
  #waiters: (() => void)[] = [];
  #heldBack: HeldBack | undefined;
  /** How it stood with the service when that was last told; undefined before it was. */
  #told: ContactChanged["event"] | undefined;
  #stopped = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { service, world, log } = options;
    this.#journal = new SyncJournal({
      ...options,
      isEmbedded: service.openLive === undefined,
      onTransfer: (transfer) => options.onActivity?.(transfer),
    });
    const onSent = this.#journal.sent.bind(this.#journal);
    this.#rounds = new ServiceRounds({ ...options, onSent }, world);
    this.#live = service.openLive
      ? new LiveLink({
          open: (handlers) => service.openLive?.(handlers),
          world,
          log,
          projects: () => [...options.projects().keys()],
          onFrame: (frame, asked) => this.#onFrame(frame, asked),
          onState: (state) => this.#onLive(state),
          mayOpenAt: () => options.budget?.notBefore("change") ?? 0,
          isReachable: () => this.contact.online,
          onUnreached: () => options.budget?.unsent(),
        })
      : undefined;
    this.#stopListening = options.store.onCommit((rows) => this.#onCommit(rows));
  }

  get contact(): Contact {
    const { service, world } = this.#options;
    const since = service.unansweredSince?.();
    if (since === undefined) return contactNow(this.#contact, undefined);
    const waitedMs = world.monotonic() - since;
    return contactNow(this.#contact, { since: world.now() - waitedMs, waitedMs });
  }

  /** Undefined while nothing is. */
  get heldBack(): HeldBack | undefined {
    return this.#heldBack;
  }

  /** Why the service turned down a unit's last call. */
  refusal(unit: SyncUnit): Reason | undefined {
    return this.#refused.get(unit);
  }

  /** Begins with a call about everything that is followed. */
  start(): void {
    this.#live?.start();
    const { projects, world } = this.#options;
    const units = unitsToSync(projects());
    this.#known = new Set(units);
    for (const unit of units) this.#schedule.markDue(unit);
    // Where there is no project yet, mostly one is just being linked.
    if (projects().size === 0) this.#schedule.gather(units, world.monotonic());
    this.refresh();
    this.#scheduleAsking();
  }

  /** The set of followed projects may have changed: what came is called about, and nothing else. */
  refresh(): void {
    const units = new Set(unitsToSync(this.#options.projects()));
    for (const unit of this.#known) if (!units.has(unit)) this.#forget(unit);
    const come = [...units].filter((unit) => !this.#known.has(unit));
    if (come.length > 0) this.#schedule.gather(come, this.#options.world.monotonic());
    this.#known = units;
    this.#live?.subscribeMore();
    this.#pump();
  }

  /** Goes at once, whatever the backoff; resolves when the calls that this brings are over. */
  async syncNow(): Promise<void> {
    if (this.#stopped) return;
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
   * What is due goes now, should the service be back: a person still waits for it. Only with the
   * urgency `person` it may take the part of the budget that is kept for people.
   */
  hurry(urgency?: Urgency): void {
    this.#schedule.hurry();
    for (const unit of urgency ? this.#known : []) {
      if (this.#schedule.isDue(unit)) this.#schedule.markDue(unit, urgency);
    }
    this.#live?.hurry();
    this.#pump();
  }

  /**
   * The machine was asleep or is in another network: no connection can be relied upon. The world's
   * steady clock stood still for so many milliseconds meanwhile.
   */
  async woke(stoodStillMs: number): Promise<void> {
    const { service, budget } = this.#options;
    budget?.slept(stoodStillMs);
    this.#schedule.slept(stoodStillMs);
    service.dropConnections?.();
    await this.#calling;
    if (this.#stopped) return;
    this.#schedule.hurry();
    this.#live?.reopen();
    this.#pump();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#askTimer?.cancel();
    this.#stopListening();
    this.#live?.stop();
    await this.#calling;
    await this.#journal.settled();
    this.#releaseWaiters();
  }

  #forget(unit: SyncUnit): void {
    this.#refused.delete(unit);
    this.#schedule.forget(unit);
  }

  #onCommit(rows: readonly CommittedRow[]): void {
    const { world, budget, account } = this.#options;
    const own = rows.filter(({ address }) => address.owner === account);
    if (own.length > 0) budget?.active();
    for (const row of own) {
      const project = projectOf(row.address.name);
      this.#asking.active(project ?? "own", world.monotonic());
      if (row.origin !== "local" || this.#rounds.isTaken(row)) {
        this.#journal.received(row);
        continue;
      }
      this.#journal.changed(row);
      if (project === undefined) this.#schedule.markDue("own");
      else if (this.#options.projects().has(project)) this.#schedule.markDue(project);
    }
    this.#pump();
  }

  /** The socket is up before the end of the calls' backoff when the service is back. */
  #onLive(state: LiveState): void {
    this.#heard({ kind: "socket", state });
    // The answer to a call says what is wrong with the token.
    if (state === "refused") this.#schedule.markDue("own");
    else if (state === "live") this.#schedule.serviceIsBack();
    else return;
    this.#pump();
  }

  async #onFrame(frame: ServerFrame, asked: readonly ProjectId[]): Promise<void> {
    const { store, service, user, projects } = this.#options;
    if (frame.type === "subscribed") {
      const announced = [...frame.positions].map(([name, position]): Announced => {
        const unit: SyncUnit = name === "user" || name === "global" ? "own" : name;
        return { unit, name: name === "user" ? `user/${user}` : name, position, by: "stands" };
      });
      await this.#look(announced);
      await this.#noteAbsent(asked.filter((project) => !frame.positions.has(project)));
      this.#pump();
      return;
    }
    const unit: SyncUnit = frame.projectId ?? "own";
    if (unit !== "own" && !projects().has(unit)) return;
    const names = documentsOf(unit, user);
    const name = names.find((each) => layerOf(each) === frame.document);
    if (name === undefined) return;
    const taken = await store.write(async (context) => {
      const open = await openBound(context, this.#options, name);
      return (
        open && (await takeFrame(context, service.name, { open, frame, echoes: this.#echoes }))
      );
    });
    if (taken !== "fetch") return;
    const position = { epoch: frame.epoch, seq: frame.seq };
    await this.#look([{ unit, name, position, by: "changed" }]);
    this.#pump();
  }

  /**
   * Marks what is to be fetched; what a call is about that is under way is looked at after it. All
   * are looked at in one moment, for each call that ends meanwhile would make them differ.
   */
  async #look(announced: readonly Announced[]): Promise<void> {
    const { store, service, account } = this.#options;
    await store.write(async (context) => {
      for (const each of announced) {
        const { unit, name } = each;
        const open = await context.find({ owner: account, name });
        const known = open && (await readPosition(context.db, service.name, open.id));
        if (!isToFetch(each, known?.remote)) continue;
        if (this.#called.includes(unit)) this.#announced.push(each);
        else {
          this.#schedule.markDue(unit);
          if (open && known) await forgetAbsence(context.db, service.name, { open, known });
        }
      }
    });
  }

  /** A file that waits for the service's word is looked at before the call that is due about it. */
  async #noteAbsent(projects: readonly ProjectId[]): Promise<void> {
    const { store, onContact, projects: followed } = this.#options;
    const news = await store.write(async (context) => {
      const noted: ProjectId[] = [];
      for (const project of projects) {
        if (this.#called.includes(project) || !followed().has(project)) continue;
        if (await noteAbsent(context, this.#options, project)) noted.push(project);
      }
      return noted;
    });
    if (news.length > 0) onContact(news);
  }

  /** Makes the next call when its time has come; at most one is under way. */
  #pump(): void {
    if (this.#stopped || this.#calling) return;
    this.#timer?.cancel();
    const now = this.#options.world.monotonic();
    const { budget } = this.#options;
    const step = this.#schedule.next(now, (urgency) => budget?.notBefore(urgency) ?? 0);
    this.#heldBack = this.#holding(step, now);
    if (step.kind === "call") {
      budget?.began(step.urgency);
      this.#calling = this.#callAndLook(this.#choose(step.unit, now)).finally(() => {
        this.#calling = undefined;
        this.#pump();
      });
      return;
    }
    if (step.kind === "wait") {
      const waitMs = Math.min(step.until - now, TIMER_MS_MAX);
      this.#timer = this.#options.world.setTimer(waitMs, () => this.#pump());
    }
    this.#releaseWaiters();
  }

  #holding(step: NextStep, now: number): HeldBack | undefined {
    if (step.kind !== "wait" || !step.held) return undefined;
    const wall = this.#options.world.now();
    return { since: this.#heldBack?.since ?? wall, until: wall + step.until - now };
  }

  #releaseWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const release of waiters) release();
  }

  /** What goes by one call with a unit whose turn it is. */
  #choose(first: SyncUnit, now: number): readonly SyncUnit[] {
    const along = this.#schedule.along(now).filter((unit) => unit !== first && unit !== "own");
    const due = [first, ...along];
    if (first !== "own" && this.#schedule.isDue("own")) due.push("own");
    return this.#rounds.choose(due);
  }

  async #callAndLook(units: readonly SyncUnit[]): Promise<void> {
    const call = this.#call(units);
    this.#journal.during(call);
    await call;
    this.#called = [];
    const announced = this.#announced;
    this.#announced = [];
    if (announced.length === 0) return;
    await this.#look(announced).catch(() => {
      for (const each of announced) this.#schedule.markDue(each.unit);
    });
  }

  async #call(units: readonly SyncUnit[]): Promise<void> {
    const { world, log } = this.#options;
    for (const each of units) this.#schedule.began(each);
    this.#called = units;
    for (const each of units) this.#asking.called(each, world.monotonic());
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
      this.#reached(outcome.message);
      return;
    }
    const now = world.monotonic();
    log.warn({ unit, outcome: outcome.kind, reason: outcome.message }, "a sync call failed");
    const fraction = randomFraction(world);
    const retryAfterMs = outcome.kind === "busy" ? outcome.retryAfterMs : undefined;
    this.#schedule.serviceFailed(unit, now, { retryAfterMs, fraction });
    const { message } = outcome;
    if (!isTokenRefused(outcome)) this.#heard({ kind: "unreached", message });
    else this.#heard({ kind: "token-refused", at: world.now(), message });
  }

  /** What was not come to goes before what has more to say. */
  #answered(units: readonly SyncUnit[], { again, later, left, refused }: RoundResult): void {
    const now = this.#options.world.monotonic();
    for (const each of left ?? []) this.#schedule.leftOut(each);
    const served = units.filter((each) => !left?.has(each) && !refused?.has(each));
    for (const each of served) {
      this.#refused.delete(each);
      this.#schedule.succeeded(each, now, again.has(each));
    }
    for (const each of later ?? []) this.#schedule.markDue(each);
    for (const [each, why] of refused ?? []) this.#turnedDown(each, why);
    const [first] = refused?.values() ?? [];
    this.#reached(served.length > 0 ? undefined : first?.message, served);
  }

  #turnedDown(unit: SyncUnit, { kind, status, message }: RefusedCall): void {
    const { world, log } = this.#options;
    log.warn({ unit, outcome: kind, reason: message }, "a sync call failed");
    const code = status === ERROR_STATUS.forbidden ? "call-forbidden" : "call-refused";
    this.#refused.set(unit, { code, said: message });
    this.#schedule.unitFailed(unit, world.monotonic(), randomFraction(world));
  }

  /** A plain service has no live socket: it is not asked for one. */
  #noteKind(): void {
    const plain = this.#rounds.kind === "plain";
    if (plain === this.#contact.plain) return;
    this.#heard({ kind: "exchanges", plain });
    if (plain) this.#live?.pause();
    else this.#live?.resume();
  }

  #reached(message: string | undefined, units: readonly SyncUnit[] = []): void {
    const wasOnline = this.#contact.online && !this.#contact.isSilent;
    this.#heard({ kind: "reached", at: this.#options.world.now(), message }, units);
    if (!wasOnline) this.#live?.serviceAnswered();
  }

  /** `units`: what an answer was about. */
  #heard(event: ContactEvent, units: readonly SyncUnit[] = []): void {
    this.#contact = stepContact(this.#contact, event);
    this.#tellContact();
    this.#options.onContact(units);
  }

  /** Of the embedded service nobody has to be told that it is there. */
  #tellContact(): void {
    const { service, onActivity } = this.#options;
    const told = toldOf(this.contact);
    if (!told || told.event === this.#told || !service.openLive || this.#stopped) return;
    this.#told = told.event;
    onActivity?.({ ...told, service: service.name });
  }

  /** Units whose changes nobody announces. */
  #untold(): SyncUnit[] {
    const units = unitsToSync(this.#options.projects());
    if (this.#contact.socket !== "live") return units;
    return units.filter((unit) => unit !== "own" && !this.#live?.tellsOf(unit));
  }

  /** Where nobody announces changes, they are asked for: a unit at a time. */
  #scheduleAsking(): void {
    if (!this.#live) return;
    const { world, budget } = this.#options;
    const waitMs = (budget?.notBefore("ask") ?? 0) - world.monotonic();
    const delayMs = Math.min(Math.max(ASK_INTERVAL_MS, waitMs), TIMER_MS_MAX);
    this.#askTimer = world.setTimer(delayMs, () => {
      this.#ask();
      this.#scheduleAsking();
    });
  }

  #ask(): void {
    const { world, budget } = this.#options;
    const now = world.monotonic();
    const unit = this.#asking.next(this.#untold(), now);
    if (unit === undefined || (budget?.notBefore("ask") ?? 0) > now) return;
    this.#schedule.markDue(unit, "ask");
    this.#pump();
  }
}

/** The disk or this program failed, not the service; the call is made again later all the same. */
function failedHere(thrown: unknown): Outcome<never> {
  return { kind: "unreachable", message: `it failed on this machine: ${messageOf(thrown)}` };
}
