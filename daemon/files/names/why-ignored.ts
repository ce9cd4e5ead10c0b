import { sep } from "node:path";
import type { Ignored, WhyIgnored } from "../../ignored/ignore-file.ts";
import { whyKeptTwin } from "../../ignored/kept-twins.ts";

/** Why a file is ignored: by the name at which it is looked for, or by where a link there leads. */
export function whyFileIgnored(
  ignored: Ignored,
  { name, path }: { readonly name?: string | undefined; readonly path: string },
): WhyIgnored | undefined {
  return [path, name ?? path].map((each) => ignored.why(slashed(each))).find((why) => why);
}

/** The same, or because it is a hard link to a file beside it that stays on this machine. */
export async function whyFileKept(
  ignored: Ignored,
  dir: string,
  file: { readonly name?: string | undefined; readonly path: string },
): Promise<WhyIgnored | undefined> {
  return whyFileIgnored(ignored, file) ?? (await whyKeptTwin(dir, file.path, ignored));
}

/** A path as `.memsyncignore` and git write it. */
export function slashed(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
