import { test } from "bun:test";
import { runCase } from "../trust/cases.ts";
import { SHORT } from "../trust/disk/disk.ts";

const TIMEOUT_MS = 120_000;

// In its full length, and with any seed, by `npm run trust -- disk --rounds 100`.
for (const [seed, each] of SHORT.entries()) {
  test.concurrent(`${each.name}, seed ${seed}`, () => runCase(each, seed), TIMEOUT_MS);
}
