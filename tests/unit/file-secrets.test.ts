import { expect, test } from "bun:test";
import { findSecrets } from "../../daemon/held/secret-scan.ts";
import { seededRandom } from "../support/random.ts";

const SEED = 20_261_130;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const random = seededRandom(SEED);
const draw = (length: number, from = ALPHABET) =>
  Array.from({ length }, () => from[Math.floor(random() * from.length)]).join("");
const base64 = (text: string) => Buffer.from(text).toString("base64");
const pem = (kind: string) => `-----BEGIN ${kind}-----\n${draw(64)}\n${draw(64)}\n`;
const password = () => `${draw(6)}4${draw(5)}`;
const signed = () => `${draw(6)}4!${draw(4)}`;
const crypt = (length: number) => draw(length, `${ALPHABET}./`);

const SECRETS: readonly (() => string)[] = [
  () => `## API key\n\n${draw(39)}7`,
  () => `## API key (prod)\n\n${draw(39)}7`,
  () => `### API key for the staging server\n\n- \`${draw(39)}7\``,
  () => `## Deploy token – CI\n${draw(39)}7`,
  () => `API key (prod):\n${draw(39)}7`,
  () => `### Stripe secret key\n\n\`\`\`\n${draw(39)}7\n\`\`\`\n`,
  () => `**API token**\n${draw(39)}7`,
  () => `API key:\n\n    ${draw(31)}7`,
  () => `Client secret:\n${draw(39)}7`,
  () => `Log in with admin and password ${signed()}.`,
  () => `Melde dich mit admin und Passwort ${signed()} an.`,
  () => `It is opened with ann@shop.io and the password ${password()}`,
  () => `WLAN-Schlüssel: ${signed()}`,
  () => `WLAN-Schlüssel: ${password()}`,
  () => `Clé wifi : ${signed()}`,
  () => `password:\u00a0${signed()}`,
  () => `password\u00a0: ${signed()}`,
  () => `password:\u200b ${signed()}`,
  () => `password\uff1a${signed()}`,
  () => `API_KEY:\u00a0${draw(31)}7`,
  () => `sk.eyJ1Ijoi${draw(60)}.${draw(22)}`,
  () => `    client-key-data: ${base64(pem("RSA PRIVATE KEY"))}`,
  () => `data:\n  tls.key: ${base64(pem("PRIVATE KEY"))}`,
  () => `PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n${draw(43)}=\nPrivate-MAC: 0\n`,
  () => `ann:$6$${crypt(16)}$${crypt(86)}:19000:0:99999:7:::`,
  () => `ann:$apr1$${crypt(8)}$${crypt(22)}`,
  () => `$y$j9T$${crypt(22)}$${crypt(43)}`,
  () => `db.acme.dev:5432:prod:app:${password()}`,
  () => `*:5432:*:app:${signed()}`,
  () => `ansible_become_pass: ${password()}`,
  () => `ansible_ssh_pass: 7${draw(11)}`,
  () => `1//0${draw(60)}`,
  () => `API key (prod): ${draw(31)}7`,
  () => `API key for the shop's staging: \`${draw(31)}7\``,
  () => `API-Schlüssel: ${draw(31)}7`,
  () => `Clé API : ${draw(31)}7`,
  () => `CREATE USER app IDENTIFIED BY '${signed()}'`,
  () => `ALTER USER 'app'@'%' IDENTIFIED WITH mysql_native_password BY "${signed()}";`,
];

test(`a secret as a program keeps it in a file is found, seed ${SEED}`, async () => {
  const missed: Record<string, number> = {};
  for (let count = 0; count < 15; count++) {
    for (const [at, of] of SECRETS.entries()) {
      const text = of();
      const found = await findSecrets(text);
      if (found.length === 0) missed[at] = (missed[at] ?? 0) + 1;
      for (const secret of found) expect(text).toContain(secret.text);
    }
  }
  expect(missed).toEqual({});
});

test("what only looks like such a file holds no secret", async () => {
  const texts = [
    "## API key\n\nIt is in the vault.\n",
    "## API key\n\n<your-api-key-1234567890>\n",
    "## Session token\n\nsrc/auth/session-token-v2.ts\n",
    "## API key (prod)\n\nIt is in the vault.\n",
    "## Token for tests\n\nsrc/auth/session-token-v2.ts\n",
    "## Public key (prod)\n\n8f3kQ9xW3vTb7RmZ2pLsYd4N\n",
    "## Next page token\n\n8f3kQ9xW3vTb7RmZ2pLsYd4N\n",
    "### Secret\n\ndb-credentials-v2-production\n",
    "Token:\nhttps://docs.example.com/tokens/v2/usage\n",
    "## Token\n\n```\n$GITHUB_TOKEN_2\n```\n",
    "## Auth secret\n\n`npx auth secret --bits=256`\n",
    "the design token\nprimary-color-500-hover-v2\n",
    "Log in with username and password OAuth2Provider1",
    "as admin and password is required",
    "with name and password validation2FA",
    "WLAN-Schlüssel: steht auf dem Router",
    "password:\u00a0required",
    "password\uff1a必填",
    "pk.eyJ1IjoiYW5uIiwiYSI6ImNrOXhXM3ZUYjdSbVoyIn0.kQ9xW3vTb7RmZ2pLsYd4Nf",
    `certificate-authority-data: ${base64(`-----BEGIN CERTIFICATE-----\n${"kQ9xW3vT".repeat(12)}\n`)}`,
    "client-key-data: DATA+OMITTED",
    "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo...",
    "Private-Lines: 14\n<base64>\n",
    "$1$xxxxxxxx$UYCIxa628.9qXjpQCjM4a.",
    "$6$ is SHA-512, $apr1$ is Apache's",
    "$6$saltsalt$...",
    "echo $1$2$3",
    "hostname:port:database:username:password",
    "localhost:5432:shop:shop:k7QmVtF4",
    "main.c:1234:error:C2065:Undeclared1",
    "app.log:2024:worker:ERROR:Task42failed",
    "image:8080:latest:amd64:sha256",
    "ansible_become_pass: '{{ vault_become_pass1 }}'",
    "Pass: 12tests",
    "http://1//0",
    "API key (prod): in the vault under shop-api-key-v2-prod",
    "API key (v2): getApiKeyFromVault2",
    "Public API key (v2): kQ9xW3vTb7RmZ2pLsYd4Nf",
    "API-Schlüssel: steht-im-tresor-von-shop-2",
    "token (JWT, RS256): authentication-token-v2",
    "CREATE USER 'shop'@'%' IDENTIFIED BY 'password';",
    "CREATE USER u IDENTIFIED WITH auth_plugin2 AS 'auth_string'",
    "identified by 'user_id2'",
  ];
  for (const text of texts) expect([text, await findSecrets(`${text}\n`)]).toEqual([text, []]);
});
