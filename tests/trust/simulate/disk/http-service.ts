import type { HttpServiceOptions } from "../../../../daemon/service/http-service.ts";
import type { Service } from "../../../../daemon/service/service.ts";
import type { World } from "../../../../shared/world.ts";

type Connect = (options: HttpServiceOptions) => Service;

const networks = new WeakMap<World, Connect>();

/** What a process of this world reaches its services by. */
export function connectBy(world: World, connect: Connect): void {
  networks.set(world, connect);
}

/** Stands for the one of `daemon/service/http-service.ts`. */
export function createHttpService(options: HttpServiceOptions): Service {
  const connect = networks.get(options.world);
  if (!connect) throw new Error("a process of no machine asks for a service");
  return connect(options);
}
