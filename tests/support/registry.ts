interface Manifest {
  readonly version: string;
}

/** A package of a registry, as npm asks for it. */
interface Packument {
  readonly name: string;
  readonly "dist-tags": Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, Manifest>>;
}

/** What `npm publish` sends: the tarball is in it, in base64. */
interface Publication extends Packument {
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** A registry on this machine: it takes what is published, and gives it back to who installs. */
export interface Registry extends AsyncDisposable {
  /** Without `/` at its end. */
  readonly url: string;
  /** Has a tarball as if it was published. */
  hold(tarball: string): Promise<void>;
  /** `name@version` of all that was published, in that order. */
  readonly published: readonly string[];
}

/** npm would keep what it installs in its cache, and every run leaves other packages. */
const UNCACHED = { "cache-control": "no-store" };
const CREATED = 201;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
const CONFLICT = 409;

function refusal(status: number): Response {
  return Response.json({ error: `refused with ${status}` }, { status, headers: UNCACHED });
}

function integrityOf(tarball: Uint8Array): string {
  return `sha512-${new Bun.CryptoHasher("sha512").update(tarball).digest("base64")}`;
}

/** `refuses` says which packages can't be published. */
export function startRegistry(refuses: (name: string) => boolean = () => false): Registry {
  const packuments = new Map<string, Packument>();
  const tarballs = new Map<string, Uint8Array<ArrayBuffer>>();
  const published: string[] = [];

  function add(name: string, manifest: Manifest, tarball: Uint8Array<ArrayBuffer>): void {
    const { version } = manifest;
    const path = `/${name}/-/${version}.tgz`;
    tarballs.set(path, tarball);
    const dist = { tarball: new URL(path, server.url).href, integrity: integrityOf(tarball) };
    const versions = { ...packuments.get(name)?.versions, [version]: { ...manifest, dist } };
    packuments.set(name, { name, "dist-tags": { latest: version }, versions });
    published.push(`${name}@${version}`);
  }

  async function take(request: Request, name: string): Promise<Response> {
    const { versions, _attachments } = (await request.json()) as Publication;
    const [manifest] = Object.values(versions);
    const [attachment] = Object.values(_attachments);
    if (!manifest || !attachment || refuses(name)) return refusal(FORBIDDEN);
    if (packuments.get(name)?.versions[manifest.version]) return refusal(CONFLICT);
    add(name, manifest, Buffer.from(attachment.data, "base64"));
    return Response.json({ success: true }, { status: CREATED });
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 2 ** 30,
    async fetch(request) {
      const path = decodeURIComponent(new URL(request.url).pathname);
      if (request.method === "PUT") return await take(request, path.slice(1));
      const tarball = tarballs.get(path);
      if (tarball) return new Response(tarball, { headers: UNCACHED });
      const packument = packuments.get(path.slice(1));
      if (packument) return Response.json(packument, { headers: UNCACHED });
      return refusal(NOT_FOUND);
    },
  });
  return {
    url: server.url.href.replace(/\/$/, ""),
    published,
    async hold(path) {
      const tarball = await Bun.file(path).bytes();
      const files = await new Bun.Archive(tarball).files("package/package.json");
      const manifest = JSON.parse((await files.get("package/package.json")?.text()) ?? "");
      add(manifest.name, manifest, tarball);
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
