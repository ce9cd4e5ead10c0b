import { expect, test } from "bun:test";
import { checkService } from "../../cli/doctor/service-checks.ts";

/** What doctor says of a service that answers 429 with these counts left. */
async function findingAt(remaining: number) {
  const body = JSON.stringify({ error: { code: "rate_limited", message: "not so fast" } });
  const headers = {
    "retry-after": "30",
    "ratelimit-policy": '"minute";q=60;w=60',
    ratelimit: `"minute";r=${remaining};t=30`,
  };
  using server = Bun.serve({ port: 0, fetch: () => new Response(body, { status: 429, headers }) });
  const { findings } = await checkService(server.url.origin, "mst_dev_pro");
  return findings.find(({ about }) => about === "service");
}

test("doctor says that requests are used up only where the counts say so", async () => {
  const detail = expect.stringContaining("is busy: it answers 429: not so fast");
  const used = expect.stringContaining("wait 30 s: the account's requests are used up; ");
  expect(await findingAt(0)).toMatchObject({ detail, mend: used });
  const paused = expect.stringContaining("wait 30 s: it takes no calls now; ");
  expect(await findingAt(43)).toMatchObject({ detail, mend: paused });
});
