import { expect, test } from "bun:test";
import { anySeed, runCase } from "./cases.ts";
import { killRounds } from "./kill/rounds.ts";

const TIMEOUT_MS = 120_000;
// In its full length by `npm run trust -- kill --rounds 500`.
const ROUNDS = 3;

const seed = anySeed();
test(
  `processes killed under load lose nothing acknowledged, seed ${seed}`,
  async () => {
    await runCase(
      {
        name: "kill",
        run: async (lab, random) => {
          expect((await killRounds(lab, random, ROUNDS)).rounds).toBe(ROUNDS);
        },
      },
      seed,
    );
  },
  TIMEOUT_MS,
);
