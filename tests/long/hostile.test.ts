import { expect, test } from "bun:test";
import { seededRandom } from "../support/random.ts";
import { attackAdmission } from "../trust/hostile/admission.ts";
import { attackEndpoint } from "../trust/hostile/endpoint.ts";

const TIMEOUT_MS = 120_000;
// In their full number, and with any seed, by `npm run trust -- hostile --inputs 1000000`.
const UPDATES = 2000;
const REQUESTS = 500;
const SEED = 1;

test(
  `hostile updates are refused, or taken in soundly, seed ${SEED}`,
  () => {
    const { inputs, admitted, refused } = attackAdmission(seededRandom(SEED), UPDATES);
    expect(inputs).toBe(UPDATES);
    expect(admitted).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(admitted);
  },
  TIMEOUT_MS,
);

test(
  `hostile requests fail nothing, and reach nothing of another account, seed ${SEED}`,
  async () => {
    const { inputs, statuses } = await attackEndpoint(seededRandom(SEED), REQUESTS);
    expect(inputs).toBeGreaterThanOrEqual(REQUESTS);
    for (const status of [200, 400, 401, 404]) expect(statuses[status]).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
