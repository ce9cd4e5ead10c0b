import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseQuotas, parseRetryAfter } from "../../daemon/budget/quota-headers.ts";

const POLICY = '"minute";q=60;w=60, "day";q=10000;w=86400';
const SAID = '"minute";r=59;t=60, "day";r=9990;t=43200';

function parse(said: string | undefined, policy: string | undefined = POLICY) {
  const headers = new Headers();
  if (said !== undefined) headers.set("RateLimit", said);
  if (policy !== undefined) headers.set("RateLimit-Policy", policy);
  return parseQuotas(headers);
}

const MINUTE = { name: "minute", limit: 60, windowMs: 60_000, remaining: 59, moreInMs: 60_000 };

describe("RateLimit", () => {
  test("RateLimit is read with its policy, name by name", () => {
    expect(parse(SAID)).toEqual([
      MINUTE,
      {
        name: "day",
        limit: 10_000,
        windowMs: 86_400_000,
        remaining: 9990,
        moreInMs: 43_200_000,
      },
    ]);
  });

  test("RateLimit may leave out what it may, and carry what is not known here", () => {
    expect(parse('"minute";r=3;pk=:YWJj:;new=?0')).toEqual([
      { ...MINUTE, remaining: 3, moreInMs: undefined },
    ]);
    const headers = new Headers({ RateLimit: '"hour";r=3;t=0' });
    expect(parseQuotas(headers)).toEqual([
      { name: "hour", limit: undefined, windowMs: undefined, remaining: 3, moreInMs: 0 },
    ]);
  });

  test("RateLimit is none where there is none, or where it is anything else", () => {
    const garbled = [
      undefined,
      "",
      "minute;r=59;t=60",
      '"minute"',
      '"minute";r=-1',
      '"minute";r=1.5',
      '"minute";r="5"',
      '"minute";r=5;t=soon',
      '"minute";r=5,',
      '"minute";r=5 "day";r=5',
      '("minute" "day");r=5',
      '"minute";r=5, "minute";r=6',
      '"minute";r=99999999999999999999',
      "limit=100, remaining=50, reset=50",
      `"${"x".repeat(65)}";r=5`,
      Array.from({ length: 9 }, (_, at) => `"w${at}";r=5`).join(", "),
    ];
    for (const said of garbled) expect([said, parse(said)]).toEqual([said, undefined]);
    for (const policy of ['"minute";w=60', '"minute";q=0', "garbled=", '"minute";q=5;w=-1']) {
      expect([policy, parse('"minute";r=5', policy)]).toEqual([policy, undefined]);
    }
  });

  test("RateLimit never gives a number that is too large to reckon with, nor more than the limit", () => {
    const [quota] = parse('"m";r=999999999999999;t=999999999999999', '"m";q=7;w=999999999') ?? [];
    expect(quota?.remaining).toBe(7);
    expect(quota?.moreInMs).toBe(31 * 24 * 60 * 60 * 1000);
    expect(quota?.windowMs).toBe(31 * 24 * 60 * 60 * 1000);
  });

  test("RateLimit throws at nothing", () => {
    const pieces = fc.constantFrom(
      '"',
      "minute",
      ";",
      "r=",
      "t",
      "=",
      "5",
      ",",
      " ",
      "(",
      ":",
      "?",
    );
    const text = fc.oneof(
      fc.array(pieces).map((each) => each.join("")),
      fc.string({ unit: fc.integer({ min: 32, max: 126 }).map((c) => String.fromCharCode(c)) }),
    );
    fc.assert(
      fc.property(text, text, (said, policy) => {
        const quotas = parse(said, policy) ?? [];
        expect(quotas.every(({ remaining }) => Number.isSafeInteger(remaining))).toBe(true);
      }),
    );
  });
});

describe("Retry-After", () => {
  const now = Date.UTC(2026, 0, 1);
  const parseAfter = (said: string | null, date?: string) =>
    parseRetryAfter(
      new Headers({ ...(said !== null && { "retry-after": said }), ...(date && { date }) }),
      now,
    );

  test("Retry-After is of seconds, or a date", () => {
    expect(parseAfter("7")).toBe(7000);
    expect(parseAfter("Thu, 01 Jan 2026 00:01:30 GMT")).toBe(90_000);
    expect(parseAfter("Wed, 31 Dec 2025 00:00:00 GMT")).toBe(0);
  });

  test("Retry-After of a date counts from when the answer says it was given, whatever the clock here", () => {
    const until = "Thu, 01 Jan 2026 00:01:30 GMT";
    expect(parseAfter(until, "Thu, 01 Jan 2026 00:01:00 GMT")).toBe(30_000);
    expect(parseAfter(until, "Wed, 31 Dec 2025 23:59:30 GMT")).toBe(120_000);
    expect(parseAfter(until, "some day")).toBe(90_000);
  });

  test("Retry-After is none where it is anything else", () => {
    for (const text of [null, "", "soon", "-1", "1.5", "1e3", "2026-01-01", "0x10"]) {
      expect([text, parseAfter(text)]).toEqual([text, undefined]);
    }
  });

  test("Retry-After is a day at most", () => {
    expect(parseAfter("9".repeat(400))).toBe(24 * 60 * 60 * 1000);
  });
});
