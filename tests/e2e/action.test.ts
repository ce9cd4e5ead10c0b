import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../../shared/version.ts";
import { ActionJob, type CompositeAction } from "../support/composite-action.ts";
import { type Lab, scenario } from "../support/lab.ts";
import { MEMSYNC } from "../support/machine.ts";
import { programs } from "../support/needs.ts";
import { startRegistry } from "../support/registry.ts";
import { waitFor } from "../support/wait-for.ts";

const FILE = join(import.meta.dir, "../../action.yml");
const ACTION = Bun.YAML.parse(readFileSync(FILE, "utf8")) as CompositeAction;
const NEEDED = programs("bash", "npm", "node");

/** A registry that has memsync, whose command is that of this checkout, and a machine for a job. */
async function jobIn(lab: Lab) {
  const registry = startRegistry();
  const manifest = { name: "memsync", version: VERSION, bin: { memsync: "memsync" } };
  const archive = new Bun.Archive(
    {
      "package/package.json": JSON.stringify(manifest),
      "package/memsync": `#!/bin/sh\nexec ${MEMSYNC.map((word) => `'${word}'`).join(" ")} "$@"\n`,
    },
    { compress: "gzip" },
  );
  const tarball = lab.git.path("memsync.tgz");
  await Bun.write(tarball, await archive.bytes());
  await registry.hold(tarball);
  const env = {
    ...lab.git.env,
    npm_config_registry: `${registry.url}/`,
    npm_config_noproxy: new URL(registry.url).hostname,
  };
  const job = new ActionJob(lab.git.path("runner"), env);
  return {
    job,
    async [Symbol.asyncDispose]() {
      await job[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
}

function isGone(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  );
}

test("the action installs this version, and puts no input into a script", () => {
  expect(ACTION.inputs.version?.default).toBe(VERSION);
  expect(ACTION.runs.using).toBe("composite");
  for (const { shell, run } of ACTION.runs.steps) {
    expect(shell).toBe("bash");
    // What stands there would be run as a part of it.
    expect(run).not.toContain("${{");
  }
  const used = new Set(JSON.stringify(ACTION.runs).match(/inputs\.\w+/g));
  expect([...used].sort()).toEqual(
    Object.keys(ACTION.inputs)
      .map((name) => `inputs.${name}`)
      .sort(),
  );
});

scenario(
  "the action's emulator is there for the steps that follow",
  async (lab) => {
    await using started = await jobIn(lab);
    const { job } = started;
    await lab.git.write(lab.git.path("seed", "user", "editor.md"), "vim");
    const ended = await job.use(ACTION, { seed: "seed", limits: "off" });
    expect(ended).toMatchObject({ status: 0 });
    const { url = "", token } = job.outputs;
    expect(token).toBe("mst_dev_pro");
    const led = await job.run('echo "$MEMSYNC_URL $MEMSYNC_TOKEN"');
    expect(led.printed).toBe(`${url} ${token}\n`);
    const headers = { authorization: `Bearer ${token}` };
    const found = await fetch(`${url}/v1/memories`, { headers });
    expect(await found.json()).toMatchObject({ memories: [{ key: "editor", content: "vim" }] });
    await job[Symbol.asyncDispose]();
    await waitFor("the emulator to be gone", () => isGone(url));
  },
  { needs: NEEDED },
);

scenario(
  "the action runs a command beside an emulator, and ends as it does",
  async (lab) => {
    await using started = await jobIn(lab);
    const run = 'memsync=$MEMSYNC_URL\necho "at $memsync"\nfalse | true\necho never';
    const ended = await started.job.use(ACTION, { run, plan: "team" });
    expect(ended.status).toBe(1);
    const [, url = ""] = /^at (\S+)$/m.exec(ended.printed) ?? [];
    expect(ended.printed).not.toContain("never");
    expect(await isGone(url)).toBe(true);
    // Later steps are not led to what is gone.
    expect((await started.job.run('echo "[$MEMSYNC_URL]"')).printed).toBe("[]\n");
  },
  { needs: NEEDED },
);

scenario(
  "an action that can't start its emulator fails, and says why",
  async (lab) => {
    await using started = await jobIn(lab);
    await lab.git.write(lab.git.path("seed.json"), "{\n,}");
    const { status, printed } = await started.job.use(ACTION, { seed: "seed.json" });
    expect(status).toBe(1);
    expect(printed).toContain("seed.json:2 is not JSON");
  },
  { needs: NEEDED },
);
