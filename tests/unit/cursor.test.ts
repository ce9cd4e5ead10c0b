import { expect, test } from "bun:test";
import { type AskedList, pageOf, parseCursor } from "../../server/stores/cursor.ts";

const forged = (...parts: readonly unknown[]) =>
  Buffer.from(JSON.stringify(parts)).toString("base64url");

test("a cursor that no list has given is refused, before any database has to make sense of it", () => {
  expect(parseCursor({ list: "memories" }, forged("memories", "", 5, "12"))).toEqual({
    sort: 5,
    id: "12",
  });
  expect(parseCursor({ list: "sessions" }, forged("sessions", "", 5, "sess_a"))).toEqual({
    sort: 5,
    id: "sess_a",
  });
  for (const cursor of [
    forged("memories", "", 1.5, "1"),
    forged("memories", "", 1e300, "1"),
    forged("memories", "", 1, "one"),
    forged("memories", "", 1, "99999999999999999999"),
    forged("projects", "", 1, "proj_\0"),
    forged("projects", "", null, "proj_a"),
    forged("memories", 5, "12"),
    "no cursor",
  ]) {
    for (const list of ["memories", "projects"] as const) {
      expect(() => parseCursor({ list }, cursor)).toThrow("not one that this list has given");
    }
  }
});

test("a cursor is good for the list that gave it, asked for in the same way", () => {
  const ways: readonly AskedList[] = [
    { list: "memories" },
    { list: "memories", by: ["user", undefined] },
    { list: "memories", by: [undefined, "user"] },
    { list: "memories", by: ["global", undefined] },
    { list: "sessions", by: ["user", undefined] },
    { list: "sessions" },
  ];
  const endOf = (id: string) => ({ sort: 5, id });
  for (const given of ways) {
    const { nextCursor } = pageOf(given, ["12", "13"], { limit: 1, endOf });
    for (const asked of ways) {
      const parse = () => parseCursor(asked, nextCursor ?? "");
      if (asked === given) expect(parse()).toEqual({ sort: 5, id: "12" });
      else expect(parse).toThrow("not one that this list has given");
    }
  }
});
