import { expect, test } from "bun:test";
import { parseCursor } from "../../server/stores/cursor.ts";

const forged = (...parts: readonly unknown[]) =>
  Buffer.from(JSON.stringify(parts)).toString("base64url");

test("a cursor that no list has given is refused, before any database has to make sense of it", () => {
  expect(parseCursor("memories", forged("memories", 5, "12"))).toEqual({ sort: 5, id: "12" });
  expect(parseCursor("sessions", forged("sessions", 5, "sess_a"))).toEqual({
    sort: 5,
    id: "sess_a",
  });
  for (const cursor of [
    forged("memories", 1.5, "1"),
    forged("memories", 1e300, "1"),
    forged("memories", 1, "one"),
    forged("memories", 1, "99999999999999999999"),
    forged("projects", 1, "proj_\0"),
    forged("projects", null, "proj_a"),
    "no cursor",
  ]) {
    for (const list of ["memories", "projects"] as const) {
      expect(() => parseCursor(list, cursor)).toThrow("not one that this list has given");
    }
  }
});
