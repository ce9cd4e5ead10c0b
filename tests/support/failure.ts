/** What a call throws; undefined when it does not. */
export async function failureOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}
