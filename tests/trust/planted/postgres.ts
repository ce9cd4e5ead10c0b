import { type Mistake, mistakesIn } from "./mistake.ts";

const LIMITS = "unit/limits-on-postgres.test.ts";
const HELD_UP = "long/held-up-servers.test.ts";
const EXACT =
  "four servers whose clocks are a day apart charge no 60 seconds more than the plan, seed 1";

const failures = mistakesIn("shared/postgres/failures.ts", HELD_UP);

/** In what servers on one PostgreSQL do where they are held up, and in what they count together. */
export const POSTGRES: readonly Mistake[] = [
  mistakesIn("server/stores/shared-count-store.ts", LIMITS)(
    "two servers charge one account at the same time",
    EXACT,
    "order by account for update skip locked",
    "order by account",
  ),
  mistakesIn("server/limits/shared-limits.ts", LIMITS)(
    "requests are counted by their server's clock",
    EXACT,
    "change(accounts, (counts, now) => {",
    "change(accounts, (counts) => {\n        const now = this.world.now();",
  ),
  failures(
    "who waits for a lock in vain is told of a failure",
    "calls that find no connection, for others hold all of them, are refused and leave nothing",
    '  "55P03":',
    '  "no code":',
  ),
  failures(
    "a commit without an answer is told as one that failed",
    "a database that is silent from just after it gets a COMMIT on leaves nobody guessing",
    "return isUnanswered(thrown) || LOST",
    "return LOST",
  ),
  mistakesIn("shared/replica/postgres/incarnation.ts", "unit/postgres-replica.test.ts")(
    "a database is the same, whoever has put its rows back",
    "a database whose rows were put back, as by a dump, is another one",
    "AND coalesce(written_by, xmin::text) = xmin::text",
    "",
  ),
];
