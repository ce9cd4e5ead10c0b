import { isWordy } from "./wordy.ts";

/** Terms whose digits are part of them wherever they stand, and not drawn at random. */
const TERMS =
  "oauth2 ed(?:25519|448) x(?:25519|448|509) [ehpr]s(?:256|384|512) aes(?:128|192|256) " +
  "sha(?:1|2|3|224|256|384|512) md5 base(?:16|32|58|62|64) utf(?:8|16|32) pkcs(?:1|5|7|8|12) " +
  "argon2(?:id?|d)? pbkdf2 b?crypt[12] secp256[kr]1 p(?:256|384|521) curve25519 " +
  "blake(?:2[bs]?|3) chacha20 poly1305 tls1[0-3] ipv[46] http[123] " +
  "u?int(?:8|16|32|64|128) float(?:32|64) ec2 s3 k8s i18n web3 v\\d{1,2}";
const TERM = new RegExp(`(?:${TERMS.replaceAll(" ", "|")})(?!\\d)`, "gi");

/** With one word beside one of these, as in `S3Token`, it is as well what somebody thought up. */
const SHORT_TERM = /^(?:ec2|s3|k8s|i18n|web3|v\d{1,2})$/i;
const WORDS_MIN = 3;

/** Modules, or objects, and a name in camel case behind them. */
const PATH = /^(?:[a-z_]{1,40}\.){0,5}[A-Za-z]{2,60}\d?$/;

/** What a type is called by its last word. A password with a term in it ends otherwise. */
const LAST_WORD =
  /(?:array|bearer|certificate|client|config|credentials?|encoder|error|exception|field|form|handler|hash|hasher|header|input|key|manager|metadata|model|options|pair|params|payload|policy|provider|request|response|schema|scheme|secret|selector|service|string|token|type|validator)\d?$/i;

/**
 * Whether a value with digits is the name of a type, or of what has that type:
 * `ed25519.Ed25519PrivateKey`, `OAuth2PasswordBearer`, `secp256k1.PrivateKey`.
 */
export function isTypeName(value: string): boolean {
  const named = value.replace(TERM, (term) => (/^[A-Z]/.test(term) ? "Term" : "term"));
  if (named === value || !PATH.test(named) || !LAST_WORD.test(named)) return false;
  const words = named.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  const isShort = value.match(TERM)?.every((term) => SHORT_TERM.test(term)) === true;
  if (isShort && !named.includes(".") && words.length < WORDS_MIN) return false;
  return isWordy(named.slice(named.lastIndexOf(".") + 1));
}
