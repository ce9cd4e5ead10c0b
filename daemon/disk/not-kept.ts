/**
 * What a write of ours could not keep of a file: `owner`: its owner or group; `links`: that other
 * names lead to it; `attributes`: an access list or other extended attributes.
 */
export type NotKept = "owner" | "links" | "attributes";

const WORDS: Readonly<Record<NotKept, string>> = {
  owner: "owner",
  links: "hard links",
  attributes: "extended attributes",
};

/** For `status`, in words that follow the path; undefined when everything was kept. */
export function notKeptNote(codes: readonly NotKept[]): string | undefined {
  const words = codes.map((code) => WORDS[code]);
  const last = words.pop();
  if (last === undefined) return undefined;
  const all = words.length === 0 ? last : `${words.join(", ")} and ${last}`;
  return `is followed; the system did not let a write keep its ${all}`;
}
