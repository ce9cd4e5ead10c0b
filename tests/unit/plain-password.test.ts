import { expect, test } from "bun:test";
import { findSecrets } from "../../daemon/held/secret-scan.ts";

const kinds = async (text: string) => (await findSecrets(text)).map(({ kind }) => kind);

test("a password that is a plain word is found where it has a line to itself", async () => {
  const lines = [
    "password: sunflower",
    "pw: sunflower",
    "PW = Sunflower",
    "password: qwerty",
    "Password: Qwerty123",
    "password = correct-horse-battery",
    "wifi key: sunflower",
    "  - **Wifi password:** `sunflower`",
    "3. root password: sunflower.",
    "db_password: 'sunflower' # on staging",
    "passwort: größer",
    "Kennwort: sunflower",
    "the admin's\npw: frog",
  ];
  for (const line of lines) {
    for (const text of [line, `# Notes\n\n${line}\n\nmore\n`, `# Notes\r\n${line}\r\n`]) {
      expect([text, await kinds(text)]).toEqual([text, ["a password"]]);
    }
  }
});

test("what is said about passwords in a line of its own is none", async () => {
  const lines = [
    ..."required optional string encrypted hashed boolean undefined None str text str! true".split(
      " ",
    ),
    ..."Required. configurable manually hashedPassword mypassword postgres letmein abc".split(" "),
    ..."[HIDDEN] <yours> $PW ******** String, SecretStr unchanged".split(" "),
  ].map((said) => `password: ${said}`);
  lines.push(
    "user: marketplace\npassword: marketplace",
    "POSTGRES_PASSWORD: shop",
    "pass: True",
    "Pass: green",
    "bypass: sunflower",
    "pw:sunflower",
    '  "password": "sunflower",',
    "password: sunflower or whatever you like",
    "How to reset the password:\nsunflower",
  );
  lines.push(
    ..."erforderlich Pflichtfeld vergessen ungültig".split(" ").map((said) => `Passwort: ${said}`),
    ..."obligatoria requerida olvidada".split(" ").map((said) => `contraseña: ${said}`),
    ..."obrigatória opcional esquecida".split(" ").map((said) => `senha: ${said}`),
    ..."obligatoire facultatif oublié".split(" ").map((said) => `mot de passe: ${said}`),
    ..."obbligatoria dimenticata verplicht vergeten".split(" ").map((said) => `Password: ${said}`),
    ..."Devise zxcvbn passportjs Kerberos lucia".split(" ").map((said) => `- Password: ${said}`),
    ..."bcryptjs Argon".split(" ").map((said) => `- **Password**: ${said}`),
    ..."raspberry toor vagrant".split(" ").map((said) => `username: pi\npassword: ${said}`),
    "pw: Playwright",
    "pw: playwright",
    "pwd: repository",
  );
  for (const line of lines) {
    const text = `# Notes\n\n${line}\n`;
    expect([text, await findSecrets(text)]).toEqual([text, []]);
  }
});
