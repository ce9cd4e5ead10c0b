import { expect, test } from "bun:test";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { connectRaw } from "../support/raw-connection.ts";

/** A script of the page, which has no types. */
const SCRIPT = "../../server/emulator/page/curl.js";

test("a request is sent again as it came, with what is behind a # in its address", async () => {
  const { curlOf } = await import(SCRIPT);
  await using emulator = await startEmulator();
  for (const target of ["/v1/memories?q=a#b", "/v1/memories#b", "/v1/memories?q=it's&q=%23"]) {
    await emulator.reset();
    using connection = await connectRaw(emulator.port);
    connection.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n`);
    connection.write("Authorization: Bearer mst_dev_pro\r\n\r\n");
    await connection.until(/HTTP\/1.1 \d+/);
    const [first] = (await emulator.requests.list()).requests;
    const again = Bun.spawn(["sh", "-c", curlOf(first, emulator.url)], {
      env: { ...process.env, MEMSYNC_TOKEN: emulator.token },
      stdout: "ignore",
      stderr: "ignore",
    });
    expect(await again.exited).toBe(0);
    const { requests } = await emulator.requests.list();
    const told = requests.map(({ path, query, status, token }) => ({ path, query, status, token }));
    expect(told).toHaveLength(2);
    expect(told[1]).toEqual(told[0] as (typeof told)[0]);
  }
});
