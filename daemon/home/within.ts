import type { World } from "../../shared/world.ts";

/**
 * Whether `work` ends within `limitMs` and before `signal` is aborted. Otherwise it continues in
 * the background, and a later rejection is ignored.
 */
export async function within(
  world: World,
  limitMs: number,
  { work, signal }: { readonly work: Promise<unknown>; readonly signal?: AbortSignal | undefined },
): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const giveUp = () => late.resolve(false);
  const timer = world.setTimer(limitMs, giveUp);
  signal?.addEventListener("abort", giveUp);
  if (signal?.aborted) giveUp();
  const ended = work.then(() => true);
  ended.catch(() => undefined);
  try {
    return await Promise.race([ended, late.promise]);
  } finally {
    timer.cancel();
    signal?.removeEventListener("abort", giveUp);
  }
}
