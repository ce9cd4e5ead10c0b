import { isPlaceholder } from "./placeholder.ts";
import { isTypeName } from "./type-name.ts";

/** Terms with digits from texts about passwords: `sha256`, `varchar255`, `utf8mb4`. */
const TERMS =
  "aes argon ascii base bcrypt bytes? chars? characters digits ecdsa ed es hmac hs " +
  "http int ipv iso latin level max md min n?varchar oauth pbkdf rfc rs rsa scrypt " +
  "sha ssl string text tls u?int utf v win x";
const TERM = new RegExp(
  `^(?:${TERMS.replaceAll(" ", "|")})[-_]?\\d{1,5}[a-z]{0,6}(?:[-_/].*)?$`,
  "i",
);

/** A name of something: `db-credentials-v2`, `users.password2`, `AUTH_SECRET_1`. */
const NAME = /^[a-z]+\d{0,2}(?:[-_.:/\\][a-z]+\d{0,2})+\d{0,2}$/i;

/** A short group of a password, whose letters change their case as in no name: `kT44`, `pLm`. */
const ODD_GROUP = /^(?=.{2,6}$)[A-Za-z\d]*[a-z][A-Z][A-Za-z\d]*$/;

/**
 * Whether short groups are joined as in `Zx9-kT44-pLm`: all together have letters of both cases and
 * several digits, and one of them is none of a name's.
 */
export function isGroupedPassword(value: string): boolean {
  const groups = value.split(/[-_.]/);
  const isShort = groups.every((group) => /^[A-Za-z\d]{2,6}$/.test(group));
  return isShort && isMixedPassword(value) && /\d.*\d/.test(value) && groups.some(isOdd);
}

function isOdd(group: string): boolean {
  return ODD_GROUP.test(group) && !KNOWN_GROUP.test(group);
}

/** Names that are written so: `iOS17`, `macOS`, `mTLS`. */
const KNOWN_GROUP = /^(?:[a-z]{1,3}OS|[a-z]{1,2}[A-Z]{2,3}|[a-z]{2,4}(?:Db|Id|Url|Key))\d*$/;

/**
 * A place or a hash: `./secrets/db.txt`, `~/.pgpass1`, `op://vault/item`, `https://…`,
 * `$argon2id$v=19$…`.
 */
const ELSEWHERE = /^(?:[./~$]|[a-z][\w+.-]{1,20}:\/\/)/i;
/**
 * Passwords of examples, such as `passw0rd` and `Admin123!`, which are guessed first. With a year,
 * as in `Welcome2024!`, it is what a first real password looks like.
 */
