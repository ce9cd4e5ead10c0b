import { expect, test } from "bun:test";
import type { Notice } from "../../cli/notices/notice.ts";
import { conflictLine, joinedLine } from "../../cli/notices/say-notices.ts";

const conflict = (what: string, where: string): Notice => ({ kind: "conflict", where, what });

test("several conflicts of one document are named once, with their number", () => {
  const mono = Array.from({ length: 4 }, () => conflict("document", "mono"));
  const [several] = conflictLine([...mono, conflict("deploy", "mono"), conflict("build", "shop")]);
  expect(several).toStartWith("6 conflicts, document in mono (4), deploy in mono, build in shop: ");
  const keys = ["a", "b", "c", "d", "e"].map((key) => conflict(key, "mono"));
  const [many] = conflictLine([...mono, ...keys]);
  expect(many).toStartWith("9 conflicts, document in mono (4), a in mono, b in mono and 3 more: ");
});

test("what is joined is one line of a terminal, however much it is", () => {
  const joined = (where: string, machine: string | null, here = false): Notice => {
    const to = { id: "proj_aaaaaaaaaaaaaaaaaaaaaaaaaa", name: "gadget", from: "proj_b", dirs: [] };
    const at = "2026-01-01T00:00:00.000Z";
    const how = { is_return: false, is_deleted: false, is_left: false };
    return {
      kind: "joined",
      where,
      what: "gadget",
      joined: { ...to, at, machine, here, ...how },
    };
  };
  const says = "`memsync projects` says what to do";
  const [one = ""] = joinedLine([joined("widget", "lap")]);
  expect(one).toBe(`widget is joined to gadget on lap: ${says}`);
  expect(`memsync: ${one}`.length).toBeLessThanOrEqual(80);
  expect(joinedLine([joined("a", null), joined("b", "lap"), conflict("k", "a")])).toEqual([
    `a is joined to gadget, and 1 other so: ${says}`,
  ]);
  expect(joinedLine([joined("a", "lap", true)])[0]).toStartWith(
    "a is joined to gadget on this machine: ",
  );
  expect(joinedLine([conflict("k", "a")])).toEqual([]);
});
