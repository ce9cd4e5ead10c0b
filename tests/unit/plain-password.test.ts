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
    "password: secretgarden",
    "password: Secretary",
    "- pw: passwortgarten",
  ];
  for (const line of lines) {
    for (const text of [line, `# Notes\n\n${line}\n\nmore\n`, `# Notes\r\n${line}\r\n`]) {
      expect([text, await kinds(text)]).toEqual([text, ["a password"]]);
    }
  }
});

test("a password of a command is found whatever quotes are in it, and behind its option", async () => {
  const word = "Tr0ub4dor";
  const commands = [
    "curl -u bob:O'Reilly2 https://x.io",
    'curl -u "bob:O\'Reilly2" https://x.io',
    "curl -u 'bob:O''Reilly2' https://x.io",
    "curl -u 'bob:O'\\''Reilly2' https://x.io",
    "curl -u bob:O\\'Reilly2 https://x.io",
    "curl --user bob:'O''Reilly2' https://x.io",
    `curl -su bob:${word} https://x.io`,
    `curl https://x.io \\\n  --proxy-user bob:${word}`,
    `mysql --password ${word} shop`,
    `docker login -u bob --password '${word}' registry.io`,
    `az login --password "${word}&3"`,
    `tool --db-password ${word}`,
    `tool --passphrase ${word}`,
    "tool --password correct-otter-battery-staple",
    `tool --password \\\n  ${word} run`,
    `tool --password\n${word}`,
    `args: ["--password", "${word}"]`,
    `  - --password\n  - ${word}`,
    `  "--password",\n  "${word}",`,
  ];
  for (const command of commands) {
    for (const text of [command, `Run this:\n\n    ${command}\n\nand wait.\n`]) {
      expect([text, await kinds(text)]).toEqual([text, ["a password in a command"]]);
    }
  }
  const yaml = ["password: 'O''Reilly2'", "password: O'Reilly2", "password = 'O\\'Reilly2'"];
  for (const line of yaml) expect([line, await kinds(line)]).toEqual([line, ["a password"]]);
});

test("what is said about options for passwords is none", async () => {
  const lines = [
    "Run `tool --password` to be asked for it.",
    "tool --password $DB_PASSWORD1, never in plain text",
    'tool --password "$PASSWORD2"',
    "mysql --password --host db2.internal1",
    "docker login -u bob2 --password-stdin registry.io",
    "pg_dump --no-password app2024",
    "ansible-playbook --ask-pass site2.yml",
    "gpg --passphrase-file ~/.pass2",
    "openssl enc -pass env:KEY1",
    "openssl enc -pass file:./key1.txt",
    "--password-hash sha256 by default",
    "the two-pass SHA256 of it",
    "- `--password`\n- `--max-time2`",
    "tool --password\n\nUse http2server.",
    "tool --password\nUse http2server.",
    "tool --password op://vault/db2",
    "tool --password hunter2",
    "tool --password admin123",
    "--password string2   asked for where it is missing",
    "curl -u alice:don't https://x.io",
    'curl -u "$USER:$PASSWORD1" https://x.io',
    "Don't use curl -u name:password, it's logged",
    "The user's password: it's required",
    "password: 'don''t forget'",
  ];
  for (const line of lines) expect([line, await findSecrets(line)]).toEqual([line, []]);
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
    ..."Contraseña Kennwort Wachtwoord Senha Пароль Hasło Şifre Lösenord"
      .split(" ")
      .map((label) => `login:\n  user: Name\n  password: ${label}`),
    ..."supersecret nosecret passwordless adminsecret secretvalue topsecret"
      .split(" ")
      .map((said) => `password: ${said}`),
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
