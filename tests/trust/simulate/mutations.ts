import type { Replacement } from "./replacement.ts";

/** A mistake that somebody could make in the program, and a seed that has found it. */
export interface Mutation {
  readonly name: string;
  readonly replacements: readonly Replacement[];
  /** Others may find it, too; which one does may change with everything else in the program. */
  readonly seed: number;
}

function mutation(name: string, seed: number, file: string, from: string, to: string): Mutation {
  return { name, seed, replacements: [{ file, from, to }] };
}

/** Mistakes that the simulation has to find. */
export const MUTATIONS: readonly Mutation[] = [
  mutation(
    "a commit is not flushed",
    4,
    "shared/sqlite/database.ts",
    '"PRAGMA synchronous = FULL"',
    '"PRAGMA synchronous = OFF"',
  ),
  mutation(
    "a file is not flushed before it gets its name",
    28,
    "daemon/sources/twin-file.ts",
    "await handle.sync();",
    "",
  ),
  mutation(
    "a write is answered before its commit",
    2,
    "shared/replica/store.ts",
    "settle.push(await runOne(write, context, db, writes.length));",
    "(await runOne(write, context, db, writes.length))();",
  ),
  mutation(
    "what was rolled back stays in memory",
    7,
    "shared/replica/write-context.ts",
    "this.openDocuments.delete(addressKey(document.address));\n    }\n    this.rows = [];",
    "}\n    this.rows = [];",
  ),
  mutation(
    "a service that was restored writes under its former client id",
    4,
    "server/open-store.ts",
    "writer: newWriter(world, SERVICE_MACHINE)",
    "writer: { ...newWriter(world, SERVICE_MACHINE), clientId: 7 }",
  ),
  mutation(
    "a service's epoch is always the same",
    4,
    "server/open-store.ts",
    "writer: newWriter(world, SERVICE_MACHINE)",
    'writer: { ...newWriter(world, SERVICE_MACHINE), epoch: "always" }',
  ),
  mutation(
    "the epoch of a position is not looked at",
    4,
    "shared/replica/exchange.ts",
    "(await epochOfRow(db, open.id, seq)) === epoch",
    '(await epochOfRow(db, open.id, seq)) !== ""',
  ),
  mutation(
    "replicas with equal state vectors are taken for equal",
    5,
    "shared/replica/open-document.ts",
    'if (admission.kind !== "admitted") return admission;',
    'if (admission.kind !== "admitted" || !admission.adds) return admission;',
  ),
  mutation(
    "an update is taken although what it builds on is missing",
    4,
    "shared/replica/open-document.ts",
    'if (admission.kind !== "admitted") return admission;',
    'if (admission.kind === "refused") return admission;',
  ),
  mutation(
    "concurrent entries stand in the order in which they came",
    1,
    "shared/replica/entry-index.ts",
    "if (entries.length > 1) entries.sort(winnerFirst);",
    "",
  ),
  mutation(
    "of two equal lines both are dropped",
    5,
    "shared/replica/doubled-lines.ts",
    "const dropped = linesOf(pairs.map(([, second]) => second));",
    "const dropped = linesOf(pairs.flat());",
  ),
  mutation(
    "a value over its limit is taken into a document",
    12,
    "shared/wire/memory.ts",
    "content: text({ nonEmpty: true, bytesMax: LIMITS.memoryValueBytes }),",
    "content: text({ nonEmpty: true }),",
  ),
  mutation(
    "the service's word that it has lost data is not heard",
    4,
    "daemon/sync/incoming.ts",
    "if (answer.reset || answer.missing) {",
    "if (answer.reset === null) {",
  ),
  mutation(
    "what is written during a call counts as acknowledged by it",
    1,
    "daemon/sync/incoming.ts",
    "Math.max(sent.throughSeq, position.ackedSeq)",
    "open.head.seq",
  ),
  mutation(
    "first contact counts as an acknowledgement",
    1,
    "daemon/sync/incoming.ts",
    "sent.firstContact && wasEmpty ?",
    "sent.firstContact ?",
  ),
  mutation(
    "a live frame is taken although one before it has not come",
    6,
    "daemon/sync/incoming.ts",
    "remote.seq + 1 === seq",
    "remote.seq < seq",
  ),
  mutation(
    "a live frame of another epoch is taken for the next",
    728,
    "daemon/sync/incoming.ts",
    "const isNext = remote.epoch === epoch && remote.seq + 1",
    "const isNext = remote.seq + 1",
  ),
  {
    // Both obey it: one for its own backoff, one for everybody and over a restart.
    name: "Retry-After is not obeyed",
    seed: 5,
    replacements: [
      {
        file: "daemon/sync/schedule.ts",
        from: "this.#askedToWaitUntil = now + (retryAfterMs ?? 0);",
        to: "this.#askedToWaitUntil = retryAfterMs === undefined ? 0 : now;",
      },
      {
        file: "daemon/sync/budget.ts",
        from: "this.#closedUntil = Math.max(this.#closedUntil, now + retryAfterMs);",
        to: "this.#closedUntil = 0;",
      },
    ],
  },
  mutation(
    "calls keep no distance",
    1,
    "daemon/sync/schedule.ts",
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
    "the inbox is applied again at each start",
    1,
    "daemon/drain-inbox.ts",
    'if (writes.length > 0) await context.db.deleteFrom("inbox").execute();',
    "",
  ),
  mutation(
    "a save is compared with the live text instead of its base",
    3,
    "daemon/sources/file-edit.ts",
    "document.editText(seen, lines)",
    "document.editText(document.captureText(), lines)",
  ),
  mutation(
    "a buffer's age is forgotten",
    3,
    "daemon/sources/save-base.ts",
    "return { ...known, base: withLinesOf(known.base, current.base, lines) };",
    "return current;",
  ),
  mutation(
    "of two copies the one stays that is not this machine's",
    5,
    "shared/replica/doubled-lines.ts",
    "return one.at < other.at ? [one, other] : [other, one];",
    'return one.lines[0]?.side === "theirs" ? [one, other] : [other, one];',
  ),
];
