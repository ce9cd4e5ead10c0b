import type { World } from "../../shared/world.ts";
import type { SyncUnit } from "../budget/sync-units.ts";
import type { ContactChanged, OnActivity } from "../home/activity.ts";
import type { Service } from "../service/service.ts";
import {
  type Contact,
  type ContactEvent,
  contactNow,
  NO_CONTACT,
  stepContact,
  toldOf,
} from "./contact.ts";

/** Whose contact is kept, and who hears of it. */
export interface ContactKeeperOptions {
  readonly service: Service;
  readonly world: World;
  /** Called at each change; `units`: what an answer was about. */
  readonly onContact: (units: readonly SyncUnit[]) => void;
  readonly onActivity?: OnActivity | undefined;
}

/** Keeps the state of the contact with one service, and tells of changes; see `stepContact`. */
export class ContactKeeper {
  readonly #options: ContactKeeperOptions;
  #heard = NO_CONTACT;
  /** What was told last; undefined before anything was. */
  #told: ContactChanged["event"] | undefined;
  #isStopped = false;

  constructor(options: ContactKeeperOptions) {
    this.#options = options;
  }

  /** The contact now, with a call that waits for its answer taken into account. */
  get now(): Contact {
    const { service, world } = this.#options;
    const since = service.unansweredSince?.();
    if (since === undefined) return contactNow(this.#heard, undefined);
    const waitedMs = world.monotonic() - since;
    return contactNow(this.#heard, { since: world.now() - waitedMs, waitedMs });
  }

  /** Whether the last call was answered and nothing has been silent since. */
  get isHeard(): boolean {
    return this.#heard.online && !this.#heard.isSilent;
  }

  get isPlain(): boolean {
    return this.#heard.plain;
  }

  get isLive(): boolean {
    return this.#heard.socket === "live";
  }

  /** `units`: what an answer was about. */
  hear(event: ContactEvent, units: readonly SyncUnit[] = []): void {
    this.#heard = stepContact(this.#heard, event);
    this.#tell();
    this.#options.onContact(units);
  }

  /** No change is told any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** The embedded service is part of this home, so nobody is told that it is there. */
  #tell(): void {
    const { service, onActivity } = this.#options;
    const told = toldOf(this.now);
    if (!told || told.event === this.#told || !service.openLive || this.#isStopped) return;
    this.#told = told.event;
    onActivity?.({ ...told, service: service.name });
  }
}
