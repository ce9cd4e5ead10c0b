import { describe, expect, test } from "bun:test";
import { ASSIGNED_RULES } from "../../daemon/held/assigned-rules.ts";
import { COMMAND_RULES } from "../../daemon/held/command-rules.ts";
import { FILE_RULES } from "../../daemon/held/file-rules.ts";
import { loadGitleaksRules } from "../../daemon/held/gitleaks-rules.ts";
import { OWN_RULES } from "../../daemon/held/own-rules.ts";
import { PLAIN_PASSWORD_RULES } from "../../daemon/held/plain-password.ts";
import { findSecrets } from "../../daemon/held/secret-scan.ts";
import { SENTENCE_RULES } from "../../daemon/held/sentence-rules.ts";
import { SETTING_RULES } from "../../daemon/held/setting-rules.ts";
import { TOKEN_RULES } from "../../daemon/held/token-rules.ts";
import { ALLOW_MARK } from "../../daemon/home/allow-mark.ts";
import { matchingTexts } from "../support/matching-text.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { pick, seededRandom } from "../support/random.ts";
import { fileHistories, HAS_REAL_DATA, memoryChanges } from "../support/real-data.ts";

const MIB = 1024 * 1024;
const SEED = 20_261_122;

const HEX = "9f3c1a7be2d045689f3c1a7be2d04568";
/** As a service draws them: letters of both cases and digits. */
const RANDOM =
  "kQ9xW3vTb7RmZ2pLsYd4Nf6HcJ1gXo8aEuVi5KtB0rMq8Z2cN4vB7xW1yT5uP9oI3eR6wQ0aS2dF4gH7jK9lZ";
const SHORT_HEADER = "eyJhbGciOiJIUzI1NiJ9";
const DIGITS = "0123456789";
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

const allRules = async () => [
  ...OWN_RULES,
  ...COMMAND_RULES,
  ...TOKEN_RULES,
  ...ASSIGNED_RULES,
  ...PLAIN_PASSWORD_RULES,
  ...SENTENCE_RULES,
  ...SETTING_RULES,
  ...FILE_RULES,
  ...(await loadGitleaksRules()),
];

const kinds = async (text: string) => (await findSecrets(text)).map(({ kind }) => kind);

