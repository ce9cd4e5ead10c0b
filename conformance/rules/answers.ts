import type { Bench } from "../bench/bench.ts";
import { Broken } from "../bench/broken.ts";
import {
  ENDPOINTS,
  type Endpoint,
  EVERY_ENDPOINT,
  isRequestTo,
  nameOf,
} from "../bench/endpoints.ts";
import type { Exchange } from "../bench/exchange.ts";
import { isOffline } from "../bench/gateway.ts";
import { leftOpen, Open, type Rule } from "../bench/rule.ts";

/** Specification, section 7, and the statuses of success that section 4 leaves open. */
const STATUSES = [200, 400, 401, 403, 404, 429];
const SUCCESS_OF_WRITES = [201, 204];

const JSON_TYPE = /^application\/json(;|$)/i;

/** Rules for every answer that the earlier rules got. */
export const answerRules: readonly Rule[] = [
  ...ENDPOINTS.flatMap((endpoint) => [
    {
      endpoint: nameOf(endpoint),
      name: "every body is JSON, and says so",
      check: (bench: Bench) => eachOf(bench, endpoint, expectJson),
    },
    {
      endpoint: nameOf(endpoint),
      name: "every status is published and no fault",
      check: (bench: Bench) => eachOf(bench, endpoint, expectPublished),
    },
  ]),
  { endpoint: EVERY_ENDPOINT, name: "no answer repeats the token", check: keepsToken },
  { endpoint: EVERY_ENDPOINT, name: "a 429 is JSON like every answer", check: limitedIsJson },
  {
    endpoint: EVERY_ENDPOINT,
    name: "what an error's body says",
    check: leftOpen("the shape of the error body is not shown"),
  },
];

function eachOf({ client }: Bench, endpoint: Endpoint, expect: (exchange: Exchange) => void): void {
  for (const exchange of client.transcript) {
    if (isRequestTo(endpoint, exchange.method, exchange.path)) expect(exchange);
  }
}

function expectJson(exchange: Exchange): void {
  if (exchange.status === 204) return;
  if (exchange.json !== undefined && JSON_TYPE.test(exchange.contentType ?? "")) return;
  throw new Broken(exchange, "a JSON body with Content-Type: application/json");
}

function expectPublished(exchange: Exchange): void {
  const { status, method } = exchange;
  if (STATUSES.includes(status) || isOffline(exchange)) return;
  if (method !== "GET" && SUCCESS_OF_WRITES.includes(status)) return;
  throw new Broken(
    exchange,
    `one of the published statuses (${STATUSES.join(", ")}), and no fault`,
  );
}

function keepsToken({ client }: Bench): void {
  const { token, readOnlyToken, otherToken } = client.options;
  const tokens = [token, readOnlyToken, otherToken].filter((each) => each !== undefined);
  const found = client.transcript.find(({ text }) => tokens.some((each) => text.includes(each)));
  if (found) throw new Broken(found, "a body without the request's token");
}

function limitedIsJson({ client }: Bench): void {
  const [first] = client.limited;
  if (first === undefined) throw new Open("no limit was reached");
  expectJson(first);
}
