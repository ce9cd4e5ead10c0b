import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "../../cli/place/environment.ts";
import { homeStatusLines, readHomeStatus } from "../../cli/status/home-status.ts";
import { changeHome } from "../../cli/writes/inbox-write.ts";
import { putLink } from "../../daemon/home/links.ts";
import { projectId } from "../support/project-id.ts";
import { NOW } from "../support/replicas.ts";

test("without a daemon, too, all of the status names each odd line of ignored names", async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "memsync-home-status-")));
  try {
    const env = { ...readEnvironment({ MEMSYNC_HOME: join(dir, "home") }), dir };
    const names = ["one", "two", "three", "four", "five"].map((name) => `${name}.md # mine\n`);
    writeFileSync(join(dir, ".memsyncignore"), names.join(""));
    const link = { dir, projectId: projectId("odd"), name: "odd", write: false };
    await changeHome(env.home, (db) => putLink(db, link, NOW));
    const status = await readHomeStatus(env);
    if (!status) throw new Error("there is no home");
    const linesOf = (how: "all" | "whole") =>
      homeStatusLines(status, { kind: "nowhere" }, how).filter((line) =>
        /\.memsyncignore/.test(line),
      );
    expect(linesOf("whole")).toHaveLength(4);
    expect(linesOf("whole")[3]).toContain("2 more such lines");
    expect(linesOf("all")).toHaveLength(5);
    expect(linesOf("all")[4]).toContain("five.md");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
