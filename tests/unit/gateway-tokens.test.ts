import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { GatewayTokens, KEY_BYTES } from "../../daemon/gateway/gateway-tokens.ts";
import { asAccountId } from "../../shared/ids.ts";

const a = { account: asAccountId("local") };
const b = { account: asAccountId("local/client-b/x7k2mq4r5t6u7v8w") };

test("each token reaches what it is for, and a remote that is gone has none", () => {
  const tokens = new GatewayTokens(randomBytes(KEY_BYTES));
  expect(tokens.isForAll(tokens.forAll)).toBe(true);
  expect(tokens.remoteOf(tokens.forAll, [a, b])).toBeUndefined();
  for (const each of [a, b]) {
    const token = tokens.of(each.account);
    expect(tokens.isForAll(token)).toBe(false);
    expect(tokens.remoteOf(token, [a, b])).toBe(each);
    expect(tokens.remoteOf(token, [each === a ? b : a])).toBeUndefined();
  }
  expect(tokens.isForAll("")).toBe(false);
  expect(tokens.remoteOf("", [a, b])).toBeUndefined();
});

test("the token of a remote is the same whenever it is asked for, and looks like the others", () => {
  const tokens = new GatewayTokens(randomBytes(KEY_BYTES));
  expect(tokens.of(a.account)).toBe(tokens.of(a.account));
  for (const token of [tokens.forAll, tokens.of(a.account)]) {
    expect(token).toMatch(/^mst_local_[0-9A-Za-z_-]{32}$/);
  }
});

test("another gateway knows none of the tokens of the one before", () => {
  const [before, now] = [
    new GatewayTokens(randomBytes(KEY_BYTES)),
    new GatewayTokens(randomBytes(KEY_BYTES)),
  ];
  for (const token of [before.forAll, before.of(a.account), before.of(b.account)]) {
    expect(now.isForAll(token)).toBe(false);
    expect(now.remoteOf(token, [a, b])).toBeUndefined();
  }
});
