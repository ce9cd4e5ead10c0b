import { beforeAll, describe, expect, test } from "bun:test";
import {
  asKept,
  type MergeReport,
  measureOrders,
  measurePairs,
  type OrderReport,
} from "./merge.ts";
import { hasData, readForks } from "./merge-data.ts";

const TIMEOUT_MS = 60_000;

/** What must hold, with or without a line break at the end of every text. */
function describeMerges(name: string, measure: () => MergeReport): void {
  describe.skipIf(!hasData())(name, () => {
    let report: MergeReport;
    beforeAll(() => {
      report = measure();
    }, TIMEOUT_MS);

    test("no line is lost, and none is there that nobody wrote", () => {
      const grave = report.remarks.filter((remark) => / (lost|invented|torn),/.test(remark));
      expect(grave).toEqual([]);
      expect({ lost: report.lost, invented: report.invented }).toEqual({ lost: 0, invented: 0 });
    });

    test("what git merges cleanly comes out as git's text in 99 of 100 cases", () => {
      expect(report.clean).toBeGreaterThan(200);
      expect(report.asGit / report.clean).toBeGreaterThanOrEqual(0.99);
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

describeMerges("real texts, as the daemon keeps them", () => measurePairs(readForks().map(asKept)));
describeMerges("real texts, as they are", () => measurePairs(readForks()));

test.skipIf(!process.env.CI)("the real data is there where CI runs", () => {
  expect(hasData()).toBe(true);
});

describe.skipIf(!hasData())("three machines", () => {
  let report: OrderReport;
  beforeAll(() => {
    report = measureOrders();
  }, TIMEOUT_MS);

  test("agree in every order, and on git's text where git merges all three cleanly", () => {
    expect(report.clean).toBeGreaterThan(50);
    expect(report.asGit).toBe(report.clean);
  });

  test("come to one text in nearly all cases, whatever the order", () => {
    expect(report.oneText / report.triples).toBeGreaterThan(0.9);
  });
});
