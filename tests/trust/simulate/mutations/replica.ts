import { type Mutation, mutation } from "./mutation.ts";

/** In the replica and its logs. */
export const REPLICA: readonly Mutation[] = [
  mutation(
    "a commit is not flushed",
    1,
    "shared/sqlite/database.ts",
    '"PRAGMA synchronous = FULL"',
    '"PRAGMA synchronous = OFF"',
  ),
  mutation(
    "a write is answered before its commit",
    5,
    "shared/replica/store.ts",
    "settle.push(await runOne(write, context, db, writes.length));",
    "(await runOne(write, context, db, writes.length))();",
  ),
  mutation(
    "what was rolled back stays in memory",
    9,
    "shared/replica/write-context.ts",
    "this.openDocuments.delete(addressKey(document.address));\n    }\n    this.rows = [];",
    "}\n    this.rows = [];",
  ),
  mutation(
    "a service that was restored writes under its former client id",
    26,
    "server/open-store.ts",
    "writer: newWriter(world, SERVICE_MACHINE)",
    "writer: { ...newWriter(world, SERVICE_MACHINE), clientId: 7 }",
  ),
  mutation(
    "a service's epoch is always the same",
    14,
    "server/open-store.ts",
    "writer: newWriter(world, SERVICE_MACHINE)",
    'writer: { ...newWriter(world, SERVICE_MACHINE), epoch: "always" }',
  ),
  mutation(
    "the epoch of a position is not looked at",
    30,
    "shared/replica/exchange.ts",
    "(await epochOfRow(db, open.id, seq)) === epoch",
    '(await epochOfRow(db, open.id, seq)) !== ""',
  ),
  mutation(
    "replicas with equal state vectors are taken for equal",
    13,
    "shared/replica/open-document.ts",
    'if (admission.kind !== "admitted") return admission;',
    'if (admission.kind !== "admitted" || !admission.adds) return admission;',
  ),
  mutation(
    "an update is taken although what it builds on is missing",
    14,
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
    1,
    "shared/replica/doubled-lines.ts",
    "const dropped = new Set(pairs.map(([, second]) => second));",
    "const dropped = new Set(pairs.flat());",
  ),
  mutation(
    "a value over its limit is taken into a document",
    26,
    "shared/wire/memory.ts",
    "content: text({ nonEmpty: true, bytesMax: LIMITS.memoryValueBytes }),",
    "content: text({ nonEmpty: true }),",
  ),
  mutation(
    "of two copies the one stays that is not this machine's",
    90,
    "shared/replica/doubled-lines.ts",
    "return (one.ranks[i] ?? 0) < (other.ranks[i] ?? 0) ? [line, twin] : [twin, line];",
    'return line.side === "theirs" ? [line, twin] : [twin, line];',
  ),
];
