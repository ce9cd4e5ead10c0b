/** How long every write took to be shown on each of the other machines, in milliseconds. */
export interface Arrivals {
  written(machine: number, count: number, now: number): void;
  /** `machine` shows the write number `count` of `writer`, and so all before it. */
  shown(machine: number, writer: number, count: number, now: number): void;
  readonly delays: readonly number[];
  /** Writes that some machine does not show yet. */
  missing(): number;
}

export function createArrivals(machines: number): Arrivals {
  const writtenAt = Array.from({ length: machines }, (): number[] => []);
  const shown = Array.from({ length: machines }, () => Array<number>(machines).fill(0));
  const delays: number[] = [];
  return {
    delays,
    written(machine, count, now) {
      const times = writtenAt[machine];
      if (times) times[count - 1] = now;
    },
    shown(machine, writer, count, now) {
      const seen = shown[machine];
      if (!seen || machine === writer) return;
      for (let each = seen[writer] ?? 0; each < count; each++) {
        delays.push(now - (writtenAt[writer]?.[each] ?? now));
      }
      seen[writer] = Math.max(count, seen[writer] ?? 0);
    },
    missing: () => {
      const behind = shown.flatMap((seen, machine) => {
        return seen.map((count, writer) => {
          return machine === writer ? 0 : (writtenAt[writer]?.length ?? 0) - count;
        });
      });
      return behind.reduce((sum, each) => sum + each, 0);
    },
  };
}
