import { RequestBudget } from "../../../daemon/budget/request-budget.ts";
import {
  createCalls,
  type HttpServiceOptions,
  type Send,
} from "../../../daemon/service/http-service.ts";
import type { LiveHandlers, Service } from "../../../daemon/service/service.ts";
import { olderSend } from "../../support/older-service.ts";
import { CallWatch } from "./call-watch.ts";
import { LiveWire } from "./live-wire.ts";
import type { Network } from "./network.ts";
import type { SimProcess } from "./process.ts";

/** Whose calls they are, and who hears of them. */
export interface MachineCallsOptions {
  readonly name: string;
  readonly network: Network;
  /** See `Cast`. */
  readonly batches: boolean;
  readonly process: SimProcess;
  readonly report: (problem: string) => void;
  readonly note: (line: string) => void;
}

/** What one process of a machine calls its services by: real calls over the simulated network. */
export class MachineCalls {
  /** One of each service that was connected, in order. */
  readonly watches: CallWatch[] = [];
  readonly #options: MachineCallsOptions;
  readonly #wires: LiveWire[] = [];

  constructor(options: MachineCallsOptions) {
    this.#options = options;
  }

  /** The service at an address. */
  connect({ url, token }: HttpServiceOptions): Service {
    const { name, network, batches, process } = this.#options;
    const { world } = process;
    const calls = this.#watch();
    const budget = new RequestBudget(url, world);
    const underWay = new Map<AbortController, number>();
    const overNetwork: Send = (request) => network.send(name, process, request);
    const send = calls.count(batches ? overNetwork : olderSend(overNetwork));
    const made = createCalls({ send, base: url, token, world, budget, underWay });
    return {
      ...made,
      name: url,
      budget,
      exchange: calls.watch(made.exchange),
      exchangeBatch: calls.watchBatch(made.exchangeBatch),
      openLive: (handlers) => {
        budget.sent();
        let isLive = false;
        const frame: LiveHandlers["frame"] = (each) => {
          if (each.type === "subscribed" && !isLive) calls.hurried();
          isLive ||= each.type === "subscribed";
          handlers.frame(each);
        };
        const server = network.serverAt(url);
        const watched = { ...handlers, frame };
        const wire = new LiveWire(network, name, process, server, token, watched);
        this.#wires.push(wire);
        return wire;
      },
      abandonCalls: () => {
        for (const abort of underWay.keys()) abort.abort();
      },
      close: async () => {},
    };
  }

  #watch(): CallWatch {
    const { name, network, report, note } = this.#options;
    const watch = new CallWatch(
      () => network.scheduler.now,
      (problem) => report(`${name} ${problem}`),
      (line) => note(`${name} ${line}`),
    );
    this.watches.push(watch);
    return watch;
  }

  cut(): void {
    for (const wire of this.#wires) wire.cut();
  }

  /** The process is gone. */
  abandon(): void {
    for (const wire of this.#wires) wire.abandon();
  }
}
