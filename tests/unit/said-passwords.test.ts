import { expect, test } from "bun:test";
import { COMMAND_RULES } from "../../daemon/held/command-rules.ts";
import { findSecrets } from "../../daemon/held/secret-scan.ts";
import { SENTENCE_RULES } from "../../daemon/held/sentence-rules.ts";

/** Drawn at random, put together here so that no scanner finds them. */
const X = ["Gh7s", "Kx92", "Zq"].join("");
const SIGNED = ["hq7sKv9", "2Zp!xwmd"].join("");

const FOUND: readonly string[] = [
  `The password for prod is ${X}`,
  `password for the staging db: ${X}`,
  `Password (staging): ${X}`,
  `**Password** (staging): \`${X}\``,
  `**Password for ann@shop.io:** ${X}`,
  `password of ann = ${X}`,
  `the password to the wiki is now "${X}"`,
  `The password for prod (db.shop.io:5432) was ${X}, until May.`,
  `Password for https://ci.shop.io: ${X}`,
  "the password for the vault is correct-otter-battery-staple",
  `Password for prod → ${X}`,
  `Password - ${X}`,
  `log in with the password ${X}.`,
  `I changed the root password to ${X}.`,
  `reset the wifi password to \`${X}\``,
  `ssh root@10.0.0.1 (pw ${SIGNED})`,
  `Das Passwort ist ${X}`,
  `Das Passwort lautet \`${X}\`.`,
  `Das Passwort für die Datenbank lautet: ${X}`,
  `le mot de passe est ${X}`,
  `Le mot de passe de la base est : ${X}`,
  `la contraseña es ${X}`,
  `a senha do banco é ${X}`,
  `la password è ${X}`,
  `het wachtwoord van ann is ${X}`,
  `Password:\n${X}\n`,
  `Password:\r\n\r\n    ${X}\r\n`,
  `Password:\n\`\`\`\n${X}\n\`\`\`\n`,
  `The password for prod is:\n\n\`\`\`text\n${X}\n\`\`\`\n`,
  `- Password\n- **Password for prod:**\n  - \`${X}\`\n`,
  `## Staging password\n\n${X}\n`,
  `**Password for staging**\n> ${X}\n`,
  `docker login -u ann -p ${X} ci.shop.io`,
  `docker login ci.shop.io \\\n  -u ann \\\n  -p '${X}'`,
  `az login --service-principal -u app -p ${X} --tenant shop`,
  `sqlcmd -S db -U sa -P ${X} -Q "select 1"`,
  `redis-cli -h cache -a ${X} ping`,
  `unzip -P ${X} backup.zip`,
  `7z x -p${X} backup.7z`,
  `net user admin ${X} /add`,
  `echo ${X} | docker login -u ann --password-stdin`,
  `printf '%s' "${X}" | docker login --password-stdin`,
  `echo '${X}' | sudo -S apt update`,
  `echo "ann:${X}" | sudo chpasswd`,
  `docker login -u ann --password-stdin <<< "${X}"`,
  `mongosh -u root -p ${X} --authenticationDatabase admin`,
  `ldapsearch -D cn=admin -w ${X}`,
  `${X} is the password`,
  `\`${X}!\` is the staging password.`,
  `The value **${X}** is our wifi password for guests`,
  `use ${X} as the root password`,
  `${X} ist das Passwort für die Datenbank`,
  `${X} est le mot de passe`,
  `${X} es la contraseña`,
  `${X} è la password`,
  `${X} é a senha do banco`,
  `${X} als wachtwoord`,
  `${X} (root password)`,
  `${X} – password for prod`,
  "correct-otter-battery-staple is the passphrase",
  `secret_key: ${SIGNED}`,
  `SECRET_KEY = "${SIGNED}"`,
  `NRAK-${"K7QX2MZ9VB4LSYD6NFHC3J1GWT8"}`,
  `cio${"kQ9xW3vTb7RmZ2pLsYd4Nf6HcJ1gXo8a"}`,
];

