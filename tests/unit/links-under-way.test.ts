import { expect, test } from "bun:test";
import { LinksUnderWay } from "../../daemon/links/links-under-way.ts";

const SECOND = 1000;

test("folders that were said to follow are waited for, but not for ever", () => {
  const links = new LinksUnderWay();
  expect(links.isAny(0)).toBe(false);
  links.begin(true);
  expect(links.isAny(60 * SECOND)).toBe(true);
  links.end(60 * SECOND);
  expect(links.isAny(69 * SECOND)).toBe(true);
  expect(links.isAny(70 * SECOND)).toBe(false);
});

test("what the link that was begun last says counts, in whatever order they end", () => {
  const links = new LinksUnderWay();
  links.begin(true);
  links.begin(false);
  links.end(SECOND);
  expect(links.isAny(SECOND)).toBe(true);
  links.end(2 * SECOND);
  expect(links.isAny(2 * SECOND)).toBe(false);
});
