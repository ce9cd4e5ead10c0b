import { expect, test } from "bun:test";
import { runCase } from "../trust/cases.ts";
import { killRounds } from "../trust/kill/rounds.ts";

const TIMEOUT_MS = 120_000;
// In its full length, and with any seed, by `npm run trust -- kill --rounds 500`.
const ROUNDS = 3;
const SEED = 1;

test(
  `processes killed under load lose nothing acknowledged, seed ${SEED}`,
  async () => {
    await runCase(
      {
        name: "kill",
        run: async (lab, random) => {
          expect((await killRounds(lab, random, ROUNDS)).rounds).toBe(ROUNDS);
        },
      },
      SEED,
    );
  },
  TIMEOUT_MS,
);
