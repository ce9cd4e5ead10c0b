/** What may stand around a secret in what a rule finds. The group is the secret. */
const WIDER: readonly RegExp[] = [
  // A person's own text is words, of which none stands beside it.
  /^(.*<!--\s*memsync:personal\b.*)$/s,
  // The user, the host and the port of a URL are none, whatever its password opens. One that has an
  // `@` as it is can't be told from the host behind it.
  /^[a-z][\w+.-]*:\/\/[^\s:/@]*(:[^@]+)@/i,
  /^(?:https?:\/\/)?hooks\.slack\.com\/(?:[^/]+\/)*([^/]+)$/i,
  /^https:\/\/[\w.-]+\.office\.com\/webhookb2\/(.+)$/i,
  // What a key says of itself, as in `Comment: Ann's laptop`, stands between its parts.
  /^-----BEGIN[^:]*[A-Za-z-]:.*()$/s,
  // More words behind a passphrase may say something of it.
  /^([a-z]+(?: [a-z]+){3}) /i,
];

/** Whose it is, in front: `ann:…`, `user=…`, `ann/…`. */
const BEFORE = /^(?:[\w.@-]+(?:[:|]|=(?!=|$))|[a-z]+\/(?=.{6}))/;
/** Other settings behind it, or the host: `…&ssl=true`, `…@db-7.internal`. */
const BEHIND = /[&;][\w.-]+=.*$|@[\w-]+[.:/].*$/s;
/** Of the text around it. */
const END = /[\s"'`]+$/;

/**
 * The secret by itself in what a rule has found, which may be more: whoever writes over the secret
 * has not read what stands beside it. Where nobody can tell where it ends, it is the shorter one,
 * and nothing where nobody can tell where it is.
 *
 * ```
 * secretAlone("redis://ann:Zx9kT44pLm@cache-2.internal"); // ":Zx9kT44pLm"
 * ```
 */
export function secretAlone(found: string): string {
  for (const wider of WIDER) {
    const [, secret] = wider.exec(found) ?? [];
    if (secret !== undefined) return secret;
  }
  return found.replace(BEHIND, "").replace(BEFORE, "").replace(END, "");
}
