import { expect } from "bun:test";
import type { Emulator } from "../../server/emulator/start-emulator.ts";

/** How a test calls an emulator over HTTP. */
export interface EmulatorCall {
  /** `mst_dev_pro` when left out; "" sends none. */
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request of the service. */
export function ask(
  { url }: Pick<Emulator, "url">,
  route: string,
  { token = "mst_dev_pro", body, headers }: EmulatorCall = {},
): Promise<Response> {
  const [method = "", path = ""] = route.split(" ");
  return fetch(`${url}${path}`, {
    method,
    headers: { ...(token !== "" && { authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** A control call. */
export function control(
  emulator: Pick<Emulator, "url">,
  route: string,
  { body, headers, token = "" }: EmulatorCall = {},
): Promise<Response> {
  const json = body !== undefined && { "content-type": "application/json" };
  const path = route.replace(" ", " /_emulator/");
  return ask(emulator, path, { token, body, headers: { ...json, ...headers } });
}

/** The body of a control call's 200. */
export async function controlled<Body = Record<string, unknown>>(
  emulator: Pick<Emulator, "url">,
  route: string,
  body?: unknown,
): Promise<Body> {
  const response = await control(emulator, route, { body });
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status: 200, text });
  return JSON.parse(text) as Body;
}
