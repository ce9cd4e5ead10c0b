import { isRandom } from "./assigned-rules.ts";
import { isMixedPassword, isStrongPassword } from "./password.ts";
import type { SecretRule } from "./secret-rule.ts";

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
      /\b(?:user(?:name)?|login|account|cred(?:ential)?s?)\b["'`*_]{0,3}(?:[ \t]?\/[ \t]?(?:pass(?:word)?|pwd?)\b["'`*_]{0,3}[ \t]{0,3}[:=][*_]{0,2}[ \t]{0,3}["'`]?[\w.@+-]{1,80}["'`]?[ \t]{0,3}[/:][ \t]{0,3}|[ \t]{0,3}[:=][ \t]{0,3}["'`]?[\w.@+-]{1,80}["'`]?[ \t]{1,3}\/[ \t]{1,3}|[ \t:=]{1,3}["'`]?[\w.@+-]{1,80}["'`]?[ \t]{0,3}[,;]?[ \t]{1,3}(?:(?:and|with)[ \t]{1,3})?(?:pass(?:word)?|pwd?)[ \t]{1,3})["'`]?([^\s"'`<>(){}[\],;|]{6,128})/gi,
    accepts: ({ secret }) => isPasswordSaid(secret),
  },
  {
    id: "password-of-basic-auth",
    kind: "a password",
    keywords: ["basic"],
    pattern:
      /\bbasic[ -]auth(?:entication)?\b[^\n]{0,20}?[\s"'`][\w.@+-]{1,60}:([^\s"'`<>(){}[\],;|]{6,128})/gi,
    accepts: ({ secret }) => isPasswordSaid(secret),
  },
  {
    id: "password-of-named-user",
    kind: "a password",
    keywords: ["user", "login", "log in", "account", "cred"],
    // What begins a URL, as in `://user:pass@host:8080/path`, is another rule's.
    pattern:
      /(?<!:\/\/)\b(?:user(?:name)?|log ?in|account|cred(?:ential)?s?)\b["'`*_]{0,3}(?:[ \t:=]{1,3}|[ \t]{1,3}(?:as|is|with)[ \t:]{1,3})["'`]?[\w.@+-]{1,60}:([^\s"'`<>(){}[\],;|:]{8,128})(?![:\w])/gi,
    accepts: ({ secret }) => isPasswordSaid(secret) && isHardToTakeForName(secret),
  },
];

const MAIL_ADDRESS = /^[^\s@]+@[\w-]+\.[\w.-]+$/;

function isPasswordSaid(secret: string): boolean {
  return isStrongPassword(secret) && !MAIL_ADDRESS.test(secret);
}

/** Behind a colon alone stand names, too: `user app:node20-alpine`, `login: Form:stepDone2`. */
function isHardToTakeForName(secret: string): boolean {
  const isMixed = isMixedPassword(secret) && /\d.*\d/.test(secret);
  return isMixed || (/\d/.test(secret) && /[!@#$%^&+=?]/.test(secret));
}
