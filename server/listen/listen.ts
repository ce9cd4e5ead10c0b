import type { Listen } from "./listener.ts";

/**
 * Listens with what the runtime offers. Imported on demand, so that a bundle for Node doesn't load
 * what only Bun has.
 *
 * ```
 * const listener = await listen(app, { host: "127.0.0.1", port: 0 });
 * await listener.close();
 * ```
 */
export const listen: Listen = async (app, address) => {
  if (process.versions.bun === undefined) {
    const { listenNode } = await import("./listen-node.ts");
    return listenNode(app, address);
  }
  const { listenBun } = await import("./listen-bun.ts");
  return listenBun(app, address);
};
