import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { globalDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { World } from "../../shared/world.ts";
import { findAudience, keepHeard } from "../home/audience-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { within } from "../home/within.ts";
import { hearAccount } from "./hear-audience.ts";
import type { OpenRemote } from "./open-remotes.ts";

const MINUTE_MS = 60_000;
/** Who has just been told is not asked again. */
const FRESH_MS = MINUTE_MS;
/** Where nobody has agreed to being read by others, who may have come just now. */
const UNAGREED_MS = 5000;
/** So old may what is shown be, where nobody writes. */
const SHOWN_MS = 60 * MINUTE_MS;
/** A service that did not answer is left alone for so long. */
const SILENT_MS = MINUTE_MS / 2;
/** A person who writes waits for no longer. */
const PATIENCE_MS = 2000;

interface AudiencesOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
}

/** An asking that is under way or over. */
interface Asked {
  /** By the steady clock. */
  readonly at: number;
  readonly over: Promise<void>;
  answered: boolean;
}

/** Keeps what services say of who shares each remote's account, for as few requests as will do. */
export class Audiences {
  readonly #options: AudiencesOptions;
  readonly #asked = new WeakMap<OpenRemote["service"], Asked>();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: AudiencesOptions) {
    this.#options = options;
  }

  /** Somebody writes for all of them: asks unless that was done lately, and waits a moment. */
  async before(open: OpenRemote): Promise<void> {
    const { world, store } = this.#options;
    const { agreed } = await findAudience(store.reader, open.remote);
    const freshMs = agreed ? FRESH_MS : UNAGREED_MS;
    // What went wrong is in the log, and what was heard last goes on to count.
    await within(world, PATIENCE_MS, { work: this.#hear(open, freshMs) }).catch(() => false);
  }

  /** The service has answered: who sees what is in `global` is asked in a while, if at all. */
  contacted(open: OpenRemote): void {
    if (open.remote.url === undefined || this.#isFresh(open, SHOWN_MS)) return;
    if ((open.service.budget?.notBefore("change") ?? 0) > 0) return;
    this.#track(this.#hearWhereShown(open));
  }

  /** Resolves when nothing is under way; services have to be told to give up their calls before. */
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

  /** Where `global` is empty nobody is shown who would see it. */
  async #hearWhereShown(open: OpenRemote): Promise<void> {
    const { reader } = this.#options.store;
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

  #isFresh({ service }: OpenRemote, freshMs: number): boolean {
    const asked = this.#asked.get(service);
    if (!asked) return false;
    const ageMs = this.#options.world.monotonic() - asked.at;
    return ageMs < (asked.answered ? freshMs : SILENT_MS);
  }

  #hear(open: OpenRemote, freshMs: number): Promise<void> {
    const { service, remote } = open;
    const former = this.#asked.get(service);
    if (remote.url === undefined || service.isBlocked) return Promise.resolve();
    if (former && this.#isFresh(open, freshMs)) return former.over;
    const at = this.#options.world.monotonic();
    const over = this.#ask(open).then((answered) => {
      asked.answered = answered;
    });
    const asked: Asked = { at, over, answered: false };
    this.#asked.set(service, asked);
    this.#track(over);
    return over;
  }

  /** False: it did not answer, and what it said last goes on to count. */
  async #ask({ service, remote }: OpenRemote): Promise<boolean> {
    const { store, world } = this.#options;
    const heard = await hearAccount(service);
    if (heard) await store.write(({ db }) => keepHeard(db, remote, { heard, now: world.now() }));
    return heard !== undefined;
  }
}
