import { beforeAll, describe, expect, test } from "bun:test";
import { inCi, testWith } from "../support/needs.ts";
import { HAS_REAL_DATA } from "../support/real-data.ts";
import {
  asKept,
  type MergeReport,
  measureOrders,
  measurePairs,
  type OrderReport,
} from "../trust/merge.ts";
import { readForks } from "../trust/merge-data.ts";

const TIMEOUT_MS = 60_000;

/** At least this many cases are tried, so that the figures say something. */
const [CLEAN_PAIRS_MIN, CLEAN_TRIPLES_MIN] = HAS_REAL_DATA ? [200, 50] : [30, 5];

const AS_GIT_MIN = 0.99;

/** What must hold, with or without a line break at the end of every text. */
function describeMerges(name: string, measure: () => MergeReport): void {
  describe(name, () => {
    let report: MergeReport;
    beforeAll(() => {
      report = measure();
    }, TIMEOUT_MS);

    test("no line is lost, and none is there that nobody wrote", () => {
      const grave = report.remarks.filter((remark) => / (lost|invented|torn),/.test(remark));
      expect(grave).toEqual([]);
      expect({ lost: report.lost, invented: report.invented }).toEqual({ lost: 0, invented: 0 });
    });

    test("what git merges cleanly comes out as git's text in nearly all cases", () => {
      expect(report.clean).toBeGreaterThan(CLEAN_PAIRS_MIN);
      expect(report.asGit / report.clean).toBeGreaterThanOrEqual(AS_GIT_MIN);
    });

    test("at most one line in a thousand is doubled", () => {
      expect(report.doubled / report.lines).toBeLessThanOrEqual(0.001);
    });

    test("every inserted code block is there whole, and nearly every inserted run in order", () => {
      expect(report.torn).toBe(0);
      expect(report.runsInOrder / report.runs).toBeGreaterThan(0.995);
    });

    test("a second clean-up changes nothing", () => {
      expect(report.unsettled).toBe(0);
    });

    test("it makes no difference which machine cleans up", () => {
      expect(report.lopsided).toBe(0);
    });
  });
}

describeMerges("texts as people write them, as the daemon keeps them", () =>
  measurePairs(readForks().map(asKept)),
);
describeMerges("texts as people write them, as they are", () => measurePairs(readForks()));

const REAL_DATA = inCi({
  isMet: HAS_REAL_DATA,
  missing: "../shared/data is not there, so its small form in tests/data was used",
});

testWith(REAL_DATA, "what is merged and replayed are histories of real files", () => {
  expect(HAS_REAL_DATA).toBe(true);
});

describe("three machines", () => {
  let report: OrderReport;
  beforeAll(() => {
    report = measureOrders();
  }, TIMEOUT_MS);

  test("three machines agree in every order, and on git's text where git merges all cleanly", () => {
    expect(report.clean).toBeGreaterThan(CLEAN_TRIPLES_MIN);
    expect(report.asGit).toBe(report.clean);
  });

  test("three machines come to one text in nearly all cases, whatever the order", () => {
    expect(report.oneText / report.triples).toBeGreaterThan(0.9);
  });
});
