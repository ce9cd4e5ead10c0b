import { describe, expect, test } from "bun:test";
import { AppError } from "../../shared/errors.ts";
import type { ProjectId, SessionId } from "../../shared/ids.ts";
import { decodeBase64, encodeBase64 } from "../../shared/wire/base64.ts";
import {
  type ExchangeAnswer,
  type ExchangeRequest,
  encodeExchangeAnswer,
  encodeExchangeRequest,
  isExchangeBody,
  parseExchangeAnswer,
  parseExchangeRequest,
} from "../../shared/wire/exchange.ts";
import {
  encodeServerFrame,
  encodeSubscribe,
  parseClientFrame,
  parseServerFrame,
  type ServerFrame,
} from "../../shared/wire/live.ts";
import { projectId } from "../support/project-id.ts";

const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function placesOf(parse: () => unknown): string[] {
  try {
    parse();
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown.details.map(({ path }) => path);
    throw thrown;
  }
  throw new Error("nothing was refused");
}

const documents = (given: unknown) => ({ crdt: { encoding: "yjs-v1", documents: given } });

describe("a replica exchange", () => {
  test("a replica exchange arrives as it was sent", () => {
    const request: ExchangeRequest = {
      documents: {
        project: { position: { epoch: "e1", seq: 5 }, update: new Uint8Array([1, 2, 255]) },
        user: { stateVector: new Uint8Array([0]) },
        global: {},
      },
      sessions: [
        {
          id: "sess_a" as SessionId,
          title: "t",
          source: "s",
          started_at: "2026-01-02T03:04:05.000Z",
          last_activity_at: "2026-01-02T03:04:05.000Z",
          ended_at: null,
          message_count: 0,
          model: null,
          git_branch: "main",
          machine: null,
        },
      ],
    };
    expect(parseExchangeRequest(overTheWire(encodeExchangeRequest(request)))).toEqual(request);
  });

  test("a replica exchange is answered as the server meant it", () => {
    const answers: ExchangeAnswer[] = [
      { documents: {} },
      { documents: { project: { epoch: "", seq: 0 } } },
      {
        documents: {
          project: { epoch: "e", seq: 9, reset: true, stateVector: new Uint8Array([1]) },
          user: { epoch: "e", seq: 1, missing: true, stateVector: new Uint8Array() },
          global: { forbidden: true },
        },
      },
      { documents: { global: { refused: { message: "too large" } } } },
    ];
    for (const answer of answers) {
      expect(parseExchangeAnswer(overTheWire(encodeExchangeAnswer(answer)))).toEqual(answer);
    }
  });

  test.each([
    [{ crdt: 5 }, ["/crdt"]],
    [{ crdt: {} }, ["/crdt/encoding", "/crdt/documents"]],
    [{ crdt: { encoding: "yjs-v2", documents: {} } }, ["/crdt/encoding"]],
    [documents([]), ["/crdt/documents"]],
    [documents({ project: { seq: 1 } }), ["/crdt/documents/project/epoch"]],
    [documents({ project: { epoch: "e" } }), ["/crdt/documents/project/seq"]],
    [documents({ project: { epoch: "e", seq: "1" } }), ["/crdt/documents/project/seq"]],
    [documents({ project: { epoch: "e", seq: -1 } }), ["/crdt/documents/project/seq"]],
    [documents({ project: { epoch: "e f", seq: 1 } }), ["/crdt/documents/project/epoch"]],
    [documents({ user: { update: "AQI" } }), ["/crdt/documents/user/update"]],
    [documents({ user: { update: "A-_=" } }), ["/crdt/documents/user/update"]],
    [documents({ user: { state_vector: 5 } }), ["/crdt/documents/user/state_vector"]],
    [{ ...documents({}), memories: [] }, ["/memories"]],
    [
      { ...documents({}), claude_md_content: "", metadata: {} },
      ["/claude_md_content", "/metadata"],
    ],
  ])("with the body %j is refused", (body, places) => {
    expect(placesOf(() => parseExchangeRequest(body))).toEqual(places);
  });

  test("a replica exchange ignores null plain fields and documents it does not know", () => {
    const body = { ...documents({ project: null, shared: { seq: "?" } }), memories: null };
    expect(parseExchangeRequest(body)).toEqual({ documents: {} });
  });

  test("a replica exchange is asked for by a crdt field that is not null", () => {
    expect(isExchangeBody({ crdt: 5 })).toBe(true);
    expect(isExchangeBody({ crdt: null })).toBe(false);
    expect(isExchangeBody({})).toBe(false);
    expect(isExchangeBody(null)).toBe(false);
  });
});

