import { expect, test } from "bun:test";
import { secretAlone } from "../../daemon/held/secret-alone.ts";
import { findSecrets } from "../../daemon/held/secret-scan.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const PASSWORD = ["Zx9", "kT44", "pLm"].join("");
const HEX = "3f9c1b7e5d2a8046";
const PARTS = `${HEX.slice(0, 8)}-4a1b-9c2d-8e3f-${HEX.slice(0, 12)}`;
const TEAMS = `${PARTS}@${PARTS}/IncomingWebhook/${HEX}${HEX}/${PARTS}`;
const KEY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ";
const PHRASE = "tulip anchor velvet harbor";
const WIDE_JWT = `${btoa(PLANTED.jwt).replace(/=+$/, "")}`;

/** Lines, and what of them is the secret alone. */
const LINES: readonly (readonly [line: string, secret: string])[] = [
  ...["mysql", "https", "redis", "amqp", "postgres", "mongodb"].map(
    (scheme) => [`${scheme}://root:${PASSWORD}@db-7.internal:3307/shop`, `:${PASSWORD}`] as const,
  ),
  [`redis://:${PASSWORD}@cache-2:6379`, `:${PASSWORD}`],
  [`password=${PASSWORD}&ssl=true`, PASSWORD],
  [`password: ${PASSWORD}@db-7.internal:3307`, PASSWORD],
  [`password: ann:${PASSWORD}`, PASSWORD],
  [`password: ${PASSWORD}!`, `${PASSWORD}!`],
  [`https://acme.webhook.office.com/webhookb2/${TEAMS}`, TEAMS],
  [
    `https://hooks.slack.com/services/T0G9PQ/B7K2MX/${"kT7pWx2QmZ9rVb4LsYd6NfHc"}`,
    "kT7pWx2QmZ9rVb4LsYd6NfHc",
  ],
  [`_gitlab_session=${HEX}${HEX}`, `${HEX}${HEX}`],
  [`SONAR_TOKEN=${HEX}${HEX}${HEX.slice(0, 8)}`, `${HEX}${HEX}${HEX.slice(0, 8)}`],
  [`"-----BEGIN PRIVATE KEY-----\\nComment: Ann's\\n${KEY}"`, ""],
  [`wifi password: ${PHRASE}`, PHRASE],
  [`wifi password: ${PHRASE} meadow`, PHRASE],
  [`token: ${WIDE_JWT}`, WIDE_JWT],
  [PLANTED.github, PLANTED.github],
  [PLANTED.jwt, PLANTED.jwt],
  [PLANTED.aws, PLANTED.aws.slice(-40)],
];

for (const [line, secret] of LINES) {
  test(`the secret alone in ${line}`, async () => {
    const [found] = await findSecrets(line);
    expect(secretAlone(found?.text ?? "none")).toBe(secret);
  });
}
