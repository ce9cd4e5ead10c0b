import { expect, test } from "bun:test";
import { EXPORT_FORMAT, parsePortableHome } from "../../daemon/portable/format.ts";
import {
  type PortableTextConflict,
  portableTextConflict,
  storedTextConflict,
} from "../../daemon/portable/text-conflicts.ts";
import { LIMITS } from "../../shared/limits.ts";
import {
  listTextConflicts,
  type NewTextConflict,
  parseTextConflict,
  recordTextConflict,
  type TextConflictKind,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { NOW } from "../support/replicas.ts";

/** A kind that is new fails the types until it is here. */
const KINDS: Readonly<Record<TextConflictKind, true>> = {
  both: true,
  unseen: true,
  moved: true,
  format: true,
  deletion: true,
  elsewhere: true,
  renewed: true,
  "set-aside": true,
  twice: true,
};

const MINE = {
  text: "one\ntwo\nthree\n",
  machine: "laptop",
  at: NOW - 1,
  removed: { machine: "desk", at: NOW - 2 },
  places: [
    { behind: "", text: "one\n", ahead: "mid", after: 1, whole: true, gone: [0] },
    { behind: "mid\n", text: "two\nthree\n", ahead: "", before: 2, whole: true },
  ],
  isStanding: true,
};
const THEIRS = { text: "", machine: undefined };

/** The conflict as a document has it, after an export to a file and an import of that. */
function throughAnExport(conflict: PortableTextConflict): PortableTextConflict[] {
  const project = { id: "proj_p", claude_md_content: "", metadata: {}, memories: [] };
  const home = {
    format: EXPORT_FORMAT,
    projects: [{ ...project, text_conflicts: [conflict] }],
    user: { memories: [] },
    global: { memories: [] },
  };
  const [read] = parsePortableHome(JSON.parse(JSON.stringify(home))).projects;
  return read?.text_conflicts ?? [];
}

for (const kind of Object.keys(KINDS) as TextConflictKind[]) {
  test(`an export keeps all that a conflict says: ${kind}`, () => {
    const document = new ReplicaDocument([], 1);
    const conflict: NewTextConflict = { kind, lines: 3, versions: [MINE, THEIRS] };
    recordTextConflict(document, conflict, { now: NOW });
    const [record] = listTextConflicts(document);
    if (!record) throw new Error("nothing was recorded");
    expect(record.versions.some(({ places }) => places.length === 2)).toBe(true);
    const [read] = throughAnExport(portableTextConflict(record));
    if (!read) throw new Error("nothing was read");
    expect(parseTextConflict(record.id, storedTextConflict(read))).toEqual(record);
  });
}

/** As the first exports had it. */
const FORMER: PortableTextConflict = {
  id: "k3j5h2ab",
  found_at: "2026-03-01T09:31:00.000Z",
  versions: [
    { text: "one line\n", cut: false, machine: "laptop" },
    { text: "another line\n", cut: true },
  ],
};

test("a conflict of an export that says less is one of two machines, as before", () => {
  const [read] = throughAnExport(FORMER);
  if (!read) throw new Error("nothing was read");
  expect(parseTextConflict("k3j5h2ab", storedTextConflict(read))).toMatchObject({
    kind: "both",
    versions: [
      { text: "one line\n", machine: "laptop", places: [] },
      { text: "another line\n", cut: true, machine: undefined },
    ],
  });
});

test("an import refuses a conflict that no service would take", () => {
  const versions = FORMER.versions.map((version) => {
    return { ...version, text: "x".repeat(LIMITS.metadataBytes / 2) };
  });
  expect(() => throughAnExport({ ...FORMER, versions })).toThrow();
});

test("a time that no import takes is left out of an export", () => {
  const record = parseTextConflict("k3j5h2ab", {
    found_at: NOW,
    versions: [
      { text: "a\n", at: 8.6e15 },
      { text: "b\n", at: NOW },
    ],
  });
  if (!record) throw new Error("it is none");
  const [read] = throughAnExport(portableTextConflict(record));
  expect(read?.versions.map(({ at }) => at)).toEqual([undefined, new Date(NOW).toISOString()]);
});