const COMMON =
  /^(?:(?:my|new|old|test|admin|user|root|db|super|secure|strong|correct|wrong|hashed)[-_]?)*(?:pass(?:word|wd)?|p[a@4][s$]{2}w[o0]rd|secret|postgres|mysql|admin|root|user|test|guest|demo|qwerty|letmein|welcome|foobar|foo|bar|abc)[-_@#!.]?\d{0,3}[!@#.]?$/i;

/**
 * Whether what follows `password:` may be one: no word, name or placeholder, but letters mixed with
 * digits or signs. Without these a password can't be told from a word.
 */
export function isStrongPassword(value: string): boolean {
  const password = value.replace(/[.,:;!?*_)]+$/, "");
  if (password.length < 6 || /\s/.test(password) || !/[a-z]/i.test(password)) return false;
  if (isPlaceholder(password) || COMMON.test(value) || COMMON.test(password)) return false;
  if (TERM.test(password) || ELSEWHERE.test(password)) return false;
  if (NAME.test(password) && !isGroupedPassword(password)) return false;
  if (isTypeName(password)) return false;
  return /\d/.test(password) || (value.length >= 8 && /[!@#$%^&+=?]/.test(value));
}

/** Small and capital letters and digits: nobody writes that as an example. */
export function isMixedPassword(value: string): boolean {
  return value.length >= 8 && /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value);
}

/** Words of names of settings and files, which are joined in the same way as passphrases. */
const NAMING = new Set(
  (
    "access account accounts admin and any api app application are argon auth bcrypt " +
    "bytes case change changed changes char characters chars class client code config " +
    "confirm confirmation controller create credential credentials data database default " +
    "digits email empty env error expired failed field file files for form forgot from " +
    "github gitlab google handler hash hashed have hint html http https invalid json key " +
    "keys label length letters link local login logged long manager max message min " +
    "minimum module must mysql name new not null old page param pass password passwords " +
    "path per policy postgres prod production reader redis required reset root screen " +
    "secret secrets security sent server service session set settings should site stored " +
    "strength strong test text that the this title token tokens txt type update url use " +
    "used user username users uses valid validation value variable vault weak with yaml " +
    "yml your"
  ).split(" "),
);

/** Words of sentences, and of texts about passwords. Passphrases use other words. */
const PROSE = new Set(
  (
    "about above add added after again all allow allowed also always another are ask asked " +
    "asks back based because been before being below best both but call called can cannot " +
    "changing check checked come comes common contain contains correctly could create created " +
    "did different disabled does doing done down during each either else enabled enter entered " +
    "enters every except exists few find first fixed following found function gets give given " +
    "goes good had handled has here hidden how ignore ignored include included includes input " +
    "inside instead into its itself just keep keeps kept known last least leave less let like " +
    "line list look lost made make makes manual manually many masked may mean means might more " +
    "most much need needed needs never next nobody none nor nothing now number off often once " +
    "one only open optional other others our out over own part people person plain please " +
    "possible prevent previous print printed prompt prompted prompts provide provided put read " +
    "reads real request requests requires return returns rotate rotated run running runs safe " +
    "same save saved says see send sends separate share shared should show shown shows since " +
    "single some someone something still store stores such support supported supports system " +
    "take taken takes tell temporary than their them then there these they thing those through " +
    "time too try twice two typed under unless unset until updated using usually visible want " +
    "was way were what when where whether which while who whole whose why will within without " +
    "word words work works would write writes written wrong yet you"
  ).split(" "),
);

/** What else stands as a single word after `password:`: types, states, and words of examples. */
const ALONE = new Set(
  (
    "absent anonymous anything argon automatic biometric blank boolean bool byte bytes " +
    "changeme char clear cleartext column component credential declined denied digest " +
    "done double dummy dynamic either email encoded encoding encryption entry entropy " +
    "entries example extern external fails failure false find first flag float foobar " +
    "format generator guess helper here hidden incorrect inherit inline input int integer " +
    "internal keychain keyring ldap legacy letmein line local locked long maybe mandatory " +
    "match mismatch missing mock model mutable nil none nothing nullable number numeric " +
    "object offline okay omit omitted open optional oauth passkey pbkdf pending plain " +
    "plaintext present primitive private prompt protected public qwerty random read " +
    "readonly refused regex reject repeat required resource same schema scrypt script " +
    "secure sentinel short skip something somepass sometimes std stdin store str strict " +
    "string strings struct success super symbol tba tbd temp temporary tests there true " +
    "truthy unchanged undefined unique unknown varchar verify void welcome whatever " +
    "widget writable write writeonly yes"
  ).split(" "),
);

/** What is said of a password in other languages whose word for it we know. */
const SAID_ELSEWHERE = new Set(
  (
    "benötigt erforderlich falsch freiwillig geheim geändert gültig keine keines leer notwendig " +
    "optional pflicht pflichtfeld unbekannt ungültig vergessen verschlüsselt ändern zurücksetzen " +
    "cifrada cifrado desconocida incorrecta incorrecto necesaria necesario ninguna obligatoria " +
    "obligatorio olvidada olvidado opcional requerida requerido " +
    "criptografada desconhecida esquecida esquecido nenhuma necessária obrigatória obrigatório " +
    "obrigatoria obrigatorio requisitada " +
    "aucun chiffré facultatif facultative incorrect inconnu modifié nécessaire obligatoire " +
    "optionnel optionnelle oublié oubliée requis requise " +
    "cifrata dimenticata dimenticato facoltativa facoltativo nessuna necessaria obbligatoria " +
    "obbligatorio opzionale richiesta richiesto " +
    "geen noodzakelijk onbekend ongeldig optioneel vereist vergeten verplicht versleuteld"
  ).split(" "),
);

/** The label of a field for passwords, as translations of a program have it. */
const LABELS = new Set(
  (
    "adgangskode contraseña contrasenya contrasinal clave fjalëkalimi geslo hasło heslo jelszó " +
    "kennwort lozinka lykilorð lösenord parola parole parolă parool " +
    "pasahitza pass passe passord passwort password salasana senha slaptažodis " +
    "wachtwoord şifre κωδικός пароль парола лозинка шифра"
  ).split(" "),
);

/** Programs that ask for passwords, keep, check or test them, and are named behind the word. */
const PROGRAMS = new Set(
  (
    "arctic authelia authentik authjs authlib authlogic bitwarden breeze clerk cognito cypress " +
    "devise dovecot fortify guardian iron jetstream kerberos keycloak keepass keepassxc lastpass " +
    "lucia nextauth omniauth okta pam passlib passport passportjs playwright puppeteer sanctum " +
    "selenium shiro sodium libsodium sorcery supabase firebase vaultwarden warden werkzeug zxcvbn"
  ).split(" "),
);

/** `bcryptjs`, `argon2-cffi`, `pbkdf`: a hash, and what computes it. */
const OF_HASHES = /^(?:argon|bcrypt|scrypt|pbkdf)/;

/** Whether a word says something about passwords, or is an example's. */
export function isUsualInTexts(word: string): boolean {
  const lower = word.toLowerCase();
  const lists = [NAMING, PROSE, ALONE, SAID_ELSEWHERE, LABELS, PROGRAMS];
  if (lists.some((each) => each.has(lower)) || OF_HASHES.test(lower) || COMMON.test(word)) {
    return true;
  }
  // Of what has the name in it, the rest decides: `mypassword`, and not `secretgarden`.
  const rest = lower.replace(/passwor[dt]|secret/, "");
  return rest !== lower && (BESIDE_NAME.test(rest) || isUsualInTexts(rest));
}

/** What makes no other word of `password` and `secret`. */
const BESIDE_NAME = /^(?:a|bad|good|jwt|ly|my|no|our|raw|s|simple|the|top|very|weak)?$/;

const PASSPHRASE_WORDS_MIN = 4;
const WORD = /^[a-z]{3,12}$/;

/**
 * Whether what follows `password:` is a passphrase of separate words, as in `correct horse battery
 * staple`: different words in the same letter case, none of them usual in sentences.
 */
export function isSpacedPassphrase(value: string): boolean {
  const words = value.split(" ");
  const isAlike = words.every((word) => /^[a-z]+$/.test(word)) || words.every(isCapitalized);
  const isOfWords = words
    .map((word) => word.toLowerCase())
    .every((word) => {
      return WORD.test(word) && !NAMING.has(word) && !PROSE.has(word);
    });
  const isVaried = new Set(words).size === words.length;
  const isLong = words.length >= PASSPHRASE_WORDS_MIN;
  return isLong && isVaried && isAlike && isOfWords && !isPlaceholder(value);
}

function isCapitalized(word: string): boolean {
  return /^[A-Z][a-z]+$/.test(word);
}

/**
 * Whether what follows `password:` is a joined passphrase, as in `correct-horse-battery-staple`,
 * perhaps with a number at its end; not a name of something.
 */
export function isPassphrase(value: string): boolean {
  if (isPlaceholder(value)) return false;
  const words = value
    .toLowerCase()
    .replace(/[-_.+]?\d{0,4}[.,:;!?)]*$/, "")
    .split(/[-_.+]/);
  const isOfWords = words.every((word) => WORD.test(word) && !NAMING.has(word));
  return words.length >= PASSPHRASE_WORDS_MIN && isOfWords;
}
