import { expect } from "bun:test";
import { LINUX, testWith } from "../support/needs.ts";
import { runCase } from "../trust/cases.ts";
import { workDay } from "../trust/day/working-day.ts";

const TIMEOUT_MS = 120_000;
// Longer, with any seed and with what memory does meanwhile, by `npm run trust -- day`.
const DAY = { steps: 60, samples: 3 };
const SEED = 1;

testWith(
  LINUX,
  `a day of work leaves no descriptor and no watch behind, seed ${SEED}`,
  async () => {
    await runCase(
      {
        name: "day",
        run: async (lab, random) => {
          const held = await workDay(lab, random, DAY);
          const [first] = held;
          for (const { descriptors, watches } of held) {
            expect({ descriptors, watches }).toEqual({
              descriptors: first?.descriptors ?? 0,
              watches: first?.watches ?? 0,
            });
          }
        },
      },
      SEED,
    );
  },
  TIMEOUT_MS,
);
