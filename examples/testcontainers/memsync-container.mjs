// @ts-check
import { randomUUID } from "node:crypto";
import { GenericContainer, Wait } from "testcontainers";

const PORT = 4777;

/**
 * Starts the emulator in a container, from the image that `deploy/Dockerfile` makes with
 * `--target emulator`. `options` are those of `memsync emulator`.
 *
 * @param {{ image?: string, options?: string[] }} [given]
 */
export async function startMemsync({ image = "memsync-emulator", options = [] } = {}) {
  const controlToken = randomUUID();
  const container = await new GenericContainer(image)
    .withExposedPorts(PORT)
    .withEnvironment({ MEMSYNC_EMULATOR_TOKEN: controlToken })
    .withCommand(options)
    // The image tells its health when a request has been answered.
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
  const url = `http://${container.getHost()}:${container.getMappedPort(PORT)}`;
  return {
    env: { MEMSYNC_URL: url, MEMSYNC_TOKEN: "mst_dev_pro" },
    stop: () => container.stop(),

    /**
     * A control call: `await memsync.control("POST", "reset", {})`.
     *
     * @param {string} method
     * @param {string} path
     * @param {object} [body]
     */
    async control(method, path, body) {
      const response = await fetch(`${url}/_emulator/${path}`, {
        method,
        headers: { Authorization: `Bearer ${controlToken}`, "Content-Type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      return await response.json();
    },
  };
}
