import { CALLS, expectAllOrNothing } from "../support/killed-emulator.ts";
import { scenario } from "../support/lab.ts";

/** In the middle of what it writes; other moments are in `tests/long`. */
const MOMENT = 500_000;

for (const each of CALLS) {
  scenario(`a kept folder has all of a killed ${each[0]} or nothing of it`, (lab) =>
    expectAllOrNothing(lab, each, [MOMENT]),
  );
}
