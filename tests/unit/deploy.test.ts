import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { SETTING_NAMES, variableOf } from "../../server/settings/setting.ts";
import { KUBERNETES } from "../support/kubernetes-schema.ts";
import { programs, testWith } from "../support/needs.ts";

const DEPLOY = join(import.meta.dir, "../../deploy");
/** The default, which the file does not change. */
const SHUTDOWN_TIMEOUT_SECONDS = 8;
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
  expect(balancer).toContain("send meth GET uri /readyz ver HTTP/1.1 hdr Host memsync\n");
  const parts = Bun.YAML.parse(await read("kubernetes.yaml"));
  const labels = { "app.kubernetes.io/name": "memsync" };
  expect(parts).toMatchObject([
    { kind: "Deployment", spec: { template: { metadata: { labels } } } },
    { kind: "Service", spec: { selector: labels } },
    { kind: "PodDisruptionBudget", spec: { selector: { matchLabels: labels } } },
  ]);
});

test("what Kubernetes is given has its names and types, and its parts fit together", async () => {
  const text = await read("kubernetes.yaml");
  const parts: unknown = Bun.YAML.parse(text);
  const problems = [...Value.Errors(KUBERNETES, parts)];
  expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([]);
  const [deployment, service, budget] = Value.Decode(KUBERNETES, parts);
  const { template, replicas } = deployment.spec;
  const { containers, volumes, terminationGracePeriodSeconds: grace } = template.spec;
  for (const { ports, env, volumeMounts, readinessProbe, livenessProbe } of containers) {
    expect([readinessProbe.httpGet.path, livenessProbe.httpGet.path]).toEqual([
      "/readyz",
      "/healthz",
    ]);
    const names = ports.map(({ name }) => name);
    for (const { targetPort } of service.spec.ports) expect(names).toContain(targetPort);
    for (const { httpGet } of [readinessProbe, livenessProbe]) {
      expect(names).toContain(httpGet.port);
    }
    expect(volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
    const keys = env.flatMap((each) => ("valueFrom" in each ? [each.valueFrom.secretKeyRef] : []));
    for (const { name, key } of keys) {
      expect(text).toContain(`create secret generic ${name} `);
      expect(text).toContain(`--from-literal=${key}=`);
    }
    const delay = env.find(({ name }) => name === variableOf("shutdown_delay"));
    const seconds = delay && "value" in delay ? Number(delay.value) : 0;
    expect(grace).toBeGreaterThan(seconds + SHUTDOWN_TIMEOUT_SECONDS);
  }
  expect(budget.spec.minAvailable).toBeLessThan(replicas);
});

test("a name in the wrong place of a file for Kubernetes is found", async () => {
  const text = await read("kubernetes.yaml");
  for (const [from, to] of [
    ["readinessProbe:", "readynessProbe:"],
    ["replicas: 3", 'replicas: "3"'],
    ["minAvailable: 2", "minAvailabel: 2"],
    ["targetPort: http", "target: http"],
  ] as const) {
    expect(text).toContain(from);
    expect(Value.Check(KUBERNETES, Bun.YAML.parse(text.replace(from, to)))).toBe(false);
  }
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
