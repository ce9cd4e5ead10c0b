/**
 * Listens from the call on, because a program may be ended as soon as it says that it is ready. A
 * second signal of the same kind has no listener and ends the process at once.
 */
export function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve());
  });
}
