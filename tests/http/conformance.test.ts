import { expect, test } from "bun:test";
import { type OnTried, type Report, runConformance } from "../../conformance/run.ts";
import { realWorld } from "../../shared/world-real.ts";
import { type Client, newAccount, newPublishedAccount } from "../support/service.ts";

const SESSION = {
  id: "sess_one",
  source: "test",
  started_at: "2026-01-01T10:00:00Z",
  last_activity_at: "2026-01-01T11:00:00Z",
  message_count: 1,
};

async function reportOn(
  { url, token }: Client,
  otherToken?: string,
  onTried?: OnTried,
): Promise<Report> {
  const options = { url, token, world: realWorld, ...(otherToken && { otherToken }) };
  return await runConformance(options, onTried);
}

/** What came out otherwise than it was to. */
function unexpected({ findings }: Report, result: string) {
  return findings.filter((finding) => finding.result === result);
}

for (const [what, open] of [
  ["both variants with all extensions", newAccount],
  ["the published interface alone", newPublishedAccount],
] as const) {
  test(`${what}: the published rules hold`, async () => {
    const client = open();
    const tried: (readonly [number, number])[] = [];
    const report = await reportOn(client, open().token, (...each) => tried.push(each));
    const all = report.findings.map((_, at) => [at + 1, report.findings.length]);
    expect(tried.map((each) => [...each])).toEqual(all);
    expect([unexpected(report, "fails"), report.givenUp]).toEqual([[], undefined]);
    const skipped = unexpected(report, "skipped").map(
      (finding) => "reason" in finding && finding.reason,
    );
    expect([...new Set(skipped)]).toEqual(["--read-only-token was not given"]);
  });

  test(`${what}: a run leaves its two projects, and nothing in them`, async () => {
    const client = open();
    const { left } = await reportOn(client);
    expect(left).toHaveLength(2);
    for (const id of left) {
      const { body } = await client.get(`/api/projects/${id}`);
      expect(body).toMatchObject({ memories: [], claude_md_content: "" });
    }
    expect((await client.get<{ total: number }>("/v1/memories")).body.total).toBe(0);
  });

  test(`${what}: what an account holds already stays`, async () => {
    const client = open();
    await client.post("/api/projects", { id: "proj_own", claude_md_content: "mine\n" });
    await client.post("/v1/memories", { content: "conformance", layer: "user" });
    await client.post("/v1/memories", { content: "kept", layer: "project" });
    const project = await client.get("/api/projects/proj_own");
    const report = await reportOn(client);
    expect(unexpected(report, "fails")).toEqual([]);
    expect((await client.get("/api/projects/proj_own")).body).toEqual(project.body);
    const { body } = await client.get<{ total: number }>("/v1/memories");
    expect(body.total).toBe(1);
  });
}

test("a session that is there is asked for by its id", async () => {
  const client = newAccount();
  await client.post("/v1/projects/proj_own/sync", { sessions: [SESSION] });
  const { findings } = await reportOn(client);
  const found = findings.find(({ rule }) => rule === "is that session");
  expect(found?.result).toBe("holds");
});
