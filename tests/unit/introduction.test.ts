import { expect, test } from "bun:test";
import {
  ageOf,
  compareVersions,
  introduce,
  PROTOCOL,
  parseIntroduction,
} from "../../daemon/supervise/introduction.ts";
import { VERSION } from "../../shared/version.ts";

/** In rising order, from the specification of semantic versions. */
const VERSIONS = [
  "0.0.0",
  "0.9.10",
  "1.0.0-alpha",
  "1.0.0-alpha.1",
  "1.0.0-alpha.beta",
  "1.0.0-beta",
  "1.0.0-beta.2",
  "1.0.0-beta.11",
  "1.0.0-rc.1",
  "1.0.0",
  "1.0.1",
  "1.2.0",
  "1.10.0",
  "2.0.0",
];

test("versions are ordered as their specification says", () => {
  for (const [at, one] of VERSIONS.entries()) {
    for (const [otherAt, other] of VERSIONS.entries()) {
      const order = Math.sign(compareVersions(one, other));
      expect([one, other, order]).toEqual([one, other, Math.sign(at - otherAt)]);
    }
  }
  expect(compareVersions("1.0.0+build.1", "1.0.0+build.2")).toBe(0);
});

test("a protocol says more than a version", () => {
  expect(ageOf({ version: VERSION, protocol: PROTOCOL })).toBe("same");
  expect(ageOf({ version: "0.0.1", protocol: PROTOCOL })).toBe("older");
  expect(ageOf({ version: "99.0.0", protocol: PROTOCOL })).toBe("newer");
  expect(ageOf({ version: "99.0.0", protocol: PROTOCOL - 1 })).toBe("older");
  expect(ageOf({ version: "0.0.1", protocol: PROTOCOL + 1 })).toBe("newer");
});

test("an introduction is read back, and what makes no sense in one is the least", () => {
  const told = introduce("service", { MEMSYNC_URL: "https://x.y", MEMSYNC_TOKEN: "mst_secret" });
  expect(JSON.stringify(told)).not.toContain("secret");
  expect(parseIntroduction(JSON.parse(JSON.stringify(told)))).toEqual(told);
  const least = {
    version: "0.0.0",
    protocol: 0,
    started: "foreground",
    pid: 0,
    environment: { url: null, has_token: false, gateway_port: null },
  } as const;
  const odd = [null, "text", [], {}, { version: 1, protocol: "1", started: "x", environment: 7 }];
  for (const each of odd) expect(parseIntroduction(each)).toEqual(least);
});
