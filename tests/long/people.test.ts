import { expect, test } from "bun:test";
import { liveFor } from "../trust/people/people.ts";

const TIMEOUT_MS = 600_000;
// With people who think for minutes, many more saves and any seed, by `npm run trust -- people`.
const HABITS = { thinks: 0, breakMsMax: 1000 };
const SHORT = { saves: 60, machines: 2, projects: 4, forMsMax: 12_000, ...HABITS };

const SEED = 1;
test(
  `nothing that people save is lost, doubled or comes back by itself, seed ${SEED}`,
  async () => {
    const { rows } = await liveFor(SHORT, SEED);
    expect(rows.filter(({ met }) => !met)).toEqual([]);
  },
  TIMEOUT_MS,
);