const HARMLESS: readonly string[] = [
  "changed the password to users.password2",
  "We changed the password to argon2id hashes",
  "set the password to <value1>",
  "the form (password field2)",
  'echo "root:$ROOT_PASSWORD" | chpasswd',
  'echo "ann:$PW1" | chpasswd',
  `echo root:\${ROOT_PASSWORD_2024} | chpasswd`,
  "az login --service-principal -u app -p @cert-2024.pem",
  "The password for prod is in 1Password",
  "the password is stored in vault2024",
  "The password for prod is stored in vault2024.",
  "password for the staging db: ask ann",
  "password for the staging db: see docs/access2.md",
  "password for the staging db: $DB_PASSWORD1",
  "The password for the users is hashed by argon2id.",
  "The password of a user is bcrypt12-hashed",
  "Ask ann for the password for prod. The build is v20build77",
  "password for prod, and the release is v20build77",
  "The password for the form is required!",
  "argon2id is the password hash",
  "bcrypt12 is the password hashing algorithm",
  "1Password is the password manager",
  "OAuth2 (password grant)",
  "RFC6749x is not the password",
  "param2 is the password",
  "Column4 (password)",
  "PR#123 (password)",
  "users.password2 is the password",
  "$DB_PASS2 is the password",
  "<value1> is the password",
  "const hash256Xx = password",
  "Login2Form.tsx — password",
  "v2.3.1 – password",
  "auth2024 - password reset",
  "hunter2 is the password",
  "admin123 as password",
  "Password reset for staging: https://shop.io/reset2",
  "Send the password to: ann2@shop.io",
  "Password (min8chars): string",
  "Password (bcrypt): sha256",
  "Das Passwort ist geheim",
  "Das Passwort ist geheim!",
  "Das Passwort ist mindestens 12 Zeichen lang",
  "Das Passwort für die Datenbank lautet wie der Name",
  "le mot de passe est obligatoire!",
  "la contraseña es obligatoria",
  "Password:\n\nask ann\n",
  "Password:\n  type: string1\n",
  "password:\n  minLength: 12\n",
  "password:\n  <your password>\n",
  "password:\n  process.env.DB_PASSWORD1\n",
  "Password:\nann2@shop.io\n",
  "Forgotten password\n\nauth2024\n",
  "We store no password\nv20build77\n",
  "# Password\n\nauth2024 stores it.\n",
  "-p 8080",
  "docker run -p 8080:80 app",
  "mongosh --port 27017 && mkdir -p build22",
  "log in with the password bcrypt12",
  "docker login ghcr.io && mkdir -p build22",
  "docker login -u ann -p $TOKEN2",
  "docker login -u ann -p <token2>",
  "After `docker login`, run `mkdir -p build22`",
  "redis-cli -a $PASS",
  'redis-cli -a "$REDIS_PASS2" ping',
  "sqlcmd -S db -U sa -P $SA_PASSWORD1",
  "sqlcmd -U sa -P P@ssw0rd",
  "unzip -p backup2024.zip",
  "zip -r backup2024.zip src2app",
  "net user admin * /add",
  "net user admin password /add",
  "echo $TOKEN2 | docker login --password-stdin",
  "echo hello | docker login --password-stdin",
  "echo v20build77 | sort",
  "echo v20build77 | grep --color token",
  "secret_key: config.Keys2!.signing",
  "secretKey: process.env.KEY_2!",
  "token: $" + "{{ github.Token2 }}",
  "cioConfigurationOfTheMainApplication",
  "NRAK-XXXXXXXXXXXXXXXXXXXXXXXXXXX",
];

test("a password is found in a sentence, below its name, and in a command", async () => {
  for (const text of FOUND) {
    for (const around of [text, `# One\n\n${text}\n\nmore\n`, `intro\n- ${text}`]) {
      const found = await findSecrets(around);
      expect([around, found.length]).toEqual([around, 1]);
    }
  }
});

test("what is said about a password is none", async () => {
  for (const text of HARMLESS) {
    for (const around of [text, `# One\n\n${text}\n\nmore\n`]) {
      expect([around, await findSecrets(around)]).toEqual([around, []]);
    }
  }
});

test("what nearly is a password all over a text takes work in proportion to its length", async () => {
  // Without a bound to what repeats, each beginning would look through all that follows it.
  for (const { id, pattern } of [...SENTENCE_RULES, ...COMMAND_RULES]) {
    const signs = pattern.source.replace(/\\./g, "a").replace(/\[[^\]]*\]/g, "a");
    expect([id, /[*+]|\{\d+,\}/.test(signs)]).toEqual([id, false]);
  }
  const units = [
    "password for a ",
    "password (",
    "password for a:b:c:d",
    "password is ",
    "password:\n\n",
    "with the password ",
    "docker login -p ",
    "redis-cli \\\n",
    "echo a | ",
    "--password-stdin ",
    "net user a ",
    "kX9mQ2vT is the ",
    "kX9mQ2vT (a b c ",
  ];
  for (const unit of units) {
    const text = unit.repeat(100_000 / unit.length);
    expect([unit, await findSecrets(text)]).toEqual([unit, []]);
  }
});
