/**
 * Where a remote points, without what differs between two clones of it. A `network` place compares
 * as text on every machine. A `local` one is a path on this machine, possibly relative.
 */
export type RemotePlace =
  | {
      readonly kind: "network";
      readonly text: string;
      /** With its host and case as in the URL, where the host treats other forms as equal. */
      readonly written?: string;
    }
  | { readonly kind: "local"; readonly path: string };

const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  http: "80",
  https: "443",
  ssh: "22",
  "git+ssh": "22",
  "ssh+git": "22",
  git: "9418",
  ftp: "21",
  ftps: "990",
};

/** Alternative host names for networks that block port 22 (see the hosts' manuals). */
const SAME_HOST: Readonly<Record<string, string>> = {
  "ssh.github.com:443": "github.com",
  "altssh.gitlab.com:443": "gitlab.com",
  "altssh.bitbucket.org:443": "bitbucket.org",
};

/** Hosts whose paths ignore letter case, and which are also `www.` so, as their redirects show. */
const CASELESS_HOSTS: readonly string[] = ["github.com", "gitlab.com", "bitbucket.org"];

const URL_FORM = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)(.*)$/i;
const HELPER_FORM = /^[a-z0-9][a-z0-9+.-]*::/i;
const DRIVE_FORM = /^[a-z]:[\\/]/i;
/** `[user@host:port]:path` and `user@[::1]:path` are git's extensions of scp's form. */
const SCP_FORM = /^(?:[^@/:[\]]*@)?(\[[^\]]+\]|[^:/@[\]]+):(.*)$/s;

/**
 * Reads a remote's URL in any form that `git help fetch` ("GIT URLS") lists. Credentials, scheme,
 * default port, `.git`, and surplus slashes of the path are dropped. The host's letter case is
 * dropped; that of the path is kept, because most hosts distinguish it.
 */
export function parseRemoteUrl(url: string): RemotePlace {
  const trimmed = url.trim();
  // git itself can't interpret `helper::address`.
  if (HELPER_FORM.test(trimmed)) return { kind: "network", text: trimmed };
  const parts = URL_FORM.exec(trimmed);
  if (parts) return fromUrl(parts[1] ?? "", parts[2] ?? "", parts[3] ?? "");
  if (DRIVE_FORM.test(trimmed)) return { kind: "local", path: trimmed };
  const scp = SCP_FORM.exec(trimmed);
  if (!scp) return { kind: "local", path: trimmed };
  return network(scpHost(scp[1] ?? ""), scp[2] ?? "");
}

function fromUrl(scheme: string, authority: string, rest: string): RemotePlace {
  const lower = scheme.toLowerCase();
  if (lower === "file") {
    const host = authority === "localhost" ? "" : authority;
    return { kind: "local", path: host === "" ? decoded(rest) : `//${host}${decoded(rest)}` };
  }
  const path = lower.startsWith("http") ? rest.replace(/[?#].*$/s, "") : rest;
  return network(withoutDefaultPort(withoutUser(authority), lower), decoded(path));
}

function network(host: string, path: string): RemotePlace {
  const lower = host.toLowerCase();
  const segments = withoutGitSuffix(path.replace(/\/+/g, "/").replace(/^\//, ""));
  const named = SAME_HOST[lower] ?? lower;
  const written = `${named}/${segments}`;
  const known = named.replace(/^www\./, "");
  const text = CASELESS_HOSTS.includes(known) ? `${known}/${segments}`.toLowerCase() : written;
  return { kind: "network", text, ...(text !== written && { written }) };
}

/** Whether it is on a host that everybody calls by the same name. */
export function isAtKnownHost(place: RemotePlace): boolean {
  return (
    place.kind === "network" && CASELESS_HOSTS.some((host) => place.text.startsWith(`${host}/`))
  );
}

/** `path` without a final slash, `/.git` or `.git`: a clone may use any of these forms. */
export function withoutGitSuffix(path: string): string {
  return path
    .replace(/\/+$/, "")
    .replace(/\/\.git$/, "")
    .replace(/(?<=[^/])\.git$/, "")
    .replace(/(?<=.)\/+$/, "");
}

function withoutUser(authority: string): string {
  return authority.slice(authority.lastIndexOf("@") + 1);
}

function withoutDefaultPort(host: string, scheme: string): string {
  const port = DEFAULT_PORTS[scheme];
  if (host.endsWith(":")) return host.slice(0, -1);
  return port !== undefined && host.endsWith(`:${port}`) ? host.slice(0, -port.length - 1) : host;
}

function scpHost(host: string): string {
  if (!host.startsWith("[")) return host;
  const inside = withoutUser(host.slice(1, -1));
  // More than one colon: an IPv6 address, which a URL has in brackets.
  return inside.split(":").length > 2 ? `[${inside}]` : withoutDefaultPort(inside, "ssh");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Not a valid encoding. git uses such a URL as it is.
    return path;
  }
}
