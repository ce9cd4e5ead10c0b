// The control calls. The control token, where one is asked for, is in this module alone: it is
// stored nowhere and goes into no address.
import { byId } from "./dom.js";

const access = { token: "" };

export function useToken(token) {
  access.token = token;
}

/** The token of the account to which everything here is narrowed; "" for all. */
export const scope = { token: "" };

export function ofScope() {
  return scope.token === "" ? {} : { token: scope.token };
}

/** The path of a call with the parameters that are not empty. */
export function withQuery(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** What a control call answers. Throws an error with `status`, which a lost connection has not. */
export async function call(method, path, { body, signal } = {}) {
  const response = await fetch(`/_emulator/${path}`, {
    method,
    signal,
    cache: "no-store",
    credentials: "omit",
    headers: {
      ...(access.token !== "" && { Authorization: `Bearer ${access.token}` }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answered = await response.json();
  if (response.ok) return answered;
  throw Object.assign(new Error(reasonIn(answered.error)), { status: response.status });
}

/** A form shows one field of a name: its name says which one it is. */
function reasonIn({ message, details = [] }) {
  const [{ path, message: wrong } = {}] = details;
  return message === `${path} ${wrong}` ? `${path.split("/").at(-1)} ${wrong}` : message;
}

/** Does something of a panel, and says in it what came of it, or why nothing did. */
export async function act(panel, work) {
  const said = byId(`${panel}-said`);
  said.classList.remove("refused");
  try {
    said.textContent = (await work()) ?? "";
  } catch (thrown) {
    said.classList.add("refused");
    said.textContent =
      thrown.status === undefined ? "The emulator does not answer." : `Refused: ${thrown.message}.`;
  }
}
