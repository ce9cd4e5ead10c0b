import { findSecrets, secretHider } from "../../daemon/held/secret-scan.ts";

/** What a message may show of a secret that was typed: too little to be of use. */
const BEGINNING_LENGTH = 12;

/**
 * Hides in a message what looks like a secret, in it or in what was typed. A message may quote what
 * was typed in part, or in other words, in which alone it would not look like one.
 */
export async function typedHider(args: readonly string[]): Promise<(text: string) => string> {
  const hide = await secretHider();
  // A word after `--password` looks like a secret only together with it.
  const texts = [...args, args.join(" ")];
  const typed = (await Promise.all(texts.map((each) => findSecrets(each)))).flat();
  const quoted = typed.map(({ text }) => {
    const whole = quotable(text);
    return new RegExp(`${whole}|${quotable(text.slice(0, BEGINNING_LENGTH))}[^\\s"'\`,;]*`, "g");
  });
  return (text) => quoted.reduce((left, each) => left.replace(each, "[secret]"), hide(text));
}

/** A quote in a word that is printed to be typed is quoted itself. */
function quotable(text: string): string {
  return escaped(text).replaceAll("'", "'(?:\\\\'')?");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
