import { startEmulator } from "../../server/emulator/start-emulator.ts";

/** The emulator to test; `MEMSYNC_TEST_URL` names one that runs already, on Node say. */
const url = process.env.MEMSYNC_TEST_URL ?? (await startEmulator({ limits: "off" })).url;

/** The same with `--published-only`, which `MEMSYNC_TEST_PUBLISHED_URL` may name. */
const publishedUrl =
  process.env.MEMSYNC_TEST_PUBLISHED_URL ??
  (await startEmulator({ limits: "off", publishedOnly: true })).url;

/** An answer whose body is read; `body` is what a test says that it is. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Client {
  readonly url: string;
  readonly token: string;
  get<Body>(path: string, headers?: Record<string, string>): Promise<Answer<Body>>;
  post<Body>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<Body>>;
  delete<Body>(path: string): Promise<Answer<Body>>;
}

/** A client of an account that nobody else uses and that is empty. */
export function newAccount(): Client {
  return clientOf(`mst_dev_${crypto.randomUUID()}`);
}

export function clientOf(token: string): Client {
  return clientAt(url, token);
}

/** A client of an empty account where only what is published is served. */
export function newPublishedAccount(): Client {
  return clientAt(publishedUrl, `mst_dev_${crypto.randomUUID()}`);
}

function clientAt(url: string, token: string): Client {
  async function send<Body>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer<Body>> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = (text === "" ? undefined : JSON.parse(text)) as Body;
    return { status: response.status, headers: response.headers, body: parsed };
  }
  return {
    url,
    token,
    get: (path, headers = {}) => send("GET", path, undefined, headers),
    post: (path, body, headers = {}) => send("POST", path, body, headers),
    delete: (path) => send("DELETE", path, undefined, {}),
  };
}
