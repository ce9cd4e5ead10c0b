/** A body in parts, in order. */
export type Parts = readonly Uint8Array<ArrayBuffer>[];

const partsOfAnswers = new WeakMap<Response, Parts>();

/**
 * An answer whose body is never in memory in one piece. Its `Content-Length` is the caller's. Parts
 * may belong to several answers.
 */
export function answerInParts(parts: Parts, init: ResponseInit): Response {
  let next = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const part = parts[next++];
        if (part) controller.enqueue(part);
        if (next >= parts.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const answer = new Response(body, init);
  partsOfAnswers.set(answer, parts);
  return answer;
}

/** The body of an answer, which is used up by that. */
export async function bodyPartsOf(answer: Response): Promise<Parts> {
  return partsOfAnswers.get(answer) ?? [new Uint8Array(await answer.arrayBuffer())];
}

/** The bytes of a body in parts. */
export function lengthOf(parts: Parts): number {
  return parts.reduce((bytes, part) => bytes + part.length, 0);
}
