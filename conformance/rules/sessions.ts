import type { Bench } from "../bench/bench.ts";
import { Broken } from "../bench/broken.ts";
import type { Exchange } from "../bench/exchange.ts";
import { countOfId, expectStatus, expectThat, isObject } from "../bench/expect.ts";
import { Open, type Rule, step } from "../bench/rule.ts";

const list = step((bench) => bench.get("/v1/sessions"));

/** Specification, section 4: sessions of variant A. */
export const sessionRules: readonly Rule[] = [
  {
    endpoint: "GET /v1/sessions",
    name: "answers a list",
    check: async (bench) => {
      sessionsIn(await list(bench));
    },
  },
  { endpoint: "GET /v1/sessions/:id", name: "is that session", check: isThatSession },
  {
    endpoint: "GET /v1/sessions/:id",
    name: "404 for an unknown session",
    check: async (bench) => expectStatus(await bench.get(`/v1/sessions/sess_${bench.tag}`), 404),
  },
];

/** The list itself, or the first array in an object around it. */
function sessionsIn(exchange: Exchange): readonly unknown[] {
  expectStatus(exchange, 200);
  const { json } = exchange;
  const sessions = isObject(json) ? Object.values(json).find(Array.isArray) : json;
  if (Array.isArray(sessions)) return sessions;
  throw new Broken(exchange, "a JSON array, or an object with one");
}

async function isThatSession(bench: Bench): Promise<void> {
  const [first] = sessionsIn(await list(bench));
  const id = isObject(first) ? first.id : undefined;
  if (typeof id !== "string") throw new Open("no call makes a session, and there is none");
  const exchange = await bench.get(`/v1/sessions/${encodeURIComponent(id)}`);
  expectStatus(exchange, 200);
  expectThat(exchange, countOfId(exchange.json, id) > 0, {
    expected: `a record with the id ${id}`,
  });
}
