import { EMULATOR_IMAGE } from "../support/emulator-image.ts";
import type { Consumer, Program } from "./consumer.ts";

const PORT = "4777/tcp";

interface Asked {
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
}

interface Container extends Asked {
  running?: { readonly program: Program; readonly port: string };
}

/** A container engine, as far as Testcontainers asks one for a single container at a time. */
export interface ContainerEngine extends AsyncDisposable {
  /** What `DOCKER_HOST` leads to it by. */
  readonly host: string;
  /** How many containers were made, and how many of them are left. */
  readonly counts: { readonly made: number; readonly left: number };
}

/**
 * Stands in for Docker where there is none: a container of the emulator's image is the command
 * that the image runs, of the package that is installed, on a port of this machine. The health of
 * one is what the image's own check says.
 */
export function startContainerEngine(consumer: Consumer): ContainerEngine {
  const containers = new Map<string, Container>();
  const memsync = "node_modules/.bin/memsync";
  let made = 0;

  async function start(container: Container): Promise<Response> {
    const { Env, Cmd } = container;
    const command = [memsync, ...EMULATOR_IMAGE.entrypoint, "--port", "0", ...Cmd];
    const program = consumer.start("env", ...Env, ...command);
    const [, port = ""] = await program.prints(/ready at http:\S+:(\d+)/);
    container.running = { program, port };
    return done();
  }

  async function inspect(id: string, { running }: Container): Promise<Response> {
    const check = [memsync, ...EMULATOR_IMAGE.health, "--port", running?.port ?? "0"];
    const { status } = await consumer.run(...check);
    return Response.json({
      Id: id,
      Name: `/${id}`,
      Config: { Hostname: id, Labels: {} },
      State: {
        Status: "running",
        Running: running !== undefined,
        StartedAt: "2026-01-01T00:00:00Z",
        FinishedAt: "0001-01-01T00:00:00Z",
        Health: { Status: status === 0 ? "healthy" : "starting" },
      },
      NetworkSettings: {
        Ports: { [PORT]: [{ HostIp: "0.0.0.0", HostPort: running?.port }] },
        Networks: { bridge: { NetworkID: "bridge", IPAddress: "127.0.0.1" } },
      },
    });
  }

  async function stop({ running }: Container): Promise<Response> {
    running?.program.kill("SIGTERM");
    await running?.program.ended;
    return done();
  }

  function answerOf(id: string, container: Container, asked: string): Promise<Response> | Response {
    if (asked === "POST start") return start(container);
    if (asked === "GET json") return inspect(id, container);
    if (asked === "POST stop") return stop(container);
    if (asked !== "DELETE ") return unknown(asked);
    containers.delete(id);
    return done();
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const path = pathname.replace(/^\/v[\d.]+/, "");
      if (path === "/info") return Response.json({ OSType: "linux", Architecture: "x86_64" });
      if (path === "/containers/json") return Response.json([]);
      if (path === "/images/memsync-emulator:latest/json") return Response.json({ Id: "sha256:1" });
      if (path === "/containers/create") {
        const id = `container${made++}`;
        containers.set(id, (await request.json()) as Asked);
        return Response.json({ Id: id, Warnings: [] }, { status: 201 });
      }
      const [, id = "", what = ""] = /^\/containers\/(\w+)\/?(\w*)$/.exec(path) ?? [];
      const container = containers.get(id);
      return container ? await answerOf(id, container, `${request.method} ${what}`) : unknown(path);
    },
  });
  return {
    host: `tcp://127.0.0.1:${server.port}`,
    get counts() {
      return { made, left: containers.size };
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function done(): Response {
  return new Response(null, { status: 204 });
}

function unknown(what: string): Response {
  return Response.json({ message: `this engine does not know ${what}` }, { status: 404 });
}
