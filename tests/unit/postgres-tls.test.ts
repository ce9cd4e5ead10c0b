import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { messageOf } from "../../shared/errors.ts";
import { clientConfig, SessionPool } from "../../shared/postgres/pool.ts";
import { type Need, testWith } from "../support/needs.ts";
import { portOf } from "../support/postgres-way.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-tls-"));
afterAll(() => rmSync(folder, { recursive: true }));

const [KEY, CERTIFICATE] = [join(folder, "key.pem"), join(folder, "certificate.pem")];

/** Of `db.example`, and signed by itself. */
const made = spawnSync("openssl", [
  ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=db.example"],
  ...["-addext", "subjectAltName=DNS:db.example", "-keyout", KEY, "-out", CERTIFICATE],
]);
const OPENSSL: Need = { isMet: made.status === 0, missing: "openssl is not installed" };

/** What is said of a database that answers the wish for TLS so. */
async function refusal(query: string, answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `postgres://memsync@127.0.0.1:${portOf(server)}/memsync?${query}`;
  const pool = new SessionPool(address, 1);
  try {
    await pool.use((session) => session.query("SELECT 1"));
    return "it was opened";
  } catch (thrown) {
    return messageOf(thrown);
  } finally {
    await pool.end();
    server.close();
  }
}

const refuseTls = (socket: Socket) => void socket.write("N");

function speakTls(socket: Socket): void {
  socket.write("S");
  const [key, cert] = [readFileSync(KEY), readFileSync(CERTIFICATE)];
  new TLSSocket(socket, { isServer: true, key, cert }).on("error", () => {});
}

test("a database without TLS is told as such where the address wants it", async () => {
  const said = "the database takes no TLS: set `ssl = on` there, or leave `sslmode` out";
  for (const mode of ["require", "verify-full", "no-verify"]) {
    expect(await refusal(`sslmode=${mode}`, refuseTls)).toContain(said);
  }
  const file = `sslmode=verify-full&sslrootcert=${encodeURIComponent(join(folder, "none.pem"))}`;
  expect(await refusal(file, refuseTls)).toMatch(/^a file that the database's address names can't/);
});

testWith(
  OPENSSL,
  "a certificate that is not known, or another host's, is told as such",
  async () => {
    expect(await refusal("sslmode=require", speakTls)).toMatch(
      /^the database's certificate is not trusted \(.*\): name its authority's by `sslrootcert`/,
    );
    const known = `sslmode=verify-full&sslrootcert=${encodeURIComponent(CERTIFICATE)}`;
    expect(await refusal(known, speakTls)).toMatch(
      /^the database's certificate is another host's \(.*127\.0\.0\.1.*\): name the host that it is of/,
    );
  },
);

test("a mode that the driver warns of is the strict one that it takes it for", () => {
  const of = (query: string) => clientConfig(`postgres://a@b/c?${query}`).connectionString ?? "";
  expect(of("sslmode=require")).toContain("?sslmode=verify-full&options=");
  expect(of("x=y&sslmode=verify-ca")).toContain("?x=y&sslmode=verify-full&options=");
  expect(of("sslmode=no-verify")).toContain("?sslmode=no-verify&");
  expect(of("uselibpqcompat=true&sslmode=require")).toContain("&sslmode=require&");
});
