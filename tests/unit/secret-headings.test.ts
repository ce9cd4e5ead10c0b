import { expect, test } from "bun:test";
import { headedAssignments } from "../../daemon/held/headed-assignments.ts";
import { allowPrivateOf, linesOfSecrets } from "../../daemon/held/judge.ts";
import { findSecrets } from "../../daemon/held/secret-scan.ts";
import { dropHeld, listHeld } from "../../daemon/home/held-store.ts";
import { localServicesOfTests, ME } from "../support/local-services.ts";
import { projectId } from "../support/project-id.ts";

const PROJECT = projectId("headings");
const openEmpty = localServicesOfTests({ id: PROJECT });

const KEYS = [
  ["zx9kt44plmq2vb7w", "rtyh3kd8pn5s2f6a"].join(""),
  ["Zx9kT44pLmQ2vB7w", "rTyH3kD8"].join(""),
  ["9f3ac17be2d04f5a", "8b61c09e7d2f4a13"].join(""),
  ["kQ9x/W3vTb7", "RmZ2/pLsYd4Nf6HcJ1gXo8=="].join("+"),
] as const;
const [KEY] = KEYS;

const UUID = ["8d6e1c1e-53c4-4a1b", "9a55-0f6d2b7c9e11"].join("-");

/** A heading, or the name of an item, says that a key follows. */
const NOTED: readonly ((key: string) => string)[] = [
  (key) => `## API keys\n- prod: ${key}\n`,
  (key) => `## Our API key, used by cron\n${key}\n`,
  (key) => `## Our API key, used by cron\n\nit is ${key}, as of May\n`,
  (key) => `### Schlüssel der API\n\n- ${key}\n`,
  (key) => `## Jeton API\n${key}\n`,
  (key) => `## Clés\n- prod : ${key}\n`,
  (key) => `## Keys\n\nprod = ${key}\n`,
  (key) => `## Keys (prod)\n* staging → \`${key}\`\n`,
  (key) => `## Credenciales\n- x: ${key}\n`,
  (key) => `## Chiavi API\n1. ${key}\n`,
  (key) => `## API-sleutels\r\n- p: ${key}\r\n`,
  (key) => `# 🔑 API Keys\n- p: ${key}`,
  (key) => `API keys\n========\n- p: ${key}`,
  (key) => `# Set-up\n## Tokens\n### prod\n\n${key}\n`,
  (key) => `## API keys\n\`\`\`\nprod ${key}\n\`\`\`\n`,
  (key) => `## Secrets\n| env | value |\n|---|---|\n| prod | ${key} |\n`,
  (key) => `**API keys**\n- a: ${key}\n`,
  (key) => `- API keys:\n  - prod: ${key}\n`,
  (key) => `API keys:\nprod ${key}\n`,
  (key) => `api_keys:\n  prod: ${key}\n`,
  (key) => `{\n  "api_keys": {\n    "prod": "${key}"\n  }\n}\n`,
  (key) => `- Our API key, used by cron: ${key}\n`,
  (key) => `## API keys for the next release\n- prod: ${key}\n`,
  (key) => `## Host keys and API tokens\n- ${key}\n`,
  (key) => `## API keys: cache service\n- next: ${key}\n`,
  (key) => `## API keys\n- prod, locked to host 10.0.0.1: ${key}\n`,
  (key) => `- Stripe key (live) — ${key}\n`,
  (key) => `<h2 id="keys">API keys</h2>\n<li>${key}</li>\n`,
  (key) => `## API 密钥\n- 生产: ${key}\n`,
  (key) => `API密钥：\n- ${key}\n`,
  (key) => `- 生产令牌：${key}\n`,
  (key) => `## APIキー\n- 本番: ${key}\n`,
  (key) => `## Ключи API\n- prod: ${key}\n`,
];

/** What is an id as often as a key, where no sentence is around it, and parts beside words. */
const NAMED: readonly ((key: string) => string)[] = [
  (key) => `## API keys\n\n| Service | Value |\n|---|---|\n| Datadog | ${key} |\n`,
  (key) => `## Secrets\n\n* webhook signing \`${key}\`\n`,
  (key) => `## API keys\n\n- Heroku (prod) ${key}\n`,
  (key) => `## Tokens\n\n- ${key} (Anna's, until May)\n`,
  (key) => `## Credentials\n\nThe staging token is ${key} for now.\n`,
  (key) => `## API keys\n\n- prod: ${key}, stage: the same\n`,
];

test("an id or a key with words in it is found where it stands for a name", async () => {
  const hex = KEYS[2].repeat(2);
  const drawn = ["7f3k9x", "2m4q8z"].join("");
  for (const key of [UUID, hex, hex.slice(0, 40), `acme-live-${drawn}`, `key-${drawn}5r`]) {
    for (const text of NAMED.map((note) => note(key))) {
      expect([text, (await findSecrets(text)).length]).toEqual([text, 1]);
    }
  }
  const pinned = `We pinned the action to ${hex.slice(0, 40)} after the last audit.`;
  expect(await findSecrets(`## Secrets\n\n${pinned}\n`)).toEqual([]);
});

test("a key is found below a heading that names it, or behind the name of an item", async () => {
  for (const key of KEYS) {
    for (const text of NOTED.map((note) => note(key))) {
      const found = await findSecrets(text);
      const line = text.split("\n").findIndex((each) => each.includes(key)) + 1;
      expect([text, found.map((each) => [each.text, each.line])]).toEqual([text, [[key, line]]]);
    }
  }
});

