import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { answerInParts, bodyPartsOf } from "../../server/http/answer-parts.ts";
import {
  acceptsGzip,
  answerFor,
  UNCOMPRESSED_BYTES_MAX,
} from "../../server/http/compressed-answer.ts";
import { holdsGzip, matchesEtag } from "../../server/http/etag.ts";
import { bufferFor } from "../../server/http/garbage.ts";
import { inflateBody } from "../../server/http/inflate-body.ts";
import { AppError } from "../../shared/errors.ts";

describe("a compressed answer", () => {
  const LONG = "x".repeat(UNCOMPRESSED_BYTES_MAX + 1);
  const GZIP = new Headers({ "Accept-Encoding": "gzip" });
  const answer = (text: string, headers: Record<string, string> = {}) =>
    new Response(text, {
      headers: {
        "Content-Type": "application/json; charset=utf-8",
        "Content-Length": String(text.length),
        ...headers,
      },
    });
  const codingOf = async (given: Response, asked = GZIP) =>
    (await answerFor(asked, given)).headers.get("content-encoding");

  test("a compressed answer goes to whoever accepts gzip, and does not rather have it bare", () => {
    const accepted = ["gzip", "GZIP", "x-gzip", "br, gzip;q=0.5", "*", "deflate,*;q=0.1"];
    for (const header of [...accepted, "gzip;q=1.000, identity", "gzip ; q=0.5"]) {
      expect([header, acceptsGzip(header)]).toEqual([header, true]);
    }
    const refused = ["", "br", "gzip;q=0", "*;q=0", "gzip;q=0, *", "identity, gzip;q=0.5"];
    for (const header of [...refused, "gzipped", "gzip;q=high"]) {
      expect([header, acceptsGzip(header)]).toEqual([header, false]);
    }
    expect(acceptsGzip(null)).toBe(false);
  });

  test("a compressed answer is long, a text, and of a known length", async () => {
    expect(await codingOf(answer(LONG))).toBe("gzip");
    expect(await codingOf(answer("x".repeat(UNCOMPRESSED_BYTES_MAX)))).toBeNull();
    expect(await codingOf(answer(LONG), new Headers())).toBeNull();
    expect(await codingOf(answer(LONG, { "Content-Type": "image/png" }))).toBeNull();
    expect(await codingOf(answer(LONG, { "Content-Encoding": "br" }))).toBe("br");
    expect(await codingOf(new Response(new Response(LONG).body))).toBeNull();
  });

  test("a compressed answer keeps its status and its headers, and tells its own length", async () => {
    const long = "long ".repeat(100_000);
    const given = new Response(long, {
      status: 400,
      headers: { "Content-Type": "application/json", "Content-Length": "500000", "X-Other": "y" },
    });
    const packed = await answerFor(GZIP, given);
    expect([packed.status, packed.headers.get("x-other")]).toEqual([400, "y"]);
    const bytes = new Uint8Array(await packed.arrayBuffer());
    expect(packed.headers.get("content-length")).toBe(String(bytes.length));
    expect(Buffer.from(Bun.gunzipSync(bytes)).toString()).toBe(long);
  });

  test("an answer in parts that several have is compressed once, and stays in parts", async () => {
    // As long as many memories, and not to be made much shorter.
    const parts = Array.from({ length: 20 }, (_, part) => {
      const numbers = Array.from({ length: 12_000 }, (_, at) => (part * 12_000 + at) ** 2);
      return new TextEncoder().encode(numbers.join());
    });
    const whole = Buffer.concat(parts);
    const headers = { "Content-Type": "application/json", "Content-Length": `${whole.length}` };
    const answers = [1, 2].map(() => answerFor(GZIP, answerInParts(parts, { headers })));
    const [one, other] = await Promise.all(answers);
    if (!one || !other) throw new Error("no answers");
    const packed = await bodyPartsOf(one);
    expect(await bodyPartsOf(other)).toBe(packed);
    expect(Math.max(...packed.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
    expect(packed.length).toBeGreaterThan(2);
    for (const each of [one, other]) {
      const bytes = new Uint8Array(await each.arrayBuffer());
      expect(each.headers.get("content-length")).toBe(String(bytes.length));
      expect(whole.equals(Bun.gunzipSync(bytes))).toBe(true);
    }
  });

  test("a compressed answer has a tag of its own, which either representation may hold", async () => {
    const headers = { ETag: '"abc"', Vary: "Authorization" };
    const packed = await answerFor(GZIP, answer(LONG, headers));
    expect(packed.headers.get("etag")).toBe('"abc-gzip"');
    const bare = await answerFor(new Headers(), answer(LONG, headers));
    expect(bare.headers.get("etag")).toBe('"abc"');
    for (const each of [packed, bare]) {
      expect(each.headers.get("vary")).toBe("Authorization, Accept-Encoding");
    }
    for (const held of ['"abc-gzip"', 'W/"abc-gzip"', '"x", "abc-gzip"']) {
      expect([matchesEtag(held, '"abc"'), holdsGzip(held, '"abc"')]).toEqual([true, true]);
      const asked = new Headers({ "If-None-Match": held });
      const unchanged = new Response(null, { status: 304, headers: { ETag: '"abc"' } });
      expect((await answerFor(asked, unchanged)).headers.get("etag")).toBe('"abc-gzip"');
    }
    for (const held of ['"abc"', "*", '"abc-gzip", "abc"']) {
      expect([matchesEtag(held, '"abc"'), holdsGzip(held, '"abc"')]).toEqual([true, false]);
    }
    expect(matchesEtag('"abcd-gzip"', '"abc"')).toBe(false);
  });
});

test("a body inflates to as much as it may, and not to a byte more", async () => {
  const packed = gzipSync(Buffer.alloc(1000, 0x20));
  expect((await inflateBody(packed, 1000)).length).toBe(1000);
  expect(await inflateBody(packed, 999)).toBe("oversized");
  expect(await inflateBody(packed.subarray(0, -9), 1000)).toBe("broken");
  expect(await inflateBody(Buffer.from("{}"), 1000)).toBe("broken");
});

describe("room for what a body becomes", () => {
  /** What is asked for, in order, while this body is inflated. */
  async function askedFor(packed: Uint8Array) {
    const asked: (number | "turn")[] = [];
    const room = {
      take: (bytes: number) => void asked.push(bytes),
      turn: async () => void asked.push("turn"),
    };
    const bytes = await inflateBody(packed, 10_000_000, room);
    return { asked, result: typeof bytes === "string" ? bytes : bytes.length };
  }

  test("a body's own size is asked for, once, before it is inflated", async () => {
    const packed = gzipSync(Buffer.alloc(9_000_000));
    expect(await askedFor(packed)).toEqual({ asked: [9_000_000], result: 9_000_000 });
    const refused = new AppError("rate_limited", "no room");
    const take = () => {
      throw refused;
    };
    // It is not even looked at.
    const broken = Buffer.alloc(100, 7);
    await expect(inflateBody(broken, 1000, { take, turn: () => undefined })).rejects.toBe(refused);
  });

  test("a body that becomes larger than it says has its turn first, and room for all it can become", async () => {
    const lying = Uint8Array.from(gzipSync(Buffer.alloc(3_000_000)));
    lying.fill(0, -4);
    const most = lying.length * 1032;
    expect(await askedFor(lying)).toEqual({ asked: [0, most, "turn"], result: "broken" });
    const parts = [Buffer.alloc(200_000, 1), Buffer.alloc(100_000, 2)];
    const packed = Buffer.concat(parts.map((each) => gzipSync(each)));
    const all = packed.length * 1032;
    expect(await askedFor(packed)).toEqual({ asked: [100_000, all, "turn"], result: 300_000 });
    expect(Buffer.from((await inflateBody(packed, 300_000)) as Uint8Array)).toEqual(
      Buffer.concat(parts),
    );
  });
});

test("a long body inflates as it was read, in a buffer that can be given back", async () => {
  const text = randomBytes(1024 * 1024).toString("hex");
  const packed = gzipSync(text);
  const read = bufferFor(packed.length);
  read.set(packed);
  const bytes = await inflateBody(read, text.length);
  expect(typeof bytes === "string" ? bytes : Buffer.from(bytes).toString() === text).toBe(true);
  expect(await inflateBody(read.subarray(0, -9), text.length)).toBe("broken");
});
