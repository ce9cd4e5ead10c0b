import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SETTING_NAMES, variableOf } from "../../server/settings/setting.ts";
import { programs, testWith } from "../support/needs.ts";

const DEPLOY = join(import.meta.dir, "../../deploy");
const FILES = ["compose.yaml", "kubernetes.yaml", "memsync.service", "memsync-at-port.service"];

const read = (name: string) => Bun.file(join(DEPLOY, name)).text();

test("every variable that a file of `deploy/` sets is a setting of the server", async () => {
  const known = SETTING_NAMES.map(variableOf);
  for (const name of FILES) {
    const named = (await read(name)).match(/MEMSYNC_SERVER_[A-Z_]+/g) ?? [];
    const unknown = named.filter((each) => !known.includes(each) && !each.endsWith("_"));
    expect([name, unknown]).toEqual([name, []]);
    expect(named.length).toBeGreaterThan(0);
  }
});

test("the files for compose and Kubernetes name each other's parts by the right names", async () => {
  const compose = Bun.YAML.parse(await read("compose.yaml"));
  expect(compose).toMatchObject({
    services: {
      memsync: { depends_on: { postgres: { condition: "service_healthy" } } },
      balancer: { volumes: [expect.stringMatching(/^\.\/haproxy\.cfg:/)] },
    },
  });
  const balancer = await read("haproxy.cfg");
  expect(balancer).toContain("server-template memsync 1-12 memsync:4777");
  expect(balancer).toContain("httpchk GET /readyz");
  const parts = Bun.YAML.parse(await read("kubernetes.yaml"));
  const labels = { "app.kubernetes.io/name": "memsync" };
  expect(parts).toMatchObject([
    { kind: "Deployment", spec: { template: { metadata: { labels } } } },
    { kind: "Service", spec: { selector: labels } },
    { kind: "PodDisruptionBudget", spec: { selector: { matchLabels: labels } } },
  ]);
});

testWith(
  programs("systemd-analyze"),
  "systemd takes the unit of each server at its port",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "memsync-unit-"));
    try {
      const unit = join(folder, "memsync@4777.service");
      // The program itself is not installed here.
      await Bun.write(
        unit,
        (await read("memsync-at-port.service")).replace(/^ExecStart=\S+/m, "ExecStart=/bin/true"),
      );
      const checked = Bun.spawnSync(["systemd-analyze", "verify", unit]);
      expect([`${checked.stderr}`, checked.exitCode]).toEqual([expect.any(String), 0]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
