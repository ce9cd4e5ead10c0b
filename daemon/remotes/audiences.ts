import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { globalDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { World } from "../../shared/world.ts";
import { findAudience, keepHeard } from "../home/audience-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { within } from "../home/within.ts";
import { hearAccount, parseAccount } from "./hear-audience.ts";
import type { OpenRemote } from "./open-remotes.ts";

const MINUTE_MS = 60_000;
/** A writer who has agreed to everybody is told an answer of this age: many may write at once. */
const AGREED_MS = 1000;
/** A writer is told an answer of this age where the account's requests are scarce. */
const SCARCE_MS = MINUTE_MS;
/** If nobody writes, an answer of this age is good enough to show. */
const SHOWN_MS = 60 * MINUTE_MS;
/** A service that has not told on its live socket by then is asked whose the token is. */
const UNTOLD_MS = MINUTE_MS;
/** A service that did not answer is left alone for this time. */
const SILENT_MS = MINUTE_MS / 2;
/** A person who writes waits at most this long. */
const PATIENCE_MS = 2000;

interface AudiencesOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
}

/** A question that is under way or was answered. */
interface Asked {
  /** By the steady clock. */
  readonly at: number;
  readonly over: Promise<void>;
  /** `back`: it gave no answer, and has answered something else since. */
  state: "asking" | "answered" | "silent" | "back";
}

/** Keeps track of who can read each remote's `global`, with as few requests as possible. */
export class Audiences {
  readonly #options: AudiencesOptions;
  readonly #asked = new WeakMap<OpenRemote["service"], Asked>();
  /** Services that tell by themselves, on their live sockets. */
  readonly #tellers = new WeakSet<OpenRemote["service"]>();
  readonly #contacts = new WeakMap<OpenRemote["service"], number>();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: AudiencesOptions) {
    this.#options = options;
  }

  /**
   * Before a write that all of them can read: asks, because one of them may just have come, and
   * waits a moment. Not asked: a service that was silent lately, and one whose requests are scarce.
   */
  async before(open: OpenRemote): Promise<void> {
    const { world, store } = this.#options;
    const { agreed } = await findAudience(store.reader, open.remote);
    const isScarce = (open.service.budget?.notBefore("change") ?? 0) > 0;
    const work = this.#hear(open, isScarce ? SCARCE_MS : agreed ? AGREED_MS : 0);
    // A failure is in the log, and the last answer stays.
    await within(world, PATIENCE_MS, { work }).catch(() => false);
  }

  /** Whether the service would have told of a change since its last answer. */
  isCurrent({ service, engine }: OpenRemote): boolean {
    return engine.contact.socket === "live" && this.#tellers.has(service);
  }

  /** The service answered a call. Asks it about readers later, if somebody is shown the answer. */
  contacted(open: OpenRemote): void {
    const asked = this.#asked.get(open.service);
    if (asked?.state === "silent") asked.state = "back";
    if (open.remote.url === undefined || this.#isFresh(open, SHOWN_MS)) return;
    if ((open.service.budget?.notBefore("change") ?? 0) > 0) return;
    this.#track(this.#hearWhereShown(open));
  }

  /** The service told it by itself, on its live socket. */
  told({ service, remote }: OpenRemote, told: unknown): void {
    if (remote.url === undefined) return;
    const over = this.#keep({ service, remote }, parseAccount(told));
    this.#tellers.add(service);
    this.#asked.set(service, { at: this.#options.world.monotonic(), over, state: "answered" });
    this.#track(over);
  }

  /**
   * Resolves when no question is under way. The services must have been told to end their calls.
   */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  #track(work: Promise<unknown>): void {
    const over = work
      .catch((thrown) => {
        const reason = messageOf(thrown);
        this.#options.log.warn({ reason }, "who shares an account could not be looked up");
      })
      .finally(() => this.#underWay.delete(over));
    this.#underWay.add(over);
  }

  /** While `global` is empty, nobody is shown its readers. */
  async #hearWhereShown(open: OpenRemote): Promise<void> {
    const { reader } = this.#options.store;
    if (await this.#isUntold(open)) return await this.#hear(open, SHOWN_MS);
    const { owner, name } = globalDocument(open.remote.account);
    const memory = await reader
      .selectFrom("memories")
      .innerJoin("documents", "documents.id", "memories.document_id")
      .select("memories.key")
      .where("documents.owner", "=", owner)
      .where("documents.name", "=", name)
      .limit(1)
      .executeTakeFirst();
    if (memory) await this.#hear(open, SHOWN_MS);
  }

  /** Whether it is unknown whose token this is, although the service had time to tell. */
  async #isUntold({ service, remote }: OpenRemote): Promise<boolean> {
    const now = this.#options.world.monotonic();
    const since = this.#contacts.get(service) ?? now;
    this.#contacts.set(service, since);
    if (service.tokenDigest === undefined || now - since < UNTOLD_MS) return false;
    const { tokens } = await findAudience(this.#options.store.reader, remote);
    return !tokens.includes(service.tokenDigest);
  }

  #isFresh({ service }: OpenRemote, freshMs: number): boolean {
    const asked = this.#asked.get(service);
    if (!asked) return false;
    const ageMs = this.#options.world.monotonic() - asked.at;
    if (asked.state === "answered") return ageMs < freshMs;
    return ageMs < (asked.state === "back" ? Math.min(freshMs, SILENT_MS) : SILENT_MS);
  }

  #hear(open: OpenRemote, freshMs: number): Promise<void> {
    const { service, remote } = open;
    const former = this.#asked.get(service);
    if (remote.url === undefined || service.isBlocked) return Promise.resolve();
    if (former && this.#isFresh(open, freshMs)) return former.over;
    const at = this.#options.world.monotonic();
    const over = this.#ask(open).then((answered) => {
      asked.state = answered ? "answered" : "silent";
    });
    const asked: Asked = { at, over, state: "asking" };
    this.#asked.set(service, asked);
    this.#track(over);
    return over;
  }

  /** False: the service did not answer, and its last answer stays. */
  async #ask({ service, remote }: OpenRemote): Promise<boolean> {
    const heard = await hearAccount(service);
    if (heard) await this.#keep({ service, remote }, heard);
    return heard !== undefined;
  }

  async #keep(
    { service, remote }: Pick<OpenRemote, "service" | "remote">,
    heard: Account,
  ): Promise<void> {
    const { store, world } = this.#options;
    const told = { heard, now: world.now(), token: service.tokenDigest };
    await store.write(({ db }) => keepHeard(db, remote, told));
  }
}
