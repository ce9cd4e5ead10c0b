import { expect, test } from "bun:test";
import type { Notice } from "../../cli/notices/notice.ts";
import { conflictLine } from "../../cli/notices/say-notices.ts";

const conflict = (what: string, where: string): Notice => ({ kind: "conflict", where, what });

test("several conflicts of one document are named once, with their number", () => {
  const mono = Array.from({ length: 4 }, () => conflict("document", "mono"));
  const [several] = conflictLine([...mono, conflict("deploy", "mono"), conflict("build", "shop")]);
  expect(several).toStartWith("6 conflicts, document in mono (4), deploy in mono, build in shop: ");
  const keys = ["a", "b", "c", "d", "e"].map((key) => conflict(key, "mono"));
  const [many] = conflictLine([...mono, ...keys]);
  expect(many).toStartWith("9 conflicts, document in mono (4), a in mono, b in mono and 3 more: ");
});