test("an id is a key where it is all that a line has", async () => {
  for (const line of [`- prod: ${UUID}`, UUID, `- \`${UUID}\``]) {
    const found = await findSecrets(`## API keys\n${line}\n`);
    expect([line, found.map(({ text }) => text)]).toEqual([line, [UUID]]);
  }
});

test("a mark allows what stands below such a heading", async () => {
  expect(await findSecrets(`## API keys\n- ${KEY} <!-- memsync:allow-secret -->\n`)).toEqual([]);
});

test("what only speaks of keys has no secret, nor what is named by something else", async () => {
  for (const text of [
    "## API keys\n- prod: see the vault, in team/shared/backend-2024\n- use `API_KEY_PROD_2`\n",
    "## API keys\nRead `src/services/keys-v2/load-keys.ts`, or https://example.com/a/9f3ac17be2d0\n",
    "## Key findings\n- commit 9f3ac17be2d04f5a8b61c09e7d2f4a13aa55ee01\n",
    "## Public keys\n- 9f3ac17be2d04f5a8b61c09e7d2f4a13\n",
    "## Release keys\n- 5BE8A3F6C8A5C01D106C0AD820B1A390B168D356\n",
    "## Keys\n- algorithm: chacha20-poly1305, RSASSA-PKCS1-v1_5, AWS4-HMAC-SHA256\n",
    `## API keys\nin the vault\n\n## Commits\n- ${KEYS[2]}\n`,
    `## API keys\n- keyId: ${KEYS[2]}\n- commit ${KEYS[2]}\n`,
    "## Redis keys\n- `session:a1b2c3d4e5f6a7b8c9` lives an hour\n- user_profile_v2_a1b2c3d4\n",
    `## Secrets\nThe helper came with ${KEYS[2]}8b61c09e and moved then.\n`,
    `## Credentials\nProject \`${UUID}\` is the production one.\n`,
    "## Sort keys\n- createdAt20240101, updatedAt20240101x\n",
    "## Secrets\n`ubuntu2204-large8core` builds acme-prod-391822ab by postgres16alpine3\n",
    "## API keys\n- class ApiKeyV2Controller2024Impl, oauth2ClientRegistrationV2\n",
    "## Translation keys\n- checkout_step2_v3button\n- exp_a1b2c3d4_rollout\n",
    `## SSH keys\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${KEYS[1]} ann@laptop\n`,
    "## NFT tokens\n0x06012c8cf97BEaD5deAe237070F9587f8E7A266d\n",
  ]) {
    expect([text, await findSecrets(text)]).toEqual([text, []]);
  }
});

test("a text of headings, names and values takes linear time", async () => {
  const parts = ["## API keys\n", "API key", "- a: ", "key ", "clé ", ": ", "a1b2c3d4", "=", "**k"];
  for (const part of parts) {
    const text = `## API keys\n${part.repeat(200_000 / part.length)}`;
    const begun = performance.now();
    await findSecrets(text);
    expect([part, performance.now() - begun < 10_000]).toEqual([part, true]);
  }
}, 60_000);

test("a memory's key, and a key of metadata, name keys as a heading does", async () => {
  const value = `as of May\n\n- prod: ${KEY}\n`;
  for (const changes of [
    { memories: [{ key: "auto-memory/api-keys.md", value }] },
    { memories: [{ key: "Schlüssel der API", value }] },
    { metadata: { api_keys: { prod: KEY } } },
    { metadata: { "API keys": ["see below", KEY] } },
  ]) {
    const home = await openEmpty();
    const put = () => home.services.projects.put(ME, { id: PROJECT, ...changes });
    await put();
    const [held] = await listHeld(home.store.reader);
    const line = "memories" in changes ? 3 : null;
    expect(held?.reason).toMatchObject({ code: "looks-like-secret", line, more: 0 });
    if (!held) continue;
    const memory = { key: held.key, value };
    if (held.kind === "memory") {
      const lines = await linesOfSecrets(home.store.reader, memory);
      expect([...lines]).toEqual([[3, ["- prod: ", ""]]]);
    }
    await home.store.write(async ({ db, now }) => {
      await allowPrivateOf(db, held, { now });
      await dropHeld(db, held);
    });
    await put();
    expect(await listHeld(home.store.reader)).toEqual([]);
  }
});

/** Values as a generator draws them, by a seed. */
function drawn(length: number, seed: number): string {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % 36;
  };
  return Array.from({ length }, () => next().toString(36)).join("");
}

test("of keys of lower-case letters and digits hardly any is taken for words", () => {
  const missed = (length: number) => {
    const all = Array.from({ length: 2000 }, (_, nth) => drawn(length, 1 + nth * 7919));
    const mixed = all.filter((each) => /\d/.test(each) && /[a-z]/.test(each));
    return mixed.filter((each) => headedAssignments(`## API keys\n- p: ${each}\n`).length === 0);
  };
  expect(missed(16).length).toBeLessThan(24);
  expect(missed(20).length).toBeLessThan(12);
});

test.each([
  "useApiKeyV2Query",
  "useOauthTokenV12Mutation",
  "windows11x64build",
  "llama31instruct70b",
])("%s is the name of something", (name) => {
  expect(headedAssignments(`## API keys\n- see \`${name}\`\n`)).toEqual([]);
});
