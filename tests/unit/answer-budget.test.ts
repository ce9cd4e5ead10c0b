import { describe, expect, test } from "bun:test";
import {
  AnswerBudget,
  type AnswerRoom,
  LONG_ANSWER_BYTES,
} from "../../server/http/answer-budget.ts";
import type { Services } from "../../server/services/services.ts";
import { asAccountId } from "../../shared/ids.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createFakeServices, MEMORY } from "../support/fake-services.ts";
import { startServer } from "../support/http-server.ts";
import { manualTimers } from "../support/manual-timers.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { waitFor } from "../support/wait-for.ts";

const [ANN, BOB] = [asAccountId("acct_ann"), asAccountId("acct_bob")];
const KIB = 1024;
const STALLED_MS = 1000;
const ROOM: AnswerRoom = { total: 1000 * KIB, perAccount: 500 * KIB, stalledMs: STALLED_MS };

function answerOf(kib: number): Response {
  const text = "x".repeat(kib * KIB);
  return new Response(text, { headers: { "Content-Length": String(text.length), "X-A": "b" } });
}

/** "whole", or "ended" where the answer breaks off. */
async function fate(answer: Response): Promise<string> {
  return await answer.text().then(
    () => "whole",
    () => "ended",
  );
}

describe("room for long answers", () => {
  test("room for long answers is not taken by others, which stay as they are", async () => {
    const answers = new AnswerBudget(realWorld, ROOM);
    for (const short of [answerOf(64), new Response(null, { status: 304 }), new Response("x")]) {
      expect(await answers.send(ANN, short)).toBe(short);
    }
    expect(answers.bytes).toBe(0);
  });

  test("room for long answers is given back when they are fetched, or given up", async () => {
    const answers = new AnswerBudget(realWorld, ROOM);
    const whole = await answers.send(ANN, answerOf(300));
    const left = await answers.send(BOB, answerOf(200));
    expect(answers.bytes).toBe(500 * KIB);
    expect(whole.headers.get("x-a")).toBe("b");
    expect(await whole.text()).toBe("x".repeat(300 * KIB));
    expect(answers.bytes).toBe(200 * KIB);
    await left.body?.cancel();
    expect([answers.bytes, answers.ended]).toEqual([0, 0]);
  });

  test("room for long answers is an account's: what it has waited for longest ends", async () => {
    const answers = new AnswerBudget(realWorld, ROOM);
    const bobs = await answers.send(BOB, answerOf(400));
    const [first, second] = [
      await answers.send(ANN, answerOf(200)),
      await answers.send(ANN, answerOf(200)),
    ];
    const reader = first.body?.getReader();
    expect((await reader?.read())?.value?.length).toBe(LONG_ANSWER_BYTES);
    const third = await answers.send(ANN, answerOf(200));
    expect(answers.bytes).toBe(800 * KIB);
    expect(answers.ended).toBe(1);
    expect(await fate(second)).toBe("ended");
    expect(await Promise.all([bobs, third].map(fate))).toEqual(["whole", "whole"]);
    // One that is alone may take more.
    expect(await fate(await answers.send(ANN, answerOf(3000)))).toBe("whole");
    expect(answers.ended).toBe(2);
    expect(answers.bytes).toBe(0);
  });

  test("room for long answers is everybody's: the longest waiting of all ends", async () => {
    const answers = new AnswerBudget(realWorld, ROOM);
    const sent: Response[] = [];
    for (const account of [ANN, BOB, undefined])
      sent.push(await answers.send(account, answerOf(400)));
    expect(answers.bytes).toBe(800 * KIB);
    expect(await Promise.all(sent.map(fate))).toEqual(["ended", "whole", "whole"]);
  });

  test("a long answer of which nothing is fetched in time is ended", async () => {
    const { world, fire } = manualTimers();
    const answers = new AnswerBudget(world, ROOM);
    const [stuck, slow] = [
      await answers.send(ANN, answerOf(200)),
      await answers.send(ANN, answerOf(200)),
    ];
    fire(STALLED_MS);
    expect(answers.bytes).toBe(0);
    expect(await Promise.all([stuck, slow].map(fate))).toEqual(["ended", "ended"]);
    const going = await answers.send(BOB, answerOf(200));
    expect(await fate(going)).toBe("whole");
    fire(STALLED_MS);
    expect(answers.ended).toBe(2);
  });
});

test("a client that fetches nothing loses its answer, and another of its account gets one", async () => {
  // More than the system's own buffers of a connection take.
  const content = "x".repeat(24 * KIB * KIB);
  const { services } = createFakeServices();
  const list: Services["memories"]["list"] = async () => ({
    items: [{ ...MEMORY, content }],
    total: 1,
    nextCursor: null,
  });
  const answers = new AnswerBudget(realWorld, { ...ROOM, total: 40 * KIB * KIB });
  const memories = { ...services.memories, list };
  await using server = await startServer({ services: { ...services, memories }, answers });
  using stuck = await connectRaw(server.listener.port ?? 0);
  stuck.pause();
  const head =
    "GET /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\n\r\n";
  stuck.write(head);
  await waitFor("the answer to be under way", () => answers.bytes > content.length);
  const response = await server.send("GET", "/v1/memories");
  expect(((await response.json()) as { memories: [{ content: string }] }).memories[0].content).toBe(
    content,
  );
  expect(answers.ended).toBe(1);
  await waitFor("the room to be free", () => answers.bytes === 0);
  expect((await server.send("HEAD", "/v1/memories")).headers.get("content-length")).toBe(
    String(
      JSON.stringify({ memories: [{ ...MEMORY, content }], total: 1, next_cursor: null }).length,
    ),
  );
});
