import { describe, expect, test } from "bun:test";
import * as Y from "yjs";
import { putBack } from "../../cli/writes/put-back.ts";
import { LIMITS, utf8Bytes } from "../../shared/limits.ts";
import {
  fateOf,
  parseTextConflict,
  recordTextConflict,
  settleTextConflict,
  type TextConflictRecord,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { TEXT_CONFLICT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { HISTORY } from "../../shared/replica/history/revisions.ts";
import { holdsLines } from "../../shared/replica/text/standing-lines.ts";
import { NOW } from "../support/replicas.ts";

const LAPTOP = { text: "of the laptop\n", machine: "laptop" };
const DESKTOP = { text: "of the desktop\n", machine: "desktop" };

function recordsOf({ metadata }: ReplicaDocument): TextConflictRecord[] {
  const keys = [...metadata.keys()].filter((key) => key.startsWith(TEXT_CONFLICT_PREFIX));
  return keys.flatMap((key) => {
    const id = key.slice(TEXT_CONFLICT_PREFIX.length);
    return parseTextConflict(id, metadata.get(key)[0]?.value) ?? [];
  });
}

function exchange(one: ReplicaDocument, other: ReplicaDocument): void {
  const [ofOne, ofOther] = [one, other].map(({ ydoc }) => Y.encodeStateAsUpdate(ydoc));
  if (ofOther) Y.applyUpdate(one.ydoc, ofOther);
  if (ofOne) Y.applyUpdate(other.ydoc, ofOne);
}

describe("a conflict of a text", () => {
  test("a conflict of a text says what both wrote, where and when they met, and is on every machine", () => {
    const [here, there] = [new ReplicaDocument([], 1), new ReplicaDocument([], 2)];
    recordTextConflict(here, { kind: "both", versions: [LAPTOP, DESKTOP] }, { now: NOW });
    exchange(here, there);
    expect(recordsOf(there)).toEqual(recordsOf(here));
    const [record] = recordsOf(there);
    expect(record?.id).toMatch(/^[a-z2-7]{8}$/);
    expect(record?.foundAt).toBe(NOW);
    expect(record?.versions).toEqual([
      { ...DESKTOP, cut: false, at: undefined, places: [], isStanding: false },
      { ...LAPTOP, cut: false, at: undefined, places: [], isStanding: false },
    ]);
  });

  test("a conflict of a text that both machines found is one, and goes from both when one dismisses it", () => {
    const [here, there] = [new ReplicaDocument([], 1), new ReplicaDocument([], 2)];
    recordTextConflict(here, { kind: "both", versions: [LAPTOP, DESKTOP] }, { now: NOW });
    recordTextConflict(there, { kind: "both", versions: [DESKTOP, LAPTOP] }, { now: NOW + 5 });
    exchange(here, there);
    expect(recordsOf(here)).toHaveLength(1);
    expect(recordsOf(there)).toEqual(recordsOf(here));
    for (const { id } of recordsOf(here)) here.deleteEntry("metadata", TEXT_CONFLICT_PREFIX + id);
    exchange(here, there);
    expect(recordsOf(there)).toEqual([]);
  });

  test("a conflict of a text of versions that are too long keeps their beginnings, within what metadata may take", () => {
    const document = new ReplicaDocument([], 1);
    const long = { text: "\u0001".repeat(LIMITS.metadataBytes), machine: "laptop" };
    recordTextConflict(document, { kind: "both", versions: [long, DESKTOP] }, { now: NOW });
    const [record] = recordsOf(document);
    expect(record?.versions.map(({ cut }) => cut)).toEqual([true, false]);
    const [key] = document.metadata.keys();
    const value = JSON.stringify(document.metadata.get(key ?? "")[0]?.value);
    expect(utf8Bytes(value)).toBeLessThan(LIMITS.metadataBytes);
  });

  test("a conflict of a text goes when it is too old, or one of too many", () => {
    const document = new ReplicaDocument([], 1);
    const record = (at: number) =>
      recordTextConflict(
        document,
        { kind: "both", versions: [LAPTOP, { ...DESKTOP, text: `${at}\n` }] },
        { now: NOW + at },
      );
    for (let at = 0; at < HISTORY.conflictsPerDocument + 3; at++) record(at);
    const times = () => recordsOf(document).map(({ foundAt }) => foundAt - NOW);
    expect(times()).toHaveLength(HISTORY.conflictsPerDocument);
    expect(Math.min(...times())).toBe(3);
    record(HISTORY.ageMs + 50);
    expect(Math.min(...times())).toBe(50);
  });

  test("a conflict that holds a file goes for no others, and none goes for it", () => {
    const document = new ReplicaDocument([], 1);
    const record = (kind: "both" | "set-aside", at: number) =>
      recordTextConflict(
        document,
        { kind, versions: [LAPTOP, { ...DESKTOP, text: `${at}\n` }] },
        { now: NOW + at },
      );
    const held = record("set-aside", 0);
    const settled = record("set-aside", 1);
    settleTextConflict(document, settled, NOW + 1);
    for (let at = 2; at < HISTORY.conflictsPerDocument + 3; at++) record("both", at);
    expect(recordsOf(document)).toHaveLength(HISTORY.conflictsPerDocument + 1);
    expect(fateOf(document, held)).toMatchObject({ kind: "set-aside" });
    expect([fateOf(document, settled), fateOf(document, "none")]).toEqual(["settled", undefined]);
    record("both", HISTORY.ageMs + 50);
    expect([held, settled].map((id) => fateOf(document, id))).toEqual([undefined, undefined]);
  });

  test("a conflict of a text is nothing where the metadata is not what memsync writes", () => {
    const wrong = [null, "text", 1, [], {}, { found_at: NOW }, { found_at: NOW, versions: [{}] }];
    for (const value of wrong) expect(parseTextConflict("id", value)).toBeUndefined();
  });
});

describe("lines that are put back", () => {
  test("lines that are put back stand behind those that they stood beside", () => {
    const content = "# Title\n\none of b\nend\n";
    expect(putBack(content, "one of a\n", "one of b\n")).toBe(
      "# Title\n\none of b\none of a\nend\n",
    );
  });

  test("lines that are put back stand at the end where their neighbours are gone", () => {
    expect(putBack("# Title\n", "one\n", "gone\n")).toBe("# Title\none\n");
    expect(putBack("", "one\n", "gone\n")).toBe("one\n");
  });

  test("lines that are put back take the text's line endings and leave its end as it is", () => {
    expect(putBack("a\r\nb\r\n", "one\ntwo\n", "a\n")).toBe("a\r\none\r\ntwo\r\nb\r\n");
    expect(putBack("a\nb", "one\n", "b\n")).toBe("a\nb\none");
  });

  test("lines that are put back are not mistaken for parts of lines", () => {
    expect(holdsLines("not one\n", "one\n")).toBeFalse();
    expect(holdsLines("one more\n", "one\n")).toBeFalse();
    expect(holdsLines("one", "one\n")).toBeTrue();
    expect(holdsLines("one\nbetween\ntwo\n", "one\ntwo\n")).toBeTrue();
    expect(holdsLines("two\none\n", "one\ntwo\n")).toBeFalse();
  });
});
