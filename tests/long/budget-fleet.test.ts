import { expect, test } from "bun:test";
import { runBusyDay } from "../trust/budget/busy-day.ts";

// Whole days, and other seeds, by `npm run trust -- budget --seeds N`.
const HOUR_MS = 60 * 60 * 1000;
const SEED = 1;

for (const sockets of [true, false]) {
  test(`ten busy machines stay within the account's requests, ${sockets ? "with" : "without"} sockets`, async () => {
    const day = { seed: SEED, sockets, beginsAt: 9 * HOUR_MS, busyMs: HOUR_MS, quietMs: HOUR_MS };
    const { problems, refused } = await runBusyDay(day);
    expect({ seed: SEED, problems, refused }).toEqual({ seed: SEED, problems: [], refused: 0 });
  }, 600_000);
}
