import { isRandom } from "./assigned-rules.ts";
import { isStrongPassword } from "./password.ts";
import type { FoundSecret, SecretRule } from "./secret-rule.ts";

/** How a secret is written down in a note: in a sentence, or beside the name of its user. */
export const SENTENCE_RULES: readonly SecretRule[] = [
  {
    id: "key-in-sentence",
    kind: "an API key or a token",
    keywords: ["key", "token", "secret"],
    pattern:
      /\b(?:(?:access|admin|api|auth|bot|deploy|secret|service|signing)[ _-](?:key|token)|token|secret)\b["'`*_]{0,3}[^\n.:=]{0,40}?[ \t](?:is|was)[ \t:]{1,3}["'`*_]{0,3}([\w+/-]{20,512}={0,2})(?![\w+/=([\\-]|[.:]\w)/gi,
    accepts: ({ secret }) => /\d/.test(secret) && isRandom(secret),
  },
  {
    id: "password-of-user",
    kind: "a password",
    keywords: ["user", "login", "account", "cred"],
    pattern:
      /\b(?:user(?:name)?|login|account|cred(?:ential)?s?)\b["'`*_]{0,3}(?:[ \t]{0,3}[:=][ \t]{0,3}["'`]?[\w.@+-]{1,80}["'`]?[ \t]{1,3}\/[ \t]{1,3}|[ \t:=]{1,3}["'`]?[\w.@+-]{1,80}["'`]?[ \t]{0,3}[,;]?[ \t]{1,3}(?:(?:and|with)[ \t]{1,3})?(?:pass(?:word)?|pwd?)[ \t]{1,3})["'`]?([^\s"'`<>(){}[\],;|]{6,128})/gi,
    accepts: isPasswordSaid,
  },
  {
    id: "password-of-basic-auth",
    kind: "a password",
    keywords: ["basic"],
    pattern:
      /\bbasic[ -]auth(?:entication)?\b[^\n]{0,20}?[\s"'`][\w.@+-]{1,60}:([^\s"'`<>(){}[\],;|]{6,128})/gi,
    accepts: isPasswordSaid,
  },
];

const MAIL_ADDRESS = /^[^\s@]+@[\w-]+\.[\w.-]+$/;

function isPasswordSaid({ secret }: FoundSecret): boolean {
  return isStrongPassword(secret) && !MAIL_ADDRESS.test(secret);
}
