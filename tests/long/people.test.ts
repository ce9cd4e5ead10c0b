import { expect, test } from "bun:test";
import { anySeed } from "../trust/cases.ts";
import { liveFor } from "../trust/people/people.ts";

const TIMEOUT_MS = 120_000;
// With people who think for minutes, and many more saves, by `npm run trust -- people`.
const HABITS = { thinks: 0, breakMsMax: 1000 };
const SHORT = { saves: 60, machines: 2, projects: 4, forMsMax: 12_000, ...HABITS };

const seed = anySeed();
test(
  `nothing that people save is lost, doubled or comes back by itself, seed ${seed}`,
  async () => {
    const { rows } = await liveFor(SHORT, seed);
    expect(rows.filter(({ met }) => !met)).toEqual([]);
  },
  TIMEOUT_MS,
);
