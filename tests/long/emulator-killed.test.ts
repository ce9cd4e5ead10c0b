import { CALLS, expectAllOrNothing } from "../support/killed-emulator.ts";
import { scenario } from "../support/lab.ts";

/** Before it writes, as it begins to, and near the end. */
const MOMENTS = [0, 1, 2_500_000];

for (const each of CALLS) {
  scenario(
    `a kept folder has all of a killed ${each[0]} or nothing, whenever it is killed`,
    (lab) => expectAllOrNothing(lab, each, MOMENTS),
  );
}
