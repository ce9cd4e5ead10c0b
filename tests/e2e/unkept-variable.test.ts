import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import type { Finding } from "../../cli/doctor/finding.ts";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

interface Ann {
  readonly ann: Machine;
  /** Makes a token of a user of the account acme. */
  token(user: string): Promise<string>;
}

/** A machine of ann's, whose memory `me` is in the layer `user`. Its daemon has ended. */
async function withAnn(lab: Lab, work: (given: Ann) => Promise<void>): Promise<void> {
  await using folder = await ServerFolder.create();
  const token = (user: string) => folder.token("acme", "--user", user);
  const first = await token("ann");
  // Of an account with one user nobody says who sees `global`.
  await token("bob");
  const { url } = await folder.server();
  const dir = lab.git.path("folder-ann");
  mkdirSync(dir, { recursive: true });
  const ann = lab.machine("ann", dir, { url, token: first });
  await ann.up();
  await ann.memsync("set", "me", "of ann", "--layer", "user");
  await ann.untilSynced();
  await waitFor("the service to say whose the token is", async () => {
    return (await ann.status()).remotes[0]?.audience?.account === "acme";
  });
  await ann.down();
  await work({ ann, token });
}

scenario("without a daemon, a shell of another's is told, and writes nothing of one's own", (lab) =>
  withAnn(lab, async ({ ann, token }) => {
    expect((await ann.run(["list"])).stderr).toBe("");
    const bob = { env: { MEMSYNC_TOKEN: await token("bob") } };
    const told =
      /^memsync: MEMSYNC_TOKEN is another token here than ann's, which this home has for/;
    const elsewhere = { env: { MEMSYNC_URL: "http://127.0.0.1:9" } };
    const toldUrl =
      /^memsync: MEMSYNC_URL is another here than this home's service until now, http/;
    for (const [options, sentence] of [
      [bob, told],
      [{ env: { MEMSYNC_TOKEN: "mst_garbage" } }, told],
      [elsewhere, toldUrl],
    ] as const) {
      for (const args of [["list"], ["get", "me"], ["preview"], ["set", "of-project", "value"]]) {
        const { stderr } = await ann.run(args, options);
        expect([args, stderr.replace(/^memsync: saved; [^\n]*\n/, "")]).toEqual([
          args,
          expect.stringMatching(sentence),
        ]);
      }
      for (const args of [
        ["set", "me", "of bob", "--layer", "user"],
        ["rm", "me", "--layer", "user"],
        ["set", "all", "of bob", "--layer", "global", "--yes"],
        ["move", "of-project", "--layer", "user"],
      ]) {
        const { status, stderr } = await ann.run(args, options);
        // Of `global` it is said first who sees it.
        const said = stderr.slice(stderr.indexOf("memsync: MEMSYNC_"));
        expect([args, status, said]).toEqual([args, 1, expect.stringMatching(sentence)]);
        expect(stderr.split(" here than ")).toHaveLength(2);
        expect(stderr.replaceAll(/\s+/g, " ")).toMatch(
          /, so nothing in (user|global) was changed: /,
        );
      }
    }
    const asked = await ann.run(["doctor"], bob);
    expect(asked.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /wrong token MEMSYNC_TOKEN is bob's, and the memories of the layer user at \S+ are ann's/,
    );
    expect(await ann.memsync("doctor")).toContain("taken; it is ann's");
    expect((await ann.list()).map(({ key, value }) => [key, value])).toEqual([
      ["of-project", "value"],
      ["me", "of ann"],
    ]);
  }),
);

scenario("a new token of the same user's is known once a daemon has been started with it", (lab) =>
  withAnn(lab, async ({ ann, token }) => {
    const url = ann.service?.url ?? "";
    ann.service = { url, token: await token("ann") };
    expect((await ann.run(["set", "me", "new", "--layer", "user"])).status).toBe(1);
    await ann.up();
    // Right after the start: the daemon is just asking whose it is.
    await ann.memsync("set", "me", "new", "--layer", "user");
    await ann.down();
    expect((await ann.run(["get", "me"])).stderr).toBe("");
  }),
);

