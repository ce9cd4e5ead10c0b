import { test } from "bun:test";
import { anySeed, runCase } from "./cases.ts";
import { DAMAGE } from "./disk/damage.ts";
import { FULL } from "./disk/full.ts";
import { REFUSALS } from "./disk/refusals.ts";

const TIMEOUT_MS = 120_000;

// Many times over by `bun run trust disk --rounds 100`.
for (const each of [...DAMAGE, ...FULL, ...REFUSALS]) {
  const seed = anySeed();
  test.concurrent(`${each.name}, seed ${seed}`, () => runCase(each, seed), TIMEOUT_MS);
}
