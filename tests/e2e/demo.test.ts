import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MEMSYNC } from "../support/machine.ts";
import { RunningProcess } from "../support/running-process.ts";

test("the demonstration brings two machines together and leaves nothing behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-demo-test-"));
  try {
    const { PATH = "" } = process.env;
    // As long as a Mac's: a socket is not below it then.
    const temporary = join(folder, "temporary-".repeat(6));
    mkdirSync(temporary);
    const env = { PATH, HOME: folder, TMPDIR: temporary, MEMSYNC_URL: "http://127.0.0.1:1" };
    const demo = new RunningProcess([...MEMSYNC, "demo"], { cwd: folder, env });
    const { status, stdout, stderr } = await demo.ended();
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const [, , scene = ""] = stdout.split(/^[123] {2}/m).slice(1);
    expect(scene.match(/- Deploy on Mondays, not on Fridays\./g)).toHaveLength(2);
    expect(scene.match(/- Tests need Redis on port 6380\./g)).toHaveLength(2);
    expect(scene).toContain("`make deploy`, is kept");
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(folder)).not.toContain(".memsync");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
