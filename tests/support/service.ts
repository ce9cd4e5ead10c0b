import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { IS_ON_POSTGRES } from "./host-address.ts";
import type { SharedService } from "./service-on-postgres.ts";

/** Servers that share one database; each call goes to the next of them. */
const SERVERS = 2;

/**
 * The emulator to test, or one that runs already, on Node say; or servers on a PostgreSQL. The same
 * with `--published-only`.
 */
const { urls, publishedUrls } = await findService();

async function findService(): Promise<SharedService> {
  if (IS_ON_POSTGRES) {
    const { startOnPostgres } = await import("./service-on-postgres.ts");
    return await startOnPostgres(SERVERS);
  }
  const { MEMSYNC_TEST_URL: url, MEMSYNC_TEST_PUBLISHED_URL: publishedUrl } = process.env;
  const started = async (publishedOnly: boolean) =>
    (await startEmulator({ limits: "off", publishedOnly })).url;
  return {
    urls: [url ?? (await started(false))],
    publishedUrls: [publishedUrl ?? (await started(true))],
  };
}

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
  return clientAt(urls, token);
}

/** A client of an empty account where only what is published is served. */
export function newPublishedAccount(): Client {
  return clientAt(publishedUrls, `mst_dev_${crypto.randomUUID()}`);
}

function clientAt(servers: readonly string[], token: string): Client {
  const [url = ""] = servers;
  let asked = 0;
  async function send<Body>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer<Body>> {
    const at = servers[asked++ % servers.length];
    const response = await fetch(`${at}${path}`, {
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
