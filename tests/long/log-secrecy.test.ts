import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { connectRaw } from "../support/raw-connection.ts";
import { RunningProcess } from "../support/running-process.ts";
import { RUNTIMES, type Runtime, ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

const ROOT = join(import.meta.dir, "..", "..");

/** Every field that a line may have, and what it may hold. */
const FIELDS: Readonly<Record<string, RegExp>> = {
  level: /^(debug|info|warn|error)$/,
  time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  msg: /^(request|ending)$/,
  request_id: /^req_[0-9a-z]{16}$/,
  method: /^(GET|HEAD|POST|DELETE|PUT|PATCH|OPTIONS|OTHER)$/,
  route: /^(unmatched|(\/:[a-z]+|\/(?!(mem|proj|sess)_)[a-z0-9_.-]+)+)$/,
  status: /^(101|200|304|400|401|403|404|429|500|503)$/,
  duration_ms: /^\d+(\.\d{1,3})?$/,
  bytes: /^\d+$/,
  account: /^acct_[0-9A-Za-z_-]+$/,
  client: /^127\.0\.0\.1$/,
};

/** The account of a development token bears the name that the token has, and is no secret. */
const SECRET = /mst_|bearer|PLANTED/i;

function badLines(log: string): string[] {
  return log.split("\n").filter((line) => line !== "" && !isGood(line));
}

function isGood(line: string): boolean {
  if (SECRET.test(line)) return false;
  const fields = JSON.parse(line) as Record<string, unknown>;
  return Object.entries(fields).every(([name, value]) => FIELDS[name]?.test(String(value)));
}

async function startEmulator(folder: ServerFolder) {
  const emulator = folder.spawn([
    "emulator",
    "--port",
    "0",
    "--limits",
    "off",
    "--log-level",
    "debug",
  ]);
  return { emulator, url: await emulator.untilPrinted(/ready at (\S+)/) };
}

/** The files of the HTTP suite that ask the service that is named; the others start their own. */
async function suiteFiles(): Promise<string[]> {
  const files = (await readdir(join(ROOT, "tests/http"))).map((name) => `./tests/http/${name}`);
  const texts = await Promise.all(files.map((path) => Bun.file(join(ROOT, path)).text()));
  return files.filter((_, at) => texts[at]?.includes("support/service.ts"));
}

/** The HTTP suite against a service that runs already. */
async function runSuite(url: string): Promise<number> {
  const { PATH = "", HOME = "" } = process.env;
  const command = [process.execPath, "test", "--timeout", "30000", ...(await suiteFiles())];
  const suite = new RunningProcess(command, {
    worksLong: true,
    cwd: ROOT,
    env: { PATH, HOME, MEMSYNC_TEST_URL: url },
  });
  return (await suite.ended()).status;
}

/** Puts a marker wherever a request has a place for one. */
async function plant(url: string, token: string): Promise<void> {
  const send = async (method: string, path: string, body?: string, bearer = token) => {
    const headers = {
      Authorization: `Bearer ${bearer}`,
      "X-Project-Id": "proj_PLANTED",
      Cookie: "PLANTED=1",
      "User-Agent": "PLANTED",
      Referer: `${url}/PLANTED`,
    };
    return (await fetch(`${url}${path}`, { method, headers, ...(body && { body }) })).status;
  };
  expect(await send("POST", "/api/projects", '{"id":"proj_PLANTED","name":"PLANTED"}')).toBe(200);
  const memory = '{"content":"PLANTED text","key":"PLANTED-key","layer":"project"}';
  expect(await send("POST", "/v1/memories", memory)).toBe(200);
  for (const query of [
    "q=PLANTED",
    "cursor=PLANTED",
    "layer=PLANTED",
    "PLANTED=1",
    "limit=PLANTED",
  ])
    expect([200, 400]).toContain(await send("GET", `/v1/memories?${query}`));
  const metadata = '{"claude_md_content":"PLANTED","metadata":{"PLANTED":"PLANTED"}}';
  expect(await send("POST", "/api/projects/proj_PLANTED/sync", metadata)).toBe(200);
  const bodies = [
    '{"content":"PLANTED',
    "PLANTED",
    '{"layer":"PLANTED"}',
    '{"content":["PLANTED"]}',
  ];
  for (const body of bodies) expect(await send("POST", "/v1/memories", body)).toBe(400);
  const update = Buffer.from("PLANTED").toString("base64");
  const crdt = `{"crdt":{"encoding":"yjs-v1","documents":{"user":{"update":"${update}"}}}}`;
  expect(await send("POST", "/api/sync", crdt)).toBe(200);
  for (const path of ["/PLANTED", "/v1/memories/mem_PLANTED", "/v1/sessions/PLANTED", "/%50LANTED"])
    expect(await send("GET", path)).toBe(404);
  for (const bearer of ["PLANTED", `mst_${"PLANTED".padEnd(36, "0")}`, "mst_dev_PLANTED more"])
    expect(await send("GET", "/v1/memories", undefined, bearer)).toBe(401);
  using raw = await connectRaw(Number(new URL(url).port));
  raw.write("PLANTED /PLANTED HTTP/1.1\r\nHost: PLANTED\r\nAuthorization: PLANTED\r\n\r\n");
  await waitFor("an answer or an end", () => raw.closed() || raw.received() !== "");
}

for (const runtime of RUNTIMES) {
  test(`on ${runtime}, no token and no text of anybody's is in the log`, async () => {
    await using folder = await ServerFolder.create(runtime satisfies Runtime);
    const { emulator, url } = await startEmulator(folder);
    expect(await runSuite(url)).toBe(0);
    await plant(url, "mst_dev_planter");
    const { stderr } = await emulator.end("SIGTERM");
    expect(badLines(stderr)).toEqual([]);
    expect(stderr.split("\n").length).toBeGreaterThan(1000);
  });
}

test("a line with a field or a value that has no place in the log is found", () => {
  const good = '{"level":"info","route":"/v1/projects/:id/sync","status":200,"msg":"request"}';
  const bad = [
    '{"level":"info","token":"x"}',
    '{"level":"info","route":"/v1/projects/proj_x"}',
    '{"level":"info","msg":"mst_abc"}',
    '{"level":"info","account":"acct_PLANTED"}',
  ];
  expect(badLines([good, ...bad, ""].join("\n"))).toEqual(bad);
});
