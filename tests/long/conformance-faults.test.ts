import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Report, runConformance } from "../../conformance/run.ts";
import { type App, createApp } from "../../server/app/app.ts";
import { createPublishedApp } from "../../server/app/published-app.ts";
import { callerOfDevToken } from "../../server/emulator/state/dev-tokens.ts";
import { bearerToken } from "../../server/http/bearer.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { type Fault, openBreakingProxy } from "../support/breaking-proxy.ts";
import { FAULTS } from "../support/server-faults.ts";
import { createTestServices, type TestServices } from "../support/test-services.ts";

let services: TestServices;
let apps: readonly App[];

beforeAll(async () => {
  services = await createTestServices();
  const deps = {
    services: services.services,
    authenticate: (header: string | null) => callerOfDevToken(bearerToken(header) ?? "", "pro"),
    world: realWorld,
    log: silentLog,
  };
  apps = [createApp(deps), createPublishedApp(deps)];
});

afterAll(() => services.temp.remove());

async function reportOn(app: App | undefined, fault: Fault): Promise<Report> {
  if (app === undefined) throw new Error("the apps are there while tests run");
  using proxy = openBreakingProxy((request) => app.fetch(request), fault);
  return await runConformance({
    url: proxy.url,
    token: "mst_dev_pro",
    readOnlyToken: "mst_dev_readonly",
    otherToken: "mst_dev_stranger",
    world: realWorld,
  });
}

function broken({ findings }: Report): string[] {
  return findings
    .filter(({ result }) => result === "fails")
    .map(({ endpoint, rule }) => `${endpoint}: ${rule}`);
}

test("a proxy without a fault breaks no rule, and nothing is skipped", async () => {
  for (const app of apps) {
    const report = await reportOn(app, (_request, pass) => pass());
    expect([broken(report), report.givenUp]).toEqual([[], undefined]);
    expect(report.findings.some(({ result }) => result === "skipped")).toBe(false);
  }
});

test("what a fault is named to break is a rule", async () => {
  const { findings } = await reportOn(apps[0], (_request, pass) => pass());
  const rules = findings.map(({ endpoint, rule }) => `${endpoint}: ${rule}`);
  expect(FAULTS.filter(([, rule]) => !rules.includes(rule))).toEqual([]);
  expect(new Set(rules).size).toBe(rules.length);
});

for (const [what, rule, fault] of FAULTS) {
  test(`a server that ${what} breaks "${rule}"`, async () => {
    for (const app of apps) {
      const report = await reportOn(app, fault);
      expect(report.givenUp).toBeUndefined();
      expect(broken(report)).toContain(rule);
      expect(JSON.stringify(report)).not.toContain("mst_dev_pro");
    }
  });
}
