import { isObject, parseJson } from "../../shared/json.ts";
import { realWorld } from "../../shared/world-real.ts";

/** More than any assistant sends. */
const INPUT_BYTES_MAX = 8 * 1024 * 1024;

/**
 * A hook's standard input, as far as it comes in time. An assistant may keep it open: once an
 * object is whole, nothing more is waited for.
 */
export async function readInput(
  stream: ReadableStream<Uint8Array>,
  deadlineMs: number,
): Promise<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  const late = Promise.withResolvers<undefined>();
  const timer = realWorld.setTimer(deadlineMs, () => late.resolve(undefined));
  let [text, bytes] = ["", 0];
  try {
    while (bytes <= INPUT_BYTES_MAX && !isWhole(text)) {
      const read = await Promise.race([reader.read(), late.promise]);
      if (read === undefined || read.done) break;
      bytes += read.value.length;
      text += decoder.decode(read.value, { stream: true });
    }
    return text + decoder.decode();
  } finally {
    timer.cancel();
    reader.cancel().catch(() => undefined);
  }
}

function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    return isObject(parseJson(text));
  } catch {
    return false;
  }
}
