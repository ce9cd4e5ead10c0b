import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { findSecrets, secretHider } from "../../daemon/held/secret-scan.ts";

/** As `ssh-keygen` writes one: it has no header, and its lines have 70 characters. */
const OPENSSH = asPem("OPENSSH PRIVATE KEY", { bytes: Buffer.from(bytesOf(400)), width: 70 });

function bytesOf(count: number): number[] {
  let state = 7;
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state >> 16) & 0xff;
  });
}

function asPem(
  title: string,
  { bytes, width }: { readonly bytes: Buffer; readonly width: number },
): string {
  const lines = bytes.toString("base64").match(new RegExp(`.{1,${width}}`, "g")) ?? [];
  return [`-----BEGIN ${title}-----`, ...lines, `-----END ${title}-----`, ""].join("\n");
}

function keys(): Record<string, string> {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const ed25519 = generateKeyPairSync("ed25519").privateKey;
  const pem = (key: typeof rsa, type: "pkcs1" | "pkcs8" | "sec1") =>
    key.export({ format: "pem", type }).toString();
  const cipher = { cipher: "aes-128-cbc", passphrase: "x" };
  return {
    pkcs1: pem(rsa, "pkcs1"),
    pkcs8: pem(rsa, "pkcs8"),
    encrypted: rsa.export({ format: "pem", type: "pkcs1", ...cipher }).toString(),
    sec1: pem(ec, "sec1"),
    ec: pem(ec, "pkcs8"),
    ed25519: pem(ed25519, "pkcs8"),
    openssh: OPENSSH,
  };
}

const before = (prefix: string) => (key: string) => key.replace(/^(?=.)/gm, prefix);
const PLACES: Readonly<Record<string, (key: string) => string>> = {
  "as it is": (key) => key,
  "with CRLF": (key) => key.replaceAll("\n", "\r\n"),
  "on one line": (key) => key.replaceAll("\n", " "),
  "in JSON": (key) => JSON.stringify({ key }),
  "with blank lines": (key) => key.replaceAll("\n", "\n\n\n\n"),
  "in YAML": (key) => `tls:\n  key: |\n${before("    ")(key)}`,
  "in a list": (key) => `- one\n  - key:\n\n${before("          ")(key)}`,
};
for (const prefix of ["  ", "    ", " ".repeat(60), "\t", "\t\t\t\t\t\t", "# ", "    # ", "> "]) {
  Object.assign(PLACES, { [`behind ${JSON.stringify(prefix)}`]: before(prefix) });
}
for (const prefix of [">     ", "> > ", "// ", "   // ", " * ", "     * ", "; ", "\u00a0\u00a0"]) {
  Object.assign(PLACES, { [`behind ${JSON.stringify(prefix)}`]: before(prefix) });
}

test("a private key is found however its lines are set in, whole and cut off", async () => {
  const hide = await secretHider();
  for (const [kind, key] of Object.entries(keys())) {
    for (const [place, put] of Object.entries(PLACES)) {
      const cut = key
        .split("\n")
        .slice(0, kind === "encrypted" ? 5 : 2)
        .join("\n");
      for (const text of [put(key), put(`${cut}\n`)]) {
        const found = await findSecrets(`# notes\n\n${text}\nend\n`);
        expect([kind, place, found[0]?.kind]).toEqual([kind, place, "a private key"]);
      }
      // Nothing of it is left where it is hidden.
      const line = key.split("\n").at(-3) ?? "";
      expect([kind, place, hide(put(key)).includes(line)]).toEqual([kind, place, false]);
    }
  }
});

test("what only speaks of a private key is none", async () => {
  const begin = "-----BEGIN RSA PRIVATE KEY-----";
  for (const text of [
    `    ${begin}\n    ...\n    -----END RSA PRIVATE KEY-----\n`,
    `# ${begin}\n# your key goes here\n`,
    `It begins with \`${begin}\`, and goes on with lines of base64, of 64 characters each.\n`,
    `grep -r '${begin}' . | sort\n`,
  ]) {
    expect([text, await findSecrets(text)]).toEqual([text, []]);
  }
});

test("a text of a key's beginnings, gaps and lines takes linear time", async () => {
  const begin = "-----BEGIN RSA PRIVATE KEY-----";
  const gaps = [
    " ",
    "\t",
    "\n",
    "\\n",
    "\\",
    "# ",
    " * ",
    "// ",
    "\nA: ",
    "A: A: ",
    "\nA-B: \\",
    "/ ",
  ];
  for (const gap of gaps) {
    const long = gap.repeat(300_000 / gap.length);
    const many = `${begin}${gap.repeat(40)}`.repeat(3000);
    for (const text of [
      begin + long,
      `${begin}\nMII${long}`,
      many,
      `${begin}\nA:${long}${begin}`,
    ]) {
      expect([gap, await findSecrets(text)]).toEqual([gap, []]);
    }
  }
}, 20_000);

test.each([
  "API-Schlüssel",
  "API-Schlüssel (Produktion)",
  "Clé API",
  "Clé d'API",
  "Clave de API",
  "Chave de API",
  "API-sleutel",
  "Chiave API",
])("a key alone below its heading is found in other languages: %s", async (heading) => {
  const key = ["zx9kt44plmq2vb7w", "rtyh3kd8pn5s2f6a"].join("");
  const found = await findSecrets(`## ${heading}\n\n${key}\n`);
  expect(found.map(({ text }) => text)).toEqual([key]);
  expect(await findSecrets(`## ${heading}\n\nsee-the-settings-of-your-account\n`)).toEqual([]);
});