scenario("beside a daemon without the home's service, nothing counts as synced", (lab) =>
  withAnn(lab, async ({ ann }) => {
    const mine = ann.service;
    ann.service = undefined;
    const told = /^memsync: MEMSYNC_URL is unset here, and this home was synced with http/;
    // At each start, not only at the first.
    for (let start = 0; start < 2; start++) {
      await ann.down();
      expect((await ann.run(["start"])).stderr).toMatch(told);
    }
    for (const command of ["status", "preview", "projects"]) {
      expect((await ann.run([command])).stderr).toMatch(told);
    }
    const synced = await ann.run(["sync", "--json"]);
    expect(synced.status).toBe(1);
    expect(synced.stderr).toMatch(
      /^memsync: everything is saved, but on this machine alone: the daemon was started without/,
    );
    const found = JSON.parse((await ann.run(["doctor", "--json"])).stdout) as Finding[];
    expect(found.find(({ code }) => code === "daemon-without-service")?.state).toBe("warning");
    const saved = await ann.run(["set", "all", "of ann", "--layer", "global"]);
    const name = new URL(mine?.url ?? "").host.replace(":", "-");
    expect(saved.stderr).toContain(`\`memsync remote rm ${name}\` leaves it for good`);
    expect((await ann.run(["remote", "rm", name])).stdout).toContain(`removed ${name}`);
    expect((await ann.run(["sync"])).stdout).toMatch(/^everything is synced/);
    expect((await ann.run(["set", "all", "2", "--layer", "global"])).stderr).toBe("");
    await ann.memsync("stop");
    // What the variable names is another service now, which gets nothing of what is here.
    ann.service = mine;
    expect((await ann.run(["remote", "list"])).stdout).toMatch(/embedded .* user: 1, global: 1/);
  }),
);

scenario(
  "a service that is left is the one that the home followed, and no variable names it",
  (lab) =>
    withAnn(lab, async ({ ann }) => {
      const name = new URL(ann.service?.url ?? "").host.replace(":", "-");
      const refused = await ann.run(["remote", "rm", name]);
      expect(refused.status).toBe(1);
      expect(refused.stderr).toMatch(/MEMSYNC_URL is set, and everything here follows it/);
      ann.service = undefined;
      expect((await ann.run(["remote", "rm", "another"])).stderr).toMatch(/there is no remote/);
      expect((await ann.run(["list"])).stderr).toMatch(/MEMSYNC_URL is unset here/);
    }),
);

scenario("what is read goes on where MEMSYNC_URL names no remote, and it is said once", (lab) =>
  withAnn(lab, async ({ ann }) => {
    await ann.memsync("remote", "add", "other", "http://127.0.0.1:9");
    const elsewhere = { env: { MEMSYNC_URL: "http://127.0.0.1:10" }, cwd: lab.git.path(".") };
    const file = lab.git.path("exported.json");
    for (const args of [["list", "--layer", "user"], ["stats"], ["export", file]]) {
      const { status, stderr } = await ann.run(args, elsewhere);
      expect([args, status, stderr]).toEqual([args, 0, expect.anything()]);
      expect(stderr.split("MEMSYNC_URL is an address")).toHaveLength(2);
    }
    for (const args of [
      ["set", "me", "of bob", "--layer", "user"],
      ["rm", "me", "--layer", "user"],
      ["add", "of bob", "--layer", "user"],
      ["import", file, "--yes"],
    ]) {
      const { status, stderr } = await ann.run(args, elsewhere);
      expect([args, status]).toEqual([args, 1]);
      expect(stderr.split("MEMSYNC_URL")).toHaveLength(2);
    }
    expect((await ann.list()).map(({ key, value }) => [key, value])).toEqual([["me", "of ann"]]);
  }),
);

scenario("a start says what goes from the embedded service to the one that is named", (lab) =>
  withAnn(lab, async ({ ann }) => {
    const dir = lab.git.path("folder-new");
    mkdirSync(dir, { recursive: true });
    const own = lab.machine("new", dir);
    await own.memsync("start");
    await own.memsync("set", "mine", "alone", "--layer", "global");
    await own.untilSynced();
    await own.memsync("stop");
    own.service = ann.service;
    const said = /what was in the embedded service alone \(1 memory\) goes to http\S+/;
    const first = (await own.run(["start"])).stderr.replaceAll(/\s+/g, " ");
    expect(first).toMatch(said);
    await own.untilSynced();
    await own.memsync("stop");
    expect((await own.run(["start"])).stderr).toBe("");
    await own.memsync("stop");
  }),
);

scenario("doctor finds that a daemon's calls are refused, whose token this shell has not", (lab) =>
  withAnn(lab, async ({ ann, token }) => {
    const mine = ann.service;
    const url = mine?.url ?? "";
    for (const [given, why] of [
      [await token("bob"), /calls fail: \S+ can't be called: MEMSYNC_TOKEN is bob's/],
      ["mst_garbage", /calls fail: \S+ refuses the token \(/],
    ] as const) {
      ann.service = { url, token: given };
      await ann.up();
      ann.service = mine;
      await waitFor("the daemon's calls to be refused", async () => {
        return /can't be called|refuses the token/.test(await ann.memsync("status"));
      });
      const { status, stdout } = await ann.run(["doctor", "--json"]);
      const found = JSON.parse(stdout) as Finding[];
      expect(status).toBe(1);
      expect(found.find(({ code }) => code === "daemon-refused")).toMatchObject({
        state: "wrong",
        detail: expect.stringMatching(why),
        mend: expect.stringContaining("`memsync stop`, then `memsync start` in the shell"),
      });
      await ann.down();
    }
    await ann.up();
    expect((await ann.run(["doctor"])).stdout).not.toMatch(/calls fail/);
  }),
);