describe("a secret is found", () => {
  const found: readonly (readonly [string, string])[] = [
    [PLANTED.github, "a GitHub token"],
    [PLANTED.slack, "a Slack token"],
    [PLANTED.anthropic, "an Anthropic API key"],
    [PLANTED.database, "a database's password"],
    [PLANTED.aws, "an AWS secret key"],
    [PLANTED.awsId, "an AWS access key"],
    [PLANTED.google, "a Google Cloud API key"],
    [PLANTED.jwt, "a JSON Web Token"],
    [PLANTED.memsync, "a memsync token"],
    [PLANTED.memsyncGateway, "a memsync token"],
    [PLANTED.npm, "an npm token"],
    [PLANTED.stripe, "a Stripe key"],
    [PLANTED.stripeWebhook, "a Stripe webhook's secret"],
    [PLANTED.notion, "a Notion token"],
    [PLANTED.discord, "a Discord bot's token"],
    ["machine git.shop.io login ann password kX9mQ2vT", "a password of a netrc file"],
    ["machine git.shop.io\tlogin ann\tpassword sunflower", "a password of a netrc file"],
    ["default login ann password kX9mQ2vT", "a password of a netrc file"],
    ["https://ann:sunflower@git.shop.io/x.git", "a password in a URL"],
    ["https://ann:kX9mQ2vT@host/x.git", "a password in a URL"],
    ["https://ann:kX9mQ2vT@git.example.com/x.git", "a password in a URL"],
    ["password: correct-otter-battery-staple", "a password"],
    ["password: correct otter battery staple", "a password"],
    ["**Passphrase:** Velvet Otter Canyon Biscuit", "a password"],
    ['"db_password": "purple monkey dishwasher seventeen"', "a password"],
    ["WIFI_PASSWORD=lantern goose harbor violin", "a password"],
    ["The passphrase is Velvet.Otter.Canyon.Biscuit", "a password"],
    ["password: hunter7", "a password"],
    ["password: Welcome2024!", "a password"],
    ["ADMIN_PASSWORD=Admin@2024!", "a password"],
    ["**Password:** Tr0ub4dor&3", "a password"],
    ['"db_password": "kX9#mQ2v"', "a password"],
    ["PGPASSWORD='s3ns1tive-Zq'", "a password"],
    ["The staging password is Xk7qWz2m.", "a password"],
    ["the password is `Blue!Monday9`", "a password"],
    ["https://ann:kX9mQ2vT@ci.shop.io/hook", "a password in a URL"],
    ["redis://:kX9mQ2vT@cache.shop.io:6379/0", "a database's password"],
    ["curl -s -u ann:kX9mQ2vT https://ci.shop.io", "a password in a command"],
    ["Authorization: Bearer kT7pWx2QmZ9rVb4LsYd6NfHc", "a token in a header"],
    ["API_KEY=kT7pWx2QmZ9rVb4LsYd6NfHc3J1gXo8a", "an API key or a token"],
    // Less varied than most of their kind, of nothing but letters, with a sign at the beginning.
    ["SERVICE_API_KEY=11a1b1c1d1a1b1c1d1e1f1a1b1c1d1e2", "an API key or a token"],
    ["auth_token: kQxWvTbRmZpLsYdN", "an API key or a token"],
    ["API_TOKEN=+xWvTbRmZ/LsYdNq", "an API key or a token"],
    ["session_secret: qTodo7xfake4bYkZ9rVb4LsY", "an API key or a token"],
    // A term of types in the midst, and none of their last words.
    ["auth_token: OAuth2kQxWvTbRmZpLsY", "an API key or a token"],
    ["password: Web3Sunflower", "a password"],
    ["JWT_SECRET=sunny-cat9Chars-kQxWvTbRm", "an API key or a token"],
    ["DB_PASS=kX9mQ2vT", "a password"],
    ["export DB_PASS='s3ns1tive-Zq'", "a password"],
    ["SMTP_PASS=hunter22", "a password"],
    ["pass: Xk7qWz2m", "a password"],
    ["pwd: Xk7qWz2m", "a password"],
    ["DB_PWD=Xk7qWz2m", "a password"],
    ["sshpass -p Xk7qWz2m ssh ann@shop.io", "a password in a command"],
    ["mysql -u root -pXk7qWz2m shop", "a password in a command"],
    ["mysqldump --password='Xk7q Wz2m1' shop", "a password in a command"],
    [`https://${HEX}@github.com/ann/shop.git`, "a token in a URL"],
    [`https://discord.com/api/webhooks/118618277597251385/${HEX}${HEX}`, "a Discord webhook URL"],
    [`r8_${HEX}kT7pW`, "a Replicate token"],
    [`key-${HEX}`, "a Mailgun API key"],
    [`${HEX}-us12`, "a Mailchimp API key"],
    [`sk-${RANDOM.slice(0, 48)}`, "an API key"],
    [`sk-${HEX}`, "an API key"],
    ["sk-lf-9f3c1a7b-e2d0-4568-9f3c-1a7be2d04568", "an API key"],
    [`sk-proj-${RANDOM.slice(0, 30)}`, "an OpenAI API key"],
    [`sk-svcacct-${RANDOM}`, "an OpenAI API key"],
    [`sk-None-${RANDOM.slice(0, 48)}`, "an OpenAI API key"],
    [`sk-ant-${RANDOM.slice(0, 40)}`, "an Anthropic API key"],
    [`sk-ant-oat01-${RANDOM.slice(0, 60)}`, "an Anthropic API key"],
    [`sk-or-v1-${HEX}${HEX}`, "an OpenRouter API key"],
    [`sk_${HEX}${HEX.slice(0, 16)}`, "an ElevenLabs API key"],
    [`${SHORT_HEADER}.eyJzdWIiOiIxIn0.${RANDOM.slice(0, 43)}`, "a JSON Web Token"],
    [`${SHORT_HEADER}.e30.${RANDOM.slice(0, 43)}`, "a JSON Web Token"],
    [`${SHORT_HEADER}.eyJzdWIiOiIxIn0.${RANDOM.slice(0, 12)}`, "a JSON Web Token"],
    [
      `eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..${RANDOM.slice(0, 16)}.${RANDOM}.${RANDOM.slice(9, 31)}`,
      "a JSON Web Token",
    ],
    [
      `https://shop.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig=${RANDOM.slice(0, 43)}%3D`,
      "an Azure shared access signature",
    ],
    [
      `SharedAccessSignature sr=shop&sig=%2b${RANDOM.slice(0, 40)}%2F%2f%3d&se=1790000000&skn=Root`,
      "an Azure shared access signature",
    ],
    [`https://storage.googleapis.com/b/k?X-Goog-Signature=${HEX.repeat(16)}`, "a signed URL"],
    ["pw: Xk7qWz2m", "a password"],
    ["Kennwort: Xk7qWz2m", "a password"],
    [`Cookie: theme=dark; session=${HEX}`, "a session's cookie"],
    [`ghp_${DIGITS}${LETTERS}`, "a GitHub token"],
    [
      `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n".repeat(3)}`,
      "a private key",
    ],
    [
      `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${"lQdGBGkjRxYBEADK3sVwq0YpT6bH8zLx\n".repeat(3)}`,
      "a private key",
    ],
    [`the api key for staging is ${RANDOM.slice(0, 32)}`, "an API key or a token"],
    [`export FOO=${RANDOM.slice(0, 32)}`, "an API key or a token"],
    [`The deploy token is: \`${HEX}\``, "an API key or a token"],
    ["Password is: hunter7", "a password"],
    ["user admin, password s3cr3ts!", "a password"],
    ["login: admin / hunter7", "a password"],
    ["user/pass: admin / Hunter22x", "a password"],
    ["Username / Password: ann@shop.io/Hunter22x", "a password"],
    ["wifi key: bluebanana42", "a password"],
    ["WPA2 key = kX9mQ2vT", "a password"],
    ["Wi-Fi key: correct otter battery staple", "a password"],
    [
      `https://discord.com/api/webhooks/118618277597251385/${RANDOM}${HEX}`.slice(0, 116),
      "a Discord webhook URL",
    ],
    [
      `https://ptb.discord.com/api/v10/webhooks/118618277597251385/${RANDOM}${HEX}`.slice(0, 124),
      "a Discord webhook URL",
    ],
    [`sntryu_${HEX}${HEX}`, "a Sentry user token"],
    [`https://${HEX}@o450448.ingest.sentry.io/450412`, "a token in a URL"],
    ["basic auth admin:s3cr3ts!", "a password"],
    ["login admin:Xk29sLq0p!", "a password"],
    ["login: admin:Xk29sLq0p", "a password"],
    ["credentials are for staging, log in as ann@shop.io:k9#mq2vt", "a password"],
    ["creds: admin:k9mq2vt!", "a password"],
    [`sqp_${HEX}46827193`, "a SonarQube token"],
  ];
  for (const [text, kind] of found) {
    test(`${kind}, with its line: ${text.slice(0, 24)}`, async () => {
      // Wherever a sentence, a list or a table has it.
      const plain = [`# One\n\n${text}\n`, `\n\n- ${text}, since May\n`, `\n\n(${text})`];
      const spanned = [`\n\nSet \`${text}\` before.`, `\n\n- \`${text}\`\n`];
      const quoted = [`\n\n"${text}"`, `\n\n  '${text}',\n`];
      for (const around of [...plain, ...(/[`"']/.test(text) ? [] : [...spanned, ...quoted])]) {
        const [secret] = await findSecrets(around);
        expect([around, secret]).toMatchObject([around, { kind, line: 3 }]);
        expect(text).toContain(secret?.text ?? "nothing");
      }
    });
  }

  test("a secret deep in a long text is found, across the border of two pieces", async () => {
    for (const at of [128 * 1024 - 20, 128 * 1024 - 1, 500_000]) {
      const before = "word\n".repeat(at / 5);
      const [secret] = await findSecrets(`${before}${PLANTED.github}\n${"word\n".repeat(60_000)}`);
      expect(secret).toMatchObject({ text: PLANTED.github, line: before.split("\n").length });
    }
  });

  test("a secret is found once, by the rule that knows it best", async () => {
    const text = `GITHUB_TOKEN=${PLANTED.github}\nSTRIPE_KEY: ${PLANTED.stripe}\n`;
    expect(await findSecrets(text)).toEqual([
      { rule: "github-pat", kind: "a GitHub token", text: PLANTED.github, line: 1 },
      { rule: "stripe-access-token", kind: "a Stripe key", text: PLANTED.stripe, line: 2 },
    ]);
  });
});

test("a password on a line of its own is found", async () => {
  for (const mark of ["|", "|-", ">"]) {
    expect(await kinds(`db:\n  password: ${mark}\n    Xk7qWz2m\n`)).toEqual(["a password"]);
  }
});

test("whatever random value is assigned to a name that says secret, it is found", async () => {
  const random = seededRandom(SEED);
  const base62 = DIGITS + LETTERS + LETTERS.toUpperCase();
  const alphabets = [`${DIGITS}abcdef`, `${DIGITS}ABCDEF`, base62, `${base62}+/`, `${base62}-_`];
  const assignments = [
    "SERVICE_API_KEY=@",
    "client_secret: @",
    'API_TOKEN="@"',
    "export DB_PASS='@'",
    '"privateKey": "@",',
    "- **Access token**: `@`",
    "accessToken := @",
  ];
  for (let count = 0; count < 1000; count++) {
    const alphabet = pick(random, alphabets);
    const length = 16 + Math.floor(random() * 49);
    const value = Array.from({ length }, () => pick(random, [...alphabet])).join("");
    const text = pick(random, assignments).replace("@", value);
    expect([SEED, text, (await findSecrets(text)).length]).toEqual([SEED, text, 1]);
  }
});

describe("what is no secret is left alone", () => {
  const harmless: readonly string[] = [
    "sk_live_xxx",
    "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx",
    "sk_live_YourSecretKeyGoesHere1",
    "STRIPE_KEY=sk_test_1234567890abcdef1234",
    "AKIAIOSFODNN7EXAMPLE",
    `export BUILD_COMMIT=${HEX}46827193`,
    "export NODE_OPTIONS=--max-old-space-size=4096",
    `export RELEASE_DIGEST=${RANDOM.slice(0, 32)}`,
    "export FOO=YourValueGoesHereAndNowhereElse1",
    "export JAVA_HOME=/usr/lib/jvm/java-21-openjdk-amd64/JavaHome21",
    "export const MY_TABLE_2 = AVeryLongNameOfSomeFactory2",
    "API_KEY=changeme",
    "API_KEY=your-key-here-and-nowhere-else",
    "API_TOKEN=xxxxxxxxxxxxxxxxxxxxxxxx",
    "API_TOKEN=<TOKEN>",
    "client_secret: $" + "{CLIENT_SECRET_OF_SHOP}",
    "client_secret: process.env.CLIENT_SECRET",
    "auth_token: my-service-auth-token-v2",
    "secretKey: getSecretKeyForTenant(id),",
    "accessToken: currentUserAccessToken",
    'passphrase: "my-secret-passphrase"',
    "API_KEY=sk-live-xxxxxxxxxxxxxxxxxxxx",
    `token_hash: ${HEX}`,
    `SECRET_FILE=/run/secrets/shop-token`,
    `next_token: ${HEX}`,
    `cache-key: ${HEX}`,
    "bypass: kX9mQ2vTkX9mQ2vTaa",
    "Pass: 12tests",
    "Tests pass: PR#123",
    "https://my-organisation-name@dev.azure.com/my/repo",
    "https://discord.com/api/webhooks/ID/TOKEN",
    "mysql -u root -p shop",
    "mysql -u root -p$MYSQL_PASSWORD shop",
    "sshpass -p $PASSWORD1 ssh ann@shop.io",
    "Cookie: session=<your session>",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ANTHROPIC_API_KEY=sk-ant-...",
    "MEMSYNC_TOKEN=mst_…",
    "mst_dev_pro mst_dev_team mst_dev_readonly mst_dev_some-name-of-forty-characters-and-more",
    "whsec_...",
    "whsec_your_webhook_secret",
    "whsec_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ntn_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "Module.exports.someOtherPropertyWithALongName",
    "MainConfigurationOfTheApp.config.someOtherPropertyWithALongName",
    "machine api.shop.io login $USER password $TOKEN",
    "machine <host> login <user> password <token>",
    "machine name login name password string",
    "machine example.com login user password secret",
    "The machine has login and password fields.",
    "https://user:password@git.shop.io/x.git",
    "https://user:pass@example.com",
    "https://$" + "{USER}:$" + "{PASSWORD1}@git.shop.io",
    "https://<user>:<password>@git.shop.io",
    "https://user:hunter2@example.com",
    "https://user:he%2F%2Fo@pypi.company.com",
    "machine ftp.shop.io login anonymous password ann@shop.io",
    "password: reset-link-sent-to-user",
    "password: forgot-password-page-title",
    "password: db-credentials-for-prod",
    "password: at-least-eight-chars",
    "password: reset-link-sent",
    "password: correct-horse-battery, or any other",
    "uri://user:pass@example.com:8080/one/two?q1=a1&q2=a2",
    "user/pass: admin / admin",
    "User/pass: `extro` / `extro`",
    "Username/Password: see docs/accounts2.md",
    "doScrape with user/pass: %s/%s",
    "wifi key: <your key>",
    "the WiFi key: stored in NVS, read by config2.h",
    "WIFI_KEY: string",
    "wifi key: required",
    "https://discord.com/api/webhooks/<id>/<token>",
    "https://discord.com/api/v10/webhooks/123456789012345678/your-token-goes-here",
    "SENTRY_DSN=https://<key>@sentry.io/<project>",
    "password: correct horse battery",
    "password: prompt users for one at login",
    "password: ask maria before lunch",
    "Password: Ask maria tomorrow morning",
    "password: stored with bcrypt, never in plain text",
    "passphrase: four random words from the list",
    "Passwords: hashed by argon before they are written",
    "password: foo foo foo foo",
    "The password is leaving our system encrypted",
    "password: hunter2",
    "password: s3cr3t!",
    "login: admin / hunter2",
    "MINIO_ROOT_PASSWORD=minio123",
    "https://ann:hunter2@git.shop.io/x.git",
    "password: correct horse battery staple",
    "passphrase: correct-horse-battery-staple",
    "$password = ConvertTo-SecureString -AsPlainText -Force",
    "$token = Get-AzAccessToken -AsSecureString",
    "pass: unit-tests-2024",
    "password: <your password>",
    "password: $" + "{ENV}",
    "password: $" + "{{ secrets.DB_PASSWORD }}",
    "password: $DB_PASSWORD1",
    "password: {{ db_password1 }}",
    "password: process.env.DB_PASSWORD1",
    "password: must be at least 12 characters",
    "Passwords: 12 characters at least, one of them a digit",
    "password: min8chars, argon2id hashed",
    "password: varchar(255)",
    'password: "string", // bcrypt, 12 rounds',
    "password: sha256",
    "password: changeme123",
    "password: ********",
    "password: hash256(input)",
    "password: users.password2",
    "Log in with password: password123 or Admin@123.",
    "postgres://shop:s3cr3tpw@localhost:5432/shop",
    "postgres://user:{{password}}@db.shop.io/shop",
    "postgresql://postgres:postgres@db:5432/app",
    "postgres://user:pass@host:5432/db",
    "https://user:token@github.com/org/repo.git",
    "aws_account_id: 1234-5678-9012",
    "see 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "cache key: deps-v3-linux-node20",
    "proj_oq72xuufnh7fvpncagvsll6kob mem_mfks4tj3yrmhgrtvxahdhiu23n",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $MEMSYNC_GATEWAY_TOKEN",
    "curl -u $USER:$PASSWORD https://ci.shop.io",
    "Public key: SIXvRyDmBJSgatgTQRGbInBaAK+hZOQ18UmrSwnDlK8=",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n",
    "sk-fading-circle sk-cube-grid sk-circle-fade-dot12 sk-learn-pipeline-of-many-words-v2",
    "OPENAI_API_KEY=sk-proj-abcdefghijklmnopqrstuvwxyz123456",
    "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "OPENAI_API_KEY=sk-your-openai-api-key-goes-here-1",
    `${SHORT_HEADER}.eyJzdWIiOiIxIn0.signature-of-your-token`,
    `${SHORT_HEADER}.eyJzdWIiOiIxIn0`,
    `eyJhbGciOiJub25lIn0.eyJzdWIiOiI4ODEzOTQ3MiJ9.${RANDOM.slice(0, 1)}`,
    "https://x.blob.core.windows.net/c?sv=2022-11-02&sig=<signature>",
    "?sig=XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX%3D",
    `gpg --verify file.sig=${RANDOM.slice(0, 20)}`,
    "JWT_SECRET=your-jwt-secret-at-least-32-characters",
    "token: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9...",
    "The token is read from process.env.SERVICE_ACCESS_TOKEN_2",
    "the secret is created in kubernetes-production-cluster-1",
    "login: admin / password",
    "user admin, password pbkdf2",
    "account: src/auth / oauth2",
    "the user enters a password bcrypt12 hashes",
    "basic auth uses user:password",
    "basic auth: https://localhost:8080",
    "login: admin:password",
    "login localhost:3000 in the browser",
    "user app:node20-alpine runs it, as user 1000:1000",
    "account arn:aws:iam::123456789012:role/Deploy2Prod",
    "login: LoginController:handleLogin2Factor",
    "docker login ghcr.io:443, docker run --user app:staff2 image",
    "the user src/User.ts:120 and login src/Login.tsx:44:Form",
    "ii  login  1:4.13+dfsg1-1+deb12u1  amd64  system login tools",
    "log in with user:Passw0rd!",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n...\n-----END PGP PRIVATE KEY BLOCK-----\n",
  ];
  for (const text of harmless) {
    test(`no secret: ${text.slice(0, 60)}`, async () => {
      expect(await findSecrets(`${text}\n`)).toEqual([]);
      expect(await findSecrets(`- \`${text}\`, as ever\n`)).toEqual([]);
    });
  }

  test("instruction files and memories of real projects hold no secret", async () => {
    const texts = fileHistories().flatMap(({ versions }) => versions);
    for (const change of memoryChanges()) if (change.op === "set") texts.push(change.value);
    expect(texts.length).toBeGreaterThan(HAS_REAL_DATA ? 200 : 40);
    for (const text of texts) expect(await findSecrets(text)).toEqual([]);
  });
});

describe("the mark that allows a secret", () => {
  const mark = `<!-- ${ALLOW_MARK} -->`;
  const allows: readonly (readonly [string, string])[] = [
    ["in its own line, behind it", `${PLANTED.github} ${mark}`],
    ["in its own line, before it", `${mark} ${PLANTED.github}`],
    ["alone in the line above", `${mark}\n${PLANTED.github}`],
    ["alone in the line above, as a comment of a script", `# ${ALLOW_MARK}\n${PLANTED.github}`],
    ["alone in the line above, with blanks", `  // ${ALLOW_MARK}  \r\n\t${PLANTED.github}`],
  ];
  for (const [where, text] of allows) {
    test(`the mark that allows a secret counts ${where}`, async () => {
      expect(await kinds(`# One\n${text}\n`)).toEqual([]);
    });
  }

  const allowsNothing: readonly (readonly [string, string])[] = [
    ["two lines above", `${mark}\n\n${PLANTED.github}`],
    ["below", `${PLANTED.github}\n${mark}`],
    ["above, behind another secret", `${PLANTED.slack} ${mark}\n${PLANTED.github}`],
    ["above, in a line that says something", `Write ${mark} to allow one.\n${PLANTED.github}`],
    ["above, behind a word", `key ${mark}\n${PLANTED.github}`],
    ["of the scanner of another project", `gitleaks:allow\n${PLANTED.github}`],
  ];
  for (const [where, text] of allowsNothing) {
    test(`the mark that allows a secret does not count ${where}`, async () => {
      expect(await kinds(`# One\n${text}\n`)).toEqual(["a GitHub token"]);
    });
  }
});

test("every rule of gitleaks' finds what is made after its pattern, and so do our tokens", async () => {
  const random = seededRandom(SEED);
  const rules = await loadGitleaksRules();
  expect(rules.length).toBeGreaterThan(190);
  const tokens = [
    ...OWN_RULES.filter(({ pattern }) => pattern.source.startsWith("\\b")),
    ...TOKEN_RULES.filter(({ id }) => id.endsWith("-key")),
  ];
  for (const { id, keywords, pattern } of [...rules, ...tokens]) {
    if (id.startsWith("password")) continue;
    const make = matchingTexts(pattern.source, random);
    let found = 0;
    for (let count = 0; count < 40; count++) {
      if ((await findSecrets(`${keywords[0]} ${make()} and so on`)).length > 0) found++;
    }
    // At random some have a word in them, or say too little.
    expect([id, found > 5, SEED]).toEqual([id, true, SEED]);
  }
});

test("a hostile text of 1 MiB comes to an end, whatever it repeats", async () => {
  const rules = await allRules();
  const words = [...new Set(rules.flatMap(({ keywords }) => keywords))];
  const units = [
    ...[
      "a",
      "A",
      "0",
      " ",
      "\n",
      "key=",
      "xoxb-a-",
      "password: ",
      "https://a:b@",
      "eyA.",
      "pw: word\n",
    ],
    "-----BEGIN RSA PRIVATE KEY-----",
    "secret                    ''' ",
    `${PLANTED.github}\n`,
    words.join(" "),
    words.join("="),
    words.map((word) => `${word} = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1!`).join("\n"),
  ];
  // With every word in it, every rule looks through all of it.
  const all = words.join(" ");
  for (const unit of units) {
    const found = await findSecrets(all + unit.repeat(Math.ceil(MIB / unit.length)));
    expect(found.length).toBeLessThan(10_000);
  }
});

test("no rule takes more than linear time for a text that nearly has a secret all over", async () => {
  const random = seededRandom(SEED);
  for (const { pattern, keywords } of await allRules()) {
    const near = matchingTexts(pattern.source, random)();
    for (const unit of [`${keywords[0]} = `, near.slice(0, -1), near.slice(0, near.length / 2)]) {
      // A pattern of quadratic time would take minutes for this.
      const text = unit.repeat(Math.ceil(MIB / 4 / (unit.length + 1)));
      expect([...text.matchAll(pattern)].length).toBeLessThan(text.length);
    }
  }
});
