import { expect, test } from "bun:test";
import { findSecrets } from "../../daemon/held/secret-scan.ts";
import { tableAssignments } from "../../daemon/held/table-assignments.ts";
import { ALLOW_MARK } from "../../daemon/home/allow-mark.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const HEX = "9f3c1a7be2d045689f3c1a7be2d04568";

test("a secret in a table is found by its heading, or by the cells before it", async () => {
  const head = "| who | password | since |\n|:---|:-:|---:|\n";
  const found: readonly (readonly [string, number, string, string])[] = [
    [`${head}| ann | hunter-2-Xq9 | May |`, 3, "a password", "hunter-2-Xq9"],
    [`${head}| ann | |\r\n| bob | **\`Xk7qWz2m\`** | |`, 4, "a password", "Xk7qWz2m"],
    ["who | pw\n--- | ---\nann | Xk7qWz2m\n", 3, "a password", "Xk7qWz2m"],
    ["> | a | Kennwort |\n> | - | - |\n> | b | Xk7qWz2m |", 3, "a password", "Xk7qWz2m"],
    ["| password | hunter2Xq |", 1, "a password", "hunter2Xq"],
    ["| DB password (staging) | ann | Xk7qWz2m |", 1, "a password", "Xk7qWz2m"],
    ["| **Password for CI** | Xk7qWz2m, since May |", 1, "a password", "Xk7qWz2m"],
    [
      "| passphrase | velvet otter canyon biscuit |",
      1,
      "a password",
      "velvet otter canyon biscuit",
    ],
    [`| SERVICE_API_KEY | prod | \`${HEX}\` |`, 1, "an API key or a token", HEX],
    [`| name | token |\n|--|--|\n| ci | ${PLANTED.github} |`, 3, "a GitHub token", PLANTED.github],
  ];
  for (const [text, line, kind, secret] of found) {
    const [first, ...more] = await findSecrets(text);
    expect([text, first, more]).toMatchObject([text, { line, kind, text: secret }, []]);
    const allowed = text.split("\n").with(line - 1, `${text.split("\n")[line - 1]} ${ALLOW_MARK}`);
    expect(await findSecrets(allowed.join("\n"))).toEqual([]);
  }
});

test("a table about passwords and tokens has no secret", async () => {
  const tables = [
    "| User Role | Email Address | Password | Privileges |\n| :--- | :--- | :--- | :--- |",
    "| Parameters | Required | Type |\n|:--|:--|:--|\n| password | Yes | String |",
    "| Field | Default |\n|---|---|\n| Password | Optional |\n| Password | your password |",
    "| Username | Password |\n|---|---|\n| admin | admin |\n| ann | password123 |\n| bob | sunflower |",
    "| Field | Type | Rule |\n|-|-|-|\n| password | String | Required, min 6 chars, bcrypt12 |",
    "| API key | `ANTHROPIC_API_KEY` |\n| Token Type | `service-account-token-v2` |",
    "| key | Redis key with `user:session:token2` | 3600 s |",
    `| token hash | ${HEX} |\n| public key | ${HEX} |`,
    "| Key | Location |\n|---|---|\n| API Key | totp_config_dg → api_key2 |",
    "password | sha256\nif (pass || kX9mQ2vT) {}\n",
    "a || b && pass1234 | grep token | sort -k2,2n9\n",
  ];
  for (const text of tables) {
    expect([text, await findSecrets(text)]).toEqual([text, []]);
    expect([text, await findSecrets(`# One\n\n${text}\n\nmore\n`)]).toMatchObject([text, []]);
  }
});

test("a hostile table takes no longer than a text of its length", () => {
  const hostile = [
    `a|b\n|-${`|${" ".repeat(30)}`.repeat(50)}x\n`,
    `a|b\n|-${"|-".repeat(100_000)}x\n`,
    `| x${"`".repeat(300_000)}x |`,
    "| password".repeat(100_000),
    `| password${" ".repeat(300_000)}x | y |`,
  ];
  // Each ends; one that tried all ways to read a row would not.
  for (const text of hostile) expect(tableAssignments(text).length).toBeLessThan(1000);
});
