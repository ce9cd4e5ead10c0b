import pg from "pg";
import { type AccountId, asAccountId } from "../../ids.ts";
import { parseJson } from "../../json.ts";
import { clientConfig, processIdOf } from "../../postgres/pool.ts";
import type { Timer, World } from "../../world.ts";

const CHANNEL = "memsync_commits";

/** Hints are collected for this long before they are sent. */
const GATHERED_MS = 5;

/** A connection that was lost is made anew after this time. */
const AGAIN_MS = 1000;

/** A notification takes 8,000 bytes at most; an account's id is short. */
const OWNERS_MAX = 100;

interface HintsDeps {
  readonly address: string;
  readonly world: World;
  /** Another server has committed something of an owner. */
  readonly onHint: (owner: AccountId) => void;
  /** Hints may have been missed. */
  readonly onGap: () => void;
}

/**
 * Tells other servers of a database whose commits have come, and hears of theirs, on a connection
 * of its own: a notification within a write would take a lock of the whole cluster. Hints may be
 * lost, because a server that hears one reads what was committed.
 */
export class Hints {
  readonly #deps: HintsDeps;
  readonly #gathered = new Set<AccountId>();
  #client: pg.Client | undefined;
  #sending: Timer | undefined;
  #again: Timer | undefined;
  #isStopped = false;

  constructor(deps: HintsDeps) {
    this.#deps = deps;
  }

  /** Resolves when the connection was tried once. */
  async start(): Promise<void> {
    const client = new pg.Client({ ...clientConfig(this.#deps.address), pipeline: true });
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    client.on("notification", ({ processId, payload = "" }) => {
      if (processId === processIdOf(client)) return;
      for (const owner of ownersIn(payload)) this.#deps.onHint(owner);
    });
    this.#client = client;
    try {
      await client.connect();
      // A hint needs no disk, and waits for no standby.
      await client.query("SET synchronous_commit = off");
      await client.query(`LISTEN ${CHANNEL}`);
      this.#deps.onGap();
    } catch {
      this.#lost(client);
    }
  }

  /** Others hear of it soon. */
  send(owners: readonly AccountId[]): void {
    for (const owner of owners) this.#gathered.add(owner);
    if (this.#isStopped || this.#gathered.size === 0) return;
    this.#sending ??= this.#deps.world.setTimer(GATHERED_MS, () => {
      this.#sending = undefined;
      void this.#sendGathered();
    });
  }

  async stop(): Promise<void> {
    this.#sending?.cancel();
    await this.#sendGathered();
    this.#isStopped = true;
    this.#again?.cancel();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  async #sendGathered(): Promise<void> {
    const owners = [...this.#gathered];
    this.#gathered.clear();
    for (let at = 0; at < owners.length; at += OWNERS_MAX) {
      const payload = JSON.stringify(owners.slice(at, at + OWNERS_MAX));
      try {
        await this.#client?.query("SELECT pg_notify($1, $2)", [CHANNEL, payload]);
      } catch {
        // A lost hint does no harm: other servers look every few seconds anyway.
        return;
      }
    }
  }

  #lost(client: pg.Client): void {
    if (this.#isStopped || this.#client !== client) return;
    this.#client = undefined;
    client.end().catch(() => {});
    this.#again = this.#deps.world.setTimer(AGAIN_MS, () => void this.start());
  }
}

function ownersIn(payload: string): AccountId[] {
  try {
    const owners = parseJson(payload);
    if (!Array.isArray(owners)) return [];
    // Anything else that is sent on the channel is no account, so nothing is found for it.
    return owners.flatMap((each) => (typeof each === "string" ? [asAccountId(each)] : []));
  } catch {
    return [];
  }
}
