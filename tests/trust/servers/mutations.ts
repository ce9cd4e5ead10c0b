import type { Replacement } from "../simulate/replacement.ts";

/** A mistake that somebody could make in the program, and a seed that finds it. */
export interface ServersMutation {
  readonly name: string;
  readonly seed: number;
  readonly replacements: readonly Replacement[];
}

const REPLICA = "shared/replica/postgres/postgres-replica.ts";
const HOLD = "shared/replica/postgres/hold.ts";
const FEED = "shared/replica/postgres/commit-feed.ts";

const COMMIT = "await this.#commit(session, outcomes);";

function mutation(
  name: string,
  seed: number,
  [file, from, to]: readonly [string, string, string],
): ServersMutation {
  return { name, seed, replacements: [{ file, from, to }] };
}

/** Mistakes that the simulation of several servers has to find. */
export const MUTATIONS: readonly ServersMutation[] = [
  mutation("a write is answered before its commit", 1, [
    REPLICA,
    COMMIT,
    `for (const { settle } of outcomes) settle();\n${COMMIT}`,
  ]),
  mutation("a frame leaves before its commit", 1, [
    REPLICA,
    COMMIT,
    `this.#feed.committed(outcomes.flatMap(({ context }) => context.rows), new Map());\n${COMMIT}`,
  ]),
  mutation("a hint is sent before its commit", 2, [
    REPLICA,
    COMMIT,
    `this.#hints.send(changedOwners(outcomes));\n${COMMIT}`,
  ]),
  mutation("an unknown outcome is tried again", 1, [
    "shared/postgres/transaction.ts",
    "if (isToBeRepeated(reason)) return TRIES_MAX;",
    "if (isToBeRepeated(reason) || reason instanceof UnknownOutcome) return TRIES_MAX;",
  ]),
  mutation("a transaction that the database has ended counts as committed", 2, [
    "shared/postgres/transaction.ts",
    "throw isConnectionLost(thrown) ? new UnknownOutcome(thrown) : thrown;",
    "if (isConnectionLost(thrown)) throw new UnknownOutcome(thrown);\n    return;",
  ]),
  mutation("a document in memory counts, whatever others have written", 1, [
    REPLICA,
    "for (const open of this.#openOf(owner)) open.fallBehind();",
    "",
  ]),
  mutation("a document counts the rows of others, and does not take them", 1, [
    "shared/replica/store/open-document.ts",
    "this.#take(rows.updates);",
    "",
  ]),
  {
    name: "nobody holds the account that is written",
    seed: 3,
    replacements: [
      { file: HOLD, from: "ORDER BY owner FOR UPDATE", to: "ORDER BY owner" },
      { file: HOLD, from: " SKIP LOCKED`", to: "`" },
    ],
  },
  mutation("documents in memory outlive a promotion", 2, [
    REPLICA,
    "this.openDocuments.clear();\n    this.#known.clear();",
    "",
  ]),
  mutation("the epoch is kept over a promotion", 2, [
    HOLD,
    "AS is_same,",
    "IS NOT NULL AS is_same,",
  ]),
  mutation("each start has an epoch of its own", 1, [
    "shared/replica/postgres/incarnation.ts",
    "if (known?.is_same) {",
    "if (known?.is_same && newEpoch === known.epoch) {",
  ]),
  mutation("client ids are kept over a promotion", 2, [
    "shared/replica/store/write-context.ts",
    "this.#become(epoch, randomUint32(this.#world));",
    "this.#become(epoch, this.#current.clientId);",
  ]),
  mutation("client ids are kept after an unknown outcome", 1, [
    REPLICA,
    "this.writers.renew();",
    "",
  ]),
  mutation("live sockets outlive a lost tail", 5, [
    FEED,
    "if (found.version < version) return this.#beginAnew();",
    "",
  ]),
  mutation("a write is of its server's time", 1, [
    REPLICA,
    'now: options.clock === "database" ? now : undefined,',
    "now: undefined,",
  ]),
  mutation("what the database may lose is acknowledged", 4, [
    REPLICA,
    "if (held.problem !== undefined) throw new DatabaseFailure(held.problem);",
    "",
  ]),
  mutation("a write does not wait for the disk", 1, [
    REPLICA,
    "!outcomes.some(({ wrote }) => wrote) &&",
    "outcomes.length > 0 &&",
  ]),
  mutation("who listens again does not look for what was missed", 3, [
    "shared/replica/postgres/hints.ts",
    "this.#deps.onGap();",
    "",
  ]),
  mutation("nobody looks for what no hint has told", 1, [FEED, "void this.lookAtAll();", ""]),
  mutation("a deadlock's victim is not tried again", 4, [
    "shared/postgres/failures.ts",
    'new Set(["40001", "40P01"])',
    'new Set(["40001"])',
  ]),
  mutation("what a failed try has edited stays in memory", 2, [
    REPLICA,
    "context.discard();\n      // A write that has written nothing",
    "// A write that has written nothing",
  ]),
  mutation("an Idempotency-Key is looked up by nobody", 1, [
    "server/services/once.ts",
    "if (kept) {",
    'if (kept?.bodyHash === "") {',
  ]),
];

/** What the source has in place of its own text with this mistake in it. */
export function replacementsOf(name: string): readonly Replacement[] {
  const mutant = MUTATIONS.find((each) => each.name === name);
  if (!mutant) throw new Error(`there is no mutation "${name}"`);
  return mutant.replacements;
}
