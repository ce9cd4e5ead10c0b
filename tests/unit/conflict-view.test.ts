import { expect, test } from "bun:test";
import type { PlacedVersion, TextConflict } from "../../cli/local/local-conflicts.ts";
import { conflictAdvice, conflictLines, conflictRow } from "../../cli/views/conflict-view.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { TextConflictKind } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { projectId } from "../support/project-id.ts";

const AT = Date.UTC(2026, 10, 23, 9, 5);

function conflict(kind: TextConflictKind, ...given: Partial<PlacedVersion>[]): TextConflict {
  const versions = given.map((each) => ({
    text: "",
    cut: false,
    machine: undefined,
    at: undefined,
    places: [],
    isStanding: false,
    inText: false,
    inPart: false,
    ...each,
  }));
  const [one, other] = versions as [PlacedVersion, PlacedVersion];
  const name = projectId("widget");
  return {
    kind: "text",
    id: "abcdefgh",
    document: {
      id: 1,
      account: LOCAL_ACCOUNT,
      name,
      layer: "project",
      remote: undefined,
      title: "widget",
    },
    foundAt: AT,
    record: { id: "abcdefgh", kind, foundAt: AT, versions: [one, other], lines: undefined },
    versions,
    content: "",
    seenSeq: undefined,
    covered: [],
    over: [],
  };
}

const headsOf = (shown: TextConflict) => conflictLines(shown).filter((line) => /^[12] /.test(line));

test("a row names who took lines out where nobody knows who wrote them", () => {
  const aside = conflict(
    "set-aside",
    { text: "Use make.\n", inText: true },
    { machine: "laptop", at: AT },
  );
  expect(conflictRow(aside)).toEqual(["document, set aside by git", "laptop", "Use make."]);
});

test("a row names each machine once, also where several have written one version", () => {
  const texts = [{ text: "Use make.\n" }, { text: "Use npm.\n" }] as const;
  const both = conflict(
    "unseen",
    { ...texts[0], machine: "laptop, tablet" },
    { ...texts[1], machine: "tablet" },
  );
  expect(conflictRow(both)[1]).toBe("laptop, tablet");
});

test("what a version's author or time is not known of, it says nothing about", () => {
  const shown = conflict("renewed", { inText: false }, { text: "Use make.\n", inText: true });
  expect(headsOf(shown)).toEqual([
    "1  not in the document, without these lines",
    "2  in the document",
  ]);
  const known = conflict("renewed", { machine: "laptop", at: AT }, { text: "x\n", machine: "b" });
  expect(headsOf(known)).toEqual([
    "1  not in the document, without these lines, on laptop 2026-11-23 09:05Z",
    "2  not in the document, written on b",
  ]);
});

test("a version says who had taken out what the other one brings back", () => {
  const shown = conflict(
    "renewed",
    { text: "a\n", inText: true, machine: "b", removed: { machine: "desk", at: AT } },
    { text: "x\n", machine: "laptop" },
  );
  expect(headsOf(shown)).toEqual([
    "1  in the document, written on b, lines of the other version deleted on desk 2026-11-23 09:05Z",
    "2  not in the document, written on laptop",
  ]);
});

test("of what git set aside, it says which version is in the document, and in whose file the other", () => {
  const aside = conflict(
    "set-aside",
    { text: "Use make.\n", inText: true, isStanding: true },
    { machine: "laptop", at: AT },
  );
  expect(headsOf(aside)).toEqual([
    "1  in the document",
    "2  in the file on laptop, without these lines, 2026-11-23 09:05Z",
  ]);
  const putBack = conflict(
    "set-aside",
    { isStanding: true },
    { text: "Use make.\n", machine: "laptop", at: AT },
  );
  expect(headsOf(putBack)).toEqual([
    "1  in the document, without these lines",
    "2  in the file on laptop, 2026-11-23 09:05Z",
  ]);
  expect(conflictAdvice(putBack, "")).toEndWith("`dismiss` keeps both there");
});