describe("base64", () => {
  test("base64 comes back as it was", () => {
    for (const length of [0, 1, 2, 3, 1000, 49_151, 49_152, 49_153]) {
      const bytes = crypto.getRandomValues(new Uint8Array(length));
      expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
    }
  });

  test("base64 of a long text is refused wherever it is damaged", () => {
    const encoded = encodeBase64(new Uint8Array(100_000));
    for (const at of [0, 65_535, 65_536, encoded.length - 5]) {
      const damaged = `${encoded.slice(0, at)} ${encoded.slice(at + 1)}`;
      expect(decodeBase64(damaged)).toBeUndefined();
      expect(decodeBase64(`${encoded.slice(0, at)}=${encoded.slice(at)}`)).toBeUndefined();
    }
    expect(decodeBase64(`${encoded}AAAA`)).toBeUndefined();
  });

  test.each(["A", "AA", "AAA", "AB==", "A A=", "AAAA\n", "AA-_", "====", "AAAA="])(
    "base64 is not %j",
    (encoded) => {
      expect(decodeBase64(encoded)).toBeUndefined();
    },
  );
});

describe("a live frame", () => {
  const project = projectId("a");

  test("a live frame of the client arrives as it was sent", () => {
    expect(parseClientFrame(encodeSubscribe([project]))).toEqual({
      type: "subscribe",
      projectIds: [project],
    });
    expect(parseClientFrame(encodeSubscribe([], { account: true })).account).toBe(true);
  });

  test("a live frame of the server arrives as it was sent", () => {
    const frames: ServerFrame[] = [
      {
        type: "subscribed",
        positions: new Map([
          [project as "user" | ProjectId, { epoch: "e", seq: 1 }],
          ["user", { epoch: "", seq: 0 }],
        ]),
      },
      { type: "changed", projectId: null, document: "global", epoch: "e", seq: 2 },
      {
        type: "changed",
        projectId: project,
        document: "project",
        epoch: "e",
        seq: 3,
        update: new Uint8Array([0, 0]),
      },
      { type: "account", account: { name: "acme", plan: "team", users: 3, user: null } },
    ];
    for (const frame of frames) {
      expect(parseServerFrame(encodeServerFrame(frame))).toEqual(frame);
    }
  });

  test.each([
    "",
    "ping",
    "null",
    "[]",
    "{}",
    '{"type":"subscribe"}',
    '{"type":"subscribe","project_ids":"proj_a"}',
    '{"type":"subscribe","project_ids":["a"]}',
    '{"type":"subscribe","project_ids":[5]}',
    '{"type":"unsubscribe","project_ids":[]}',
  ])("a live frame of the client is not %s", (frame) => {
    expect(() => parseClientFrame(frame)).toThrow(AppError);
  });

  test("a live frame of the client names at most 1,000 projects", () => {
    const naming = (count: number) => encodeSubscribe(new Array(count).fill(project));
    expect(parseClientFrame(naming(1000)).projectIds).toHaveLength(1000);
    expect(() => parseClientFrame(naming(1001))).toThrow(AppError);
  });

  test.each([
    '{"type":"subscribed","positions":{"proj_a":{"epoch":5,"seq":0}}}',
    '{"type":"changed","project_id":null,"document":"project","epoch":"e","seq":1}',
    '{"type":"changed","project_id":"proj_a","document":"user","epoch":"e","seq":1}',
    '{"type":"changed","project_id":null,"document":"user","epoch":"e","seq":1,"update":"?"}',
    '{"type":"account","account":{"name":"acme","users":"3"}}',
  ])("a live frame of the server is not %s", (frame) => {
    expect(() => parseServerFrame(frame)).toThrow(AppError);
  });

  test("a live frame of a kind that came later is left alone by the client", () => {
    expect(parseServerFrame('{"type":"greeting"}')).toBeUndefined();
  });
});
