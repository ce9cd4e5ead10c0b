import type { Bench } from "../bench/bench.ts";
import { ENDPOINTS, type Endpoint, EVERY_ENDPOINT, nameOf } from "../bench/endpoints.ts";
import type { Exchange, Sender } from "../bench/exchange.ts";
import { expectStatus, expectThat } from "../bench/expect.ts";
import { Open, type Rule, step } from "../bench/rule.ts";

/** Specification, section 5: every request requires a valid token; an invalid one is 401. */
export const accessRules: readonly Rule[] = [
  ...ENDPOINTS.flatMap((endpoint) => [
    refuses(endpoint, "nobody", "401 without a token"),
    refuses(endpoint, "stranger", "401 with a token that nobody has"),
  ]),
  {
    endpoint: EVERY_ENDPOINT,
    name: "the scheme is Bearer and no other",
    check: async (bench) => expectStatus(await bench.get("/v1/memories", "basic"), 401),
  },
  {
    endpoint: EVERY_ENDPOINT,
    name: "a 401 has WWW-Authenticate: Bearer",
    check: namesScheme,
  },
  {
    endpoint: EVERY_ENDPOINT,
    name: "an unknown path is 404",
    check: async (bench) => {
      for (const base of ["/v1", "/api"]) {
        expectStatus(await bench.get(`${base}/${bench.name("none")}`), 404);
      }
    },
  },
];

function refuses(endpoint: Endpoint, sender: Sender, name: string): Rule {
  return {
    endpoint: nameOf(endpoint),
    name,
    check: async (bench) => expectStatus(await call(bench, endpoint, sender), 401),
  };
}

async function call(bench: Bench, endpoint: Endpoint, sender: Sender): Promise<Exchange> {
  const path = endpoint.path.replace(":id", `none_${bench.tag}`);
  const body = endpoint.method === "POST" ? {} : undefined;
  return await bench.send({ method: endpoint.method, path, body, sender });
}

const refused = step((bench) => bench.get("/v1/memories", "nobody"));

async function namesScheme(bench: Bench): Promise<void> {
  const exchange = await refused(bench);
  expectStatus(exchange, 401);
  const challenge = exchange.headers.get("www-authenticate");
  if (challenge === null) throw new Open("HTTP asks for the header, the interface does not");
  const got = `WWW-Authenticate: ${challenge}`;
  expectThat(exchange, /^Bearer\b/i.test(challenge), { expected: "WWW-Authenticate: Bearer", got });
}
