import { expect, test } from "bun:test";
import { findSecrets } from "../../daemon/held/secret-scan.ts";
import { seededRandom } from "../support/random.ts";

const SEED = 20_261_129;
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789";
const random = seededRandom(SEED);
const draw = (length: number, from = ALPHABET) =>
  Array.from({ length }, () => from[Math.floor(random() * from.length)]).join("");
const password = () => `k7${draw(9)}!${draw(2)}`;

const SETTINGS: readonly ((value: string) => string)[] = [
  (value) => `<server>\n  <username>deploy</username>\n  <password>${value}</password>\n</server>`,
  (value) => `<input name="password" value="${value}">`,
  (value) => `<input type="password" value="${value}">`,
  (value) => `<add key="ClearTextPassword" value="${value}" />`,
  (value) => `set -gx DB_PASSWORD ${value}`,
  (value) => `setx DB_PASSWORD "${value}"`,
  (value) => `FROM x\nENV DB_PASSWORD ${value}\n`,
  (value) => `variable "db_password" {\n  type = string\n  default = "${value}"\n}`,
  (value) => `{\\"password\\": \\"${value}\\"}`,
];
const TOKENS: readonly (() => string)[] = [
  () => `APP_KEY=base64:${draw(43)}=`,
  () => `SECRET_KEY = '${draw(25)}7#(${draw(22)}'`,
  () => `FCM_SERVER_KEY=AAAA${draw(7)}:APA91b${draw(134)}`,
  () => `ENV API_TOKEN ${draw(31)}7`,
  () => `set -x API_KEY ${draw(31)}7`,
  () => `pat${draw(14)}.${draw(64, "0123456789abcdef")}`,
  () => `ATBB${draw(32)}`,
  () => `re_${draw(8)}_${draw(24)}`,
  () => `tvly-dev-${draw(32)}`,
  () => `ngrok config add-authtoken 2${draw(26)}_${draw(21)}`,
];

test(`a secret in a setting is found, seed ${SEED}`, async () => {
  const each = () => [
    ...SETTINGS.map((setting) => setting(password())),
    ...TOKENS.map((of) => of()),
  ];
  for (const text of Array.from({ length: 15 }, each).flat()) {
    expect([text, (await findSecrets(text)).length > 0]).toEqual([text, true]);
  }
});

test("what is to be filled in, or comes from elsewhere, is none in a setting either", async () => {
  const values = [
    "$" + "{DB_PASSWORD1}",
    "{{ db_password1 }}",
    "changeme1",
    "your-password-1",
    "%PW1%",
  ];
  const texts = SETTINGS.flatMap((setting) => values.map(setting));
  texts.push(
    "APP_KEY=base64:",
    "SECRET_KEY = 'change-me-to-something-of-fifty-characters-or-so-1!'",
  );
  texts.push(
    "ENV TOKEN_PATH /run/secrets/token1",
    "<token>string</token>",
    "set -x TOKEN_FILE ~/.t1",
  );
  for (const text of texts) expect([text, await findSecrets(text)]).toEqual([text, []]);
});

/** Settings and sentences that a person writes into a note. */
const NOTED: readonly ((value: string) => string)[] = [
  (value) => `password: ${value}`,
  (value) => `password: "${value}"`,
  (value) => `DB_PASSWORD=${value}`,
  (value) => `API_TOKEN=${value}`,
  (value) => `The password is ${value}.`,
];

test(`a password in short groups is found, and a name is none, seed ${SEED}`, async () => {
  const small = () => draw(1, "abcdefghjkmnpqrstuvwxyz");
  const capital = () => draw(1, "ABCDEFGHJKLMNPQRSTUVWXYZ");
  const digit = () => draw(1, "23456789");
  const groups = () => [
    `${capital()}${small()}${digit()}`,
    `${small()}${capital()}${digit()}${digit()}`,
    `${small()}${capital()}${small()}`,
  ];
  const inGroups = ["-", "_", "."].flatMap((sign) => [
    groups().join(sign),
    groups().slice(0, 2).join(sign),
  ]);
  const names = ["iOS17-v2", "db-credentials-v2", "users.password2", "appDb1.env2", "Node20-Web3"];
  const isFound = async (text: string) => (await findSecrets(text)).length > 0;
  for (const noted of NOTED) {
    for (const value of inGroups)
      expect([noted(value), await isFound(noted(value))]).toEqual([noted(value), true]);
    for (const name of names)
      expect([noted(name), await isFound(noted(name))]).toEqual([noted(name), false]);
  }
});
