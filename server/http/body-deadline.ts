import { AppError } from "../../shared/errors.ts";
import type { World } from "../../shared/world.ts";

/**
 * The time for a body to arrive. Less than a connection may be silent, so that a slow client gets
 * an answer; Bun would end it without one.
 */
export const BODY_ARRIVAL_MS_MAX = 100_000;

const worlds = new WeakMap<Request, World>();

/** From now on, reading the body of `request` takes at most `BODY_ARRIVAL_MS_MAX`. */
export function limitArrival(request: Request, world: World): void {
  worlds.set(request, world);
}

/**
 * Resolves as `read` does. Throws a 400 if that takes too long; `late` is aborted then, so that
 * nothing of the body is kept, which nobody counts any more.
 */
export async function arrivedInTime<Body>(
  request: Request,
  read: (late: AbortSignal) => Promise<Body>,
): Promise<Body> {
  const world = worlds.get(request);
  const late = new AbortController();
  const reading = read(late.signal);
  if (!world) return await reading;
  return await new Promise<Body>((resolve, reject) => {
    const timer = world.setTimer(BODY_ARRIVAL_MS_MAX, () => {
      reject(tooSlow());
      late.abort();
    });
    reading.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** The chunks of a body until it ends, or is late: what has not come then is not waited for. */
export async function* bodyChunks(
  body: ReadableStream<Uint8Array>,
  late: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  late.addEventListener("abort", stop);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    late.removeEventListener("abort", stop);
    // Whoever looks at no more chunks wants none; after the last one this does nothing.
    stop();
  }
}

function tooSlow(): AppError {
  const seconds = BODY_ARRIVAL_MS_MAX / 1000;
  return new AppError("invalid_request", `the body did not arrive within ${seconds} seconds`);
}
