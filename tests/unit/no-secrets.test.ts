import { expect, test } from "bun:test";
import { findSecrets } from "../../daemon/held/secret-scan.ts";

/** As documentation has them, to be filled in. */
const TOKENS: readonly string[] = [
  ...["xoxb-your-token-here", "xoxb-token-goes-here", "xoxb-my-slack-token"],
  ...["ghp_YOUR_PERSONAL_ACCESS_TOKEN", "sk_live_YOUR_KEY_HERE", "npm_YOUR_NPM_TOKEN_HERE"],
];

const LINES: readonly string[] = [
  "GOOGLE_API_KEY=AIzaSyYOUR_API_KEY_HERE",
  "JWT_SECRET=at-least-32-characters-long-secret",
  "JWT_SECRET=this-is-a-long-secret-of-32-characters",
  "JWT_SECRET=minimum32characterslongsecretkey",
  "password: at-least-12-characters",
  "private_key: ed25519.Ed25519PrivateKey",
  "def sign(private_key: x25519.X25519PrivateKey, data: bytes)",
  "privateKey: secp256k1.PrivateKey",
  "token: OAuth2PasswordBearer",
  "password: OAuth2PasswordRequestForm",
  "secret: Base64EncodedString",
  "cert_key: X509Certificate2",
  "password_hasher: Argon2PasswordHasher",
];

test("what is to be filled in, how long it is to be, and the name of a type are none", async () => {
  const assigned = TOKENS.flatMap((token) => [token, `SERVICE_TOKEN=${token}`]);
  for (const line of [...assigned, ...LINES]) {
    for (const text of [line, `# One\n\n- \`${line}\`, as ever\n`]) {
      expect([text, await findSecrets(text)]).toEqual([text, []]);
    }
  }
});
