import { drainMicrotasks } from "bun:jsc";
import type { Timer } from "../../../shared/world.ts";

/** Whose event it is: what a dead process still had to do is never done. */
export interface Owner {
  readonly alive: boolean;
}

/** What belongs to the run itself, and dies with nothing in it. */
export const RUN: Owner = { alive: true };

interface Event {
  readonly at: number;
  readonly order: number;
  readonly owner: Owner;
  run: (() => void) | undefined;
}

/**
 * Virtual time. One event runs at a time, and with it everything that its promises bring along, so
 * that the order of events, and nothing else, decides what happens.
 */
export class Scheduler {
  readonly #heap: Event[] = [];
  #now = 0;
  #events = 0;

  /** Milliseconds since the beginning of the run. */
  get now(): number {
    return this.#now;
  }

  /** How many events have been asked for. */
  get events(): number {
    return this.#events;
  }

  /** Runs `run` after `delayMs`, unless its owner is dead by then. */
  after(delayMs: number, owner: Owner, run: () => void): Timer {
    const event: Event = {
      at: this.#now + Math.max(0, delayMs),
      order: this.#events++,
      owner,
      run,
    };
    this.#push(event);
    return {
      cancel() {
        event.run = undefined;
      },
    };
  }

  /** Resolves after `delayMs`, or never when the owner dies. */
  pause(delayMs: number, owner: Owner): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, owner, resolve));
  }

  /** Runs all events until `time`, and lets it be that time. */
  runUntil(time: number): void {
    drainMicrotasks();
    for (
      let first = this.#heap[0];
      first !== undefined && first.at <= time;
      first = this.#heap[0]
    ) {
      this.#pop();
      const { run, owner, at } = first;
      if (!run || !owner.alive) continue;
      this.#now = at;
      run();
      drainMicrotasks();
    }
    this.#now = Math.max(this.#now, time);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Event;
      if (isBefore(parent, event)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const right = heap[left + 1];
      const below = right && isBefore(right, heap[left] as Event) ? left + 1 : left;
      const child = heap[below] as Event;
      if (isBefore(last, child)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
