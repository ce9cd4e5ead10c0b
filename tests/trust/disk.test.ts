import { test } from "bun:test";
import { anySeed, runCase } from "./cases.ts";
import { SHORT } from "./disk/disk.ts";

const TIMEOUT_MS = 120_000;

// In its full length by `npm run trust -- disk --rounds 100`.
for (const each of SHORT) {
  const seed = anySeed();
  test.concurrent(`${each.name}, seed ${seed}`, () => runCase(each, seed), TIMEOUT_MS);
}
