import { describe, expect, test } from "bun:test";
import { AppError, type ErrorDetail } from "../../shared/errors.ts";
import { LIMITS } from "../../shared/limits.ts";
import { parseConnectRequest } from "../../shared/wire/connection.ts";
import { parseMemoryCreate } from "../../shared/wire/memory.ts";
import { parseProjectPut } from "../../shared/wire/project.ts";
import { parseSyncPayload } from "../../shared/wire/sync.ts";

/** What `parse` throws, as an `AppError`. */
function refusal(parse: () => unknown): AppError {
  try {
    parse();
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was refused");
}

function detailsOf(parse: () => unknown): readonly ErrorDetail[] {
  const error = refusal(parse);
  expect(error.code).toBe("invalid_request");
  return error.details;
}

function placesOf(parse: () => unknown): string[] {
  return detailsOf(parse).map(({ path }) => path);
}

describe("a memory to create", () => {
  test("a memory to create needs content alone, and goes to the project layer", () => {
    expect(parseMemoryCreate({ content: "x" })).toEqual({ content: "x", layer: "project" });
  });

  test("a memory to create loses null and unknown fields", () => {
    const body = { content: "x", layer: null, project_id: null, key: null, colour: "red" };
    expect(parseMemoryCreate(body)).toEqual({ content: "x", layer: "project" });
  });

  test("a memory to create finds no field on a prototype", () => {
    const body = Object.create({ content: "inherited" }) as unknown;
    expect(placesOf(() => parseMemoryCreate(body))).toEqual(["/content"]);
  });

  test("a memory to create has each offending place in its refusal, once, and no submitted value", () => {
    const body = { content: 12345, layer: "secret-layer", key: "" };
    const details = detailsOf(() => parseMemoryCreate(body));
    expect(details.map(({ path }) => path).sort()).toEqual(["/content", "/key", "/layer"]);
    expect(JSON.stringify(details)).not.toMatch(/12345|secret-layer/);
  });

  test("a memory to create names an ill-formed project as an unknown one", () => {
    const parse = () => parseMemoryCreate({ content: "x", project_id: "proj_a b" });
    expect(refusal(parse).code).toBe("not_found");
  });

  test("a memory to create is checked for its form before its project is looked at", () => {
    const parse = () => parseMemoryCreate({ content: "", project_id: "nonsense" });
    expect(refusal(parse).code).toBe("invalid_request");
  });

  test("a memory to create is an object", () => {
    for (const body of [null, [], "text", 5, true]) {
      expect(placesOf(() => parseMemoryCreate(body))).toEqual([""]);
    }
  });
});

describe("text", () => {
  const bytes32K = LIMITS.memoryValueBytes;
  const content = (text: string) => () => parseMemoryCreate({ content: text });

  test("text is measured in bytes of UTF-8", () => {
    expect(content("é".repeat(bytes32K / 2))).not.toThrow();
    expect(placesOf(content(`${"é".repeat(bytes32K / 2)}x`))).toEqual(["/content"]);
    expect(content("x".repeat(bytes32K))).not.toThrow();
    expect(placesOf(content("x".repeat(bytes32K + 1)))).toEqual(["/content"]);
  });

  test("text comes out well formed", () => {
    expect(parseMemoryCreate({ content: "a\ud800b" }).content).toBe("a\ufffdb");
  });

  test("text has no NUL character and is not empty", () => {
    expect(placesOf(content("a\0b"))).toEqual(["/content"]);
    expect(placesOf(content(""))).toEqual(["/content"]);
  });
});

describe("a sync payload", () => {
  test("a sync payload may bring nothing", () => {
    expect(parseSyncPayload({})).toEqual({});
    expect(parseSyncPayload({ memories: null, metadata: null, sessions: null })).toEqual({});
  });

  test("a sync payload may have empty values but no empty keys", () => {
    expect(parseSyncPayload({ memories: [{ key: "k", value: "" }] })).toEqual({
      memories: [{ key: "k", value: "" }],
    });
    const empty = { memories: [{ key: "", value: "v" }] };
    expect(placesOf(() => parseSyncPayload(empty))).toEqual(["/memories/0/key"]);
  });

  test("a sync payload has each key once, compared when well formed", () => {
    const memory = (key: string) => ({ key, value: "v" });
    const doubled = { memories: [memory("a"), memory("b"), memory("a")] };
    expect(placesOf(() => parseSyncPayload(doubled))).toEqual(["/memories/2/key"]);
    const surrogates = { memories: [memory("\ud800"), memory("\udc00")] };
    expect(placesOf(() => parseSyncPayload(surrogates))).toEqual(["/memories/1/key"]);
  });

  test("a sync payload takes 10,000 memories and no more", () => {
    const memories = Array.from({ length: LIMITS.memoriesPerSync }, (_, index) => ({
      key: `key ${index}`,
      value: "v".repeat(100),
    }));
    expect(parseSyncPayload({ memories }).memories).toHaveLength(LIMITS.memoriesPerSync);
    const more = { memories: [...memories, { key: "one more", value: "" }] };
    expect(placesOf(() => parseSyncPayload(more))).toEqual(["/memories"]);
  });

  test("a sync payload names one place more than an error body shows, however many are wrong", () => {
    const memories = new Array(5000).fill({ key: 1, value: 2 });
    expect(placesOf(() => parseSyncPayload({ memories }))).toHaveLength(101);
  });

  test("a sync payload has a text of at most 1 MiB", () => {
    const text = (length: number) => () =>
      parseSyncPayload({ claude_md_content: "x".repeat(length) });
    expect(text(LIMITS.claudeMdBytes)).not.toThrow();
    expect(placesOf(text(LIMITS.claudeMdBytes + 1))).toEqual(["/claude_md_content"]);
  });
});

describe("metadata", () => {
  const parse = (metadata: unknown) => () => parseSyncPayload({ metadata });
  const nested = (levels: number): unknown => (levels === 1 ? {} : { in: nested(levels - 1) });

  test("metadata is kept as it is, nulls at the top included", () => {
    const metadata = { language: "Go", gone: null, list: [1, null, { deep: true }] };
    expect(parseSyncPayload({ metadata }).metadata).toEqual(metadata);
  });

  test("metadata is an object", () => {
    for (const metadata of [[], "text", 5])
      expect(placesOf(parse(metadata))).toEqual(["/metadata"]);
  });

  test("metadata has no __proto__ as a key, at any depth, and none vanishes", () => {
    expect(placesOf(parse(JSON.parse('{"__proto__": {"a": 1}}')))).toEqual(["/metadata/__proto__"]);
    const deep = JSON.parse('{"a": [{"__proto__": null}]}');
    expect(placesOf(parse(deep))).toEqual(["/metadata/a/0/__proto__"]);
  });

  test("metadata may have constructor and toString as keys", () => {
    const metadata = { constructor: "x", toString: "y", hasOwnProperty: "z" };
    expect(parseSyncPayload({ metadata }).metadata).toEqual(metadata);
  });

  test("metadata is at most 32 levels deep", () => {
    expect(parse(nested(LIMITS.metadataDepth))).not.toThrow();
    expect(placesOf(parse(nested(LIMITS.metadataDepth + 1)))).toHaveLength(1);
  });

  test("metadata is at most 64 KiB as JSON", () => {
    const sized = (bytes: number) => ({ k: "x".repeat(bytes - '{"k":""}'.length) });
    expect(parse(sized(LIMITS.metadataBytes))).not.toThrow();
    expect(placesOf(parse(sized(LIMITS.metadataBytes + 1)))).toEqual(["/metadata"]);
  });

  test("metadata leaves memsync's own keys alone", () => {
    expect(placesOf(parse({ "memsync.name": "x" }))).toEqual(["/metadata/memsync.name"]);
    expect(parse({ nested: { "memsync.name": "x" } })).not.toThrow();
  });

  test("metadata has strings for what the published interface says are strings", () => {
    expect(placesOf(parse({ language: 5, framework: {} }))).toEqual([
      "/metadata/language",
      "/metadata/framework",
    ]);
    expect(parse({ language: null, framework: "Elysia" })).not.toThrow();
  });

  test("metadata has no NUL character in keys or strings, and pointers are escaped", () => {
    expect(placesOf(parse({ "a/b~c": "x\0" }))).toEqual(["/metadata/a~1b~0c"]);
    expect(placesOf(parse({ "x\0": 1 }))).toEqual(["/metadata"]);
  });

  test("metadata comes out well formed, and keys that become equal are refused", () => {
    expect(parseSyncPayload({ metadata: { "\ud800": "\udc00" } }).metadata).toEqual({
      "\ufffd": "\ufffd",
    });
    expect(placesOf(parse({ "\ud800": 1, "\ud801": 2 }))).toEqual(["/metadata/\ufffd"]);
  });
});

describe("sessions", () => {
  const session = {
    id: "sess_a",
    source: "claude-code",
    started_at: "2026-01-02T03:04:05Z",
    last_activity_at: "2026-01-02T04:04:05.1239+01:00",
    message_count: 3,
  };
  const parse = (changes: object) => () =>
    parseSyncPayload({ sessions: [{ ...session, ...changes }] });

  test("sessions come out with normal times and nothing absent", () => {
    expect(parseSyncPayload({ sessions: [session] }).sessions).toEqual([
      {
        id: "sess_a" as never,
        title: null,
        source: "claude-code",
        started_at: "2026-01-02T03:04:05.000Z",
        last_activity_at: "2026-01-02T03:04:05.123Z",
        ended_at: null,
        message_count: 3,
        model: null,
        git_branch: null,
        machine: null,
      },
    ]);
  });

  test.each([
    [{ id: "mem_a" }, "id"],
    [{ id: "sess_" }, "id"],
    [{ source: undefined }, "source"],
    [{ message_count: "5" }, "message_count"],
    [{ message_count: 1.5 }, "message_count"],
    [{ message_count: -1 }, "message_count"],
    [{ started_at: "yesterday" }, "started_at"],
    [{ started_at: "2026-01-02" }, "started_at"],
    [{ started_at: "2026-01-02T03:04:05" }, "started_at"],
    [{ started_at: "2026-02-30T03:04:05Z" }, "started_at"],
    [{ started_at: "2026-01-02T24:00:00Z" }, "started_at"],
    [{ started_at: 1_700_000_000_000 }, "started_at"],
    [{ ended_at: "0000-01-01T00:00:00+23:00" }, "ended_at"],
  ])("sessions with %j are refused", (changes, field) => {
    expect(placesOf(parse(changes))).toEqual([`/sessions/0/${field}`]);
  });

  test("sessions have each id once", () => {
    const doubled = { sessions: [session, session] };
    expect(placesOf(() => parseSyncPayload(doubled))).toEqual(["/sessions/1/id"]);
  });
});

describe("a project to put", () => {
  test("a project to put needs an id or a name", () => {
    expect(parseProjectPut({ name: "x" })).toEqual({ name: "x" });
    expect(parseProjectPut({ id: "proj_x" })).toEqual({ id: "proj_x" as never });
    expect(detailsOf(() => parseProjectPut({ metadata: {} }))).toHaveLength(1);
  });

  test("a project to put has a well-formed id and a name of at most 200 bytes", () => {
    expect(placesOf(() => parseProjectPut({ id: "proj_ä" }))).toEqual(["/id"]);
    expect(placesOf(() => parseProjectPut({ name: "x".repeat(201) }))).toEqual(["/name"]);
    expect(placesOf(() => parseProjectPut({ name: "" }))).toEqual(["/name"]);
  });
});

describe("two projects to connect", () => {
  test("two projects to connect are both there and two", () => {
    expect(placesOf(() => parseConnectRequest({}))).toEqual(["/project_id", "/target_project_id"]);
    const same = { project_id: "proj_a", target_project_id: "proj_a" };
    expect(placesOf(() => parseConnectRequest(same))).toEqual(["/target_project_id"]);
  });

  test("two projects to connect are unknown when ill-formed", () => {
    const request = { project_id: "proj_a", target_project_id: "b" };
    expect(refusal(() => parseConnectRequest(request)).code).toBe("not_found");
  });
});
