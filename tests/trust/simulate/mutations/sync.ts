import { type Mutation, mutation } from "./mutation.ts";

/** In syncing. */
export const SYNC: readonly Mutation[] = [
  mutation(
    "the service's word that it has lost data is not heard",
    26,
    "daemon/sync/incoming.ts",
    "if (answer.reset || answer.missing) {",
    "if (answer.reset === null) {",
  ),
  mutation(
    "what is written during a call counts as acknowledged by it",
    8,
    "daemon/sync/incoming.ts",
    "Math.max(sent.throughSeq, position.ackedSeq)",
    "open.head.seq",
  ),
  mutation(
    "first contact counts as an acknowledgement",
    1,
    "daemon/sync/incoming.ts",
    "Math.max(acked, wasEmpty ? Math.min(open.head.seq, FIRST_ROW) : 0);",
    "Math.max(acked, sent.firstContact ? open.head.seq : 0);",
  ),
  mutation(
    "a live frame is taken although one before it has not come",
    7,
    "daemon/sync/incoming.ts",
    "remote.seq + 1 === seq",
    "remote.seq < seq",
  ),
  {
    // Both obey it: one for its own backoff, one for everybody and over a restart.
    name: "Retry-After is not obeyed",
    found: 5,
    replacements: [
      {
        file: "daemon/budget/schedule.ts",
        from: "this.#askedToWaitUntil = now + (retryAfterMs ?? 0);",
        to: "this.#askedToWaitUntil = retryAfterMs === undefined ? 0 : now;",
      },
      {
        file: "daemon/budget/budget.ts",
        from: "this.#closedUntil = Math.max(this.#closedUntil, now + retryAfterMs);",
        to: "this.#closedUntil = 0;",
      },
    ],
  },
  mutation(
    "calls keep no distance",
    4,
    "daemon/budget/schedule.ts",
    "const notBefore = again ? now : now + CALL_DISTANCE_MS;",
    "const notBefore = again ? now : now + CALL_DISTANCE_MS / 10;",
  ),
  mutation(
    "what is written during a call goes at once",
    1,
    "daemon/sync/incoming.ts",
    "ackedSeq === 0 && open.head.seq > 0 : sent.more;",
    "ackedSeq === 0 && open.head.seq > 0 : open.head.seq > ackedSeq;",
  ),
  mutation(
    "the answer about one of several projects is taken for another's",
    13,
    "daemon/sync/batch-round.ts",
    'return projects.get(unit) ?? { kind: "later" };',
    'return [...projects.values()].at(-1) ?? { kind: "later" };',
  ),
  mutation(
    "of several projects all count as acknowledged, and one was sent",
    13,
    "daemon/sync/batch-round.ts",
    "unit, { name: projects().get(unit) ?? unit, documents }",
    "unit, { documents: request.projects.size > 0 ? { project: {} } : documents }",
  ),
  mutation(
    "of one project of several only the question is heard",
    13,
    "server/routes/api/project-parts.ts",
    "{ documents, createMissing: true, name }",
    "{ documents: { project: {} }, createMissing: true, name }",
  ),
  mutation(
    "the inbox is applied again at each start",
    18,
    "daemon/inbox/drain-inbox.ts",
    'if (writes.length > 0) await context.db.deleteFrom("inbox").execute();',
    "",
  ),
];
