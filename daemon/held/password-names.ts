/** What a person calls the password of a wireless network. */
export const WIFI_KEYS =
  "(?:wi-?fi|wlan|wpa\\d?)(?:[\\x20_-]network)?[\\x20_-]key|" +
  "(?:wi-?fi|wlan|wpa\\d?)[\\x20_-]?schl(?:ü|ue)ssel|" +
  "cl(?:é|e)\\x20(?:du\\x20)?(?:wi-?fi|wpa\\d?)|clave\\x20(?:del?\\x20)?wi-?fi";

/** What a person calls a password in a note. Not `pass`: as often, that is a test's result. */
export const PASSWORD_NAMES =
  "passwor[dt]|passwd|passphrase|passcode|pwd?|kennwort|wachtwoord|contrase[ñn]a|senha|" +
  `mot\\x20de\\x20passe|${WIFI_KEYS}`;

/** A text with one of the names has one of these. */
export const PASSWORD_KEYWORDS: readonly string[] = [
  ...["pass", "pw", "kennwort", "wachtwoord", "contrase", "senha", "wifi", "wi-fi", "wlan", "wpa"],
];

/** A password to its end: in quotes, or a word that no more of the same word follows. */
export const PASSWORD_VALUE =
  "(?:\"([^\"\\n]{6,128})\"|'((?:[^'\\n]|''(?=\\w)|(?<=\\\\)'(?=\\w)){6,128})'|" +
  "`([^`\\n]{6,128})`|((?:[^\\s\"'`<>(){}[\\],;|]|(?<=\\w)'(?=\\w)){6,128})" +
  "(?![^\\s<>)}\\],;|\"'`]))";
