import { expect, test } from "bun:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { connectRaw } from "../support/raw-connection.ts";
import { RUNTIMES, ServerFolder } from "../support/server-process.ts";

const MEMORIES = Array.from({ length: 400 }, (_, at) => ({
  key: `key-${at}`,
  value: `what was noted about the ${at}th thing`,
}));

const GZIP = { "Content-Encoding": "gzip" };

for (const runtime of RUNTIMES) {
  test(`on ${runtime}, long answers are compressed for whoever accepts it`, async () => {
    await using folder = await ServerFolder.create(runtime);
    const headers = { Authorization: `Bearer ${await folder.token()}` };
    const { url } = await folder.server();
    const body = gzipSync(JSON.stringify({ memories: MEMORIES }));
    const sent = { method: "POST", body, headers: { ...headers, ...GZIP } };
    expect((await fetch(`${url}/v1/projects/proj_a/sync`, sent)).status).toBe(200);

    const get = (more: Record<string, string>, method = "GET") =>
      fetch(`${url}/v1/memories`, { method, headers: { ...headers, ...more }, decompress: false });
    const bare = await get({ "Accept-Encoding": "identity" });
    const packed = await get({ "Accept-Encoding": "gzip" });
    const bytes = new Uint8Array(await packed.arrayBuffer());
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(packed.headers.get("content-length")).toBe(String(bytes.length));
    expect(bare.headers.get("content-encoding")).toBeNull();
    const text = await bare.text();
    expect(gunzipSync(bytes).toString()).toBe(text);
    expect(JSON.parse(text)).toMatchObject({ total: MEMORIES.length });
    expect(bytes.length * 4).toBeLessThan(text.length);

    const head = await get({ "Accept-Encoding": "gzip" }, "HEAD");
    for (const name of ["content-length", "content-encoding", "etag", "vary"]) {
      expect([name, head.headers.get(name)]).toEqual([name, packed.headers.get(name)]);
    }
    for (const held of [bare, packed]) {
      const etag = held.headers.get("etag") ?? "";
      const again = await get({ "Accept-Encoding": "gzip", "If-None-Match": etag });
      expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([
        304,
        etag,
        "",
      ]);
    }
    expect(packed.headers.get("etag")).not.toBe(bare.headers.get("etag"));
    const short = await fetch(`${url}/healthz`, { decompress: false });
    expect(short.headers.get("content-encoding")).toBeNull();
  });

  test(`on ${runtime}, a compressed body is inflated within its bounds`, async () => {
    await using folder = await ServerFolder.create(runtime);
    const authorization = `Bearer ${await folder.token()}`;
    const { url, port } = await folder.server();
    const post = async (body: Uint8Array<ArrayBuffer>, coding = "gzip") => {
      const headers = { Authorization: authorization, "Content-Encoding": coding };
      const answer = await fetch(`${url}/v1/projects/proj_a/sync`, {
        method: "POST",
        headers,
        body,
      });
      return [answer.status, await answer.text()] as const;
    };
    // A hundred times what a body may be, in a hundred times less than it may be.
    const part = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
    const bomb = Buffer.concat(Array<Buffer>(100).fill(part));
    const [status, text] = await post(bomb);
    expect([status, text]).toEqual([400, expect.stringContaining("larger than")]);
    expect(await post(new Uint8Array(gzipSync("{}").subarray(0, 12)))).toEqual([
      400,
      expect.stringContaining("is not the gzip"),
    ]);
    expect((await post(Buffer.from("{}")))[0]).toBe(400);
    expect((await post(Buffer.from("{}"), "identity"))[0]).toBe(200);
    expect((await post(new Uint8Array(gzipSync('{"memories":[]}')), "x-gzip"))[0]).toBe(200);
    // In a stream, without a declared length.
    const packed = gzipSync('{"memories":[]}').toString("latin1");
    using raw = await connectRaw(port);
    const chunked = [
      "POST /v1/projects/proj_a/sync HTTP/1.1",
      "Host: localhost",
      `Authorization: ${authorization}`,
      "Content-Encoding: gzip",
      "Transfer-Encoding: chunked",
      "",
      packed.length.toString(16),
      packed,
      "0",
      "",
      "",
    ];
    raw.write(Buffer.from(chunked.join("\r\n"), "latin1"));
    expect(await raw.until(/\}$/)).toStartWith("HTTP/1.1 200 ");
  });
}
