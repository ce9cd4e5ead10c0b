import { type Mistake, mistakesIn } from "./mistake.ts";

const TESTS = "unit/emulator-faults.test.ts";

const rules = mistakesIn("server/emulator/faults/fault-rules.ts", TESTS);

/** In the emulator's faults, and in what a refused request costs. */
export const EMULATOR: readonly Mistake[] = [
  rules(
    "a fault never ends",
    "a fault goes off once, or as often as it says, and counts its hits",
    "if (kept.hits >= kept.times || !concerns",
    "if (!concerns",
  ),
  rules(
    "a fault of one token is everybody's",
    "a fault of one token is no other's, and goes with its reset",
    "if (account !== undefined && account !== request.account) return false;",
    "",
  ),
  mistakesIn("server/emulator/faults/misbehaviour.ts", TESTS)(
    "a connection that is cut after the commit is cut before it",
    "a connection is cut before the commit, or after it",
    'silent === true || disconnect === "before" ||',
    "silent === true || disconnect !== undefined ||",
  ),
  mistakesIn("server/emulator/faults/refuse-item.ts", TESTS)(
    "an item that is refused is taken",
    "one item of a sync is refused as the service refuses it",
    "...crdt, [part]: rest } },",
    "...crdt, [part]: crdt[part] } },",
  ),
  mistakesIn("server/limits/quota.ts", "unit/body-budget.test.ts")(
    "a request that is refused after its charge costs one",
    "a body whose room runs out while it is read costs nothing, and its answer says so",
    "if (thrown instanceof RateLimited)\n    Object",
    "if (thrown === undefined)\n    Object",
  ),
];
