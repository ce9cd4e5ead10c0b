import { describe, expect, test } from "bun:test";
import { secretLintProfiler } from "@secretlint/profiler";
import { ALLOW_MARK, findSecrets } from "../../daemon/held/secret-scan.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { fileHistories, HAS_REAL_DATA, memoryChanges } from "../support/real-data.ts";

const MIB = 1024 * 1024;

const kinds = async (text: string) => (await findSecrets(text)).map(({ kind }) => kind);

describe("a secret is found", () => {
  const found: readonly [keyof typeof PLANTED, string][] = [
    ["github", "a GitHub token"],
    ["slack", "a Slack token"],
    ["anthropic", "an Anthropic API key"],
    ["database", "a database's password"],
    ["aws", "an AWS access key"],
    ["npm", "an npm token"],
  ];
  for (const [name, kind] of found) {
    test(`${kind}, with its line`, async () => {
      const [secret] = await findSecrets(`# One\n\nuse ${PLANTED[name]} here\n`);
      expect(secret).toMatchObject({ kind, line: 3 });
      expect(PLANTED[name]).toContain(secret?.text ?? "nothing");
    });
  }

  test("deep in a long text, across the border of two pieces", async () => {
    for (const at of [128 * 1024 - 20, 128 * 1024 - 1, 500_000]) {
      const before = "word\n".repeat(at / 5);
      const [secret] = await findSecrets(`${before}${PLANTED.github}\n${"word\n".repeat(60_000)}`);
      expect(secret).toMatchObject({ text: PLANTED.github, line: before.split("\n").length });
    }
  });
});

describe("what is no secret is left alone", () => {
  const harmless: readonly [string, string][] = [
    ["a password of a database on this machine", "postgres://shop:s3cr3tpw@localhost:5432/shop"],
    ["a placeholder", "postgres://user:{{password}}@db.shop.io/shop"],
    ["an account's number", "aws_account_id: 1234-5678-9012"],
    ["a commit's hash", "see 9fceb02d0ae598e95dc970b74767f19372d61af8"],
    ["an id of ours", "proj_oq72xuufnh7fvpncagvsll6kob mem_mfks4tj3yrmhgrtvxahdhiu23n"],
    ["a mark in the same line", `<!-- ${ALLOW_MARK} --> ${PLANTED.github}`],
    ["a mark in the line above", `<!-- ${ALLOW_MARK} -->\n${PLANTED.github}`],
  ];
  for (const [what, text] of harmless) {
    test(what, async () => {
      expect(await kinds(text)).toEqual([]);
    });
  }

  test("a mark further up allows nothing, and neither do the scanner's own marks", async () => {
    expect(await kinds(`${ALLOW_MARK}\n\n${PLANTED.github}`)).toHaveLength(1);
    expect(await kinds(`secretlint-disable\n${PLANTED.github}`)).toHaveLength(1);
  });

  test("instruction files and memories", async () => {
    const texts = fileHistories().flatMap(({ versions }) => versions);
    for (const change of memoryChanges()) if (change.op === "set") texts.push(change.value);
    expect(texts.length).toBeGreaterThan(HAS_REAL_DATA ? 200 : 40);
    for (const text of texts) expect(await findSecrets(text)).toEqual([]);
  });
});

test("a hostile text of 1 MiB comes to an end, whatever it repeats", async () => {
  const units = [
    "a",
    "\n",
    "xoxb-a-",
    "-----BEGIN RSA PRIVATE KEY-----",
    "postgres://a:b@",
    "https://a:b@",
    "SG.a.",
    "secret_access_key=",
    `${PLANTED.github}\n`,
  ];
  for (const unit of units) {
    const found = await findSecrets(unit.repeat(Math.floor(MIB / unit.length)));
    expect(found.length).toBeLessThan(10_000);
  }
});

test("a scan leaves nothing behind, for a daemon makes as many as there are writes", async () => {
  await findSecrets("the first loads the scanner\n");
  const kept = async () => [
    (await secretLintProfiler.getEntries()).length,
    performance.getEntriesByType("mark").length,
    performance.getEntriesByType("measure").length,
  ];
  const before = await kept();
  for (let at = 0; at < 20; at++) await findSecrets(`Decision ${at}: ${PLANTED.github}\n`);
  // Observers are told in a turn of their own.
  await new Promise((resolve) => setImmediate(resolve));
  expect(await kept()).toEqual(before);
});
