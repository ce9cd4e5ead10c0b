import { CommandFailed } from "../screen/errors.ts";
import type { Environment } from "./environment.ts";

const PORT_MAX = 65_535;

/** The port of `MEMSYNC_GATEWAY_PORT`; undefined, as for 0, is any free port. */
export function gatewayPort({ variables }: Environment): number | undefined {
  const given = variables.MEMSYNC_GATEWAY_PORT;
  if (!given) return undefined;
  const port = Number(given);
  if (/^\d{1,5}$/.test(given) && port <= PORT_MAX) return port === 0 ? undefined : port;
  throw new CommandFailed(
    `MEMSYNC_GATEWAY_PORT is a port from 1 to ${PORT_MAX}, or 0 for any free one`,
  );
}
