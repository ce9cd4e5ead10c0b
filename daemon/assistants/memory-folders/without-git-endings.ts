import { committedEndings } from "../../git/git-endings.ts";
import type { FolderInGit } from "./folder-in-git.ts";
import type { MemoryRead } from "./read-memory-folder.ts";

/** CRLF that git has made are nobody's edit: such texts are read as git commits them. */
export async function withoutGitEndings(
  files: ReadonlyMap<string, MemoryRead>,
  git: FolderInGit,
): Promise<ReadonlyMap<string, MemoryRead>> {
  const texts = [...files].flatMap(([name, file]) => {
    const isAsked = file.kind === "text" && file.content.includes("\r\n");
    return isAsked && typeof git.of(name) === "object" ? [{ name, file }] : [];
  });
  if (texts.length === 0) return files;
  const changed = await git.endings();
  const read = new Map(files);
  for (const { name, file } of texts) {
    if (!changed.has(name.toLowerCase())) continue;
    const asRead = file.content;
    read.set(name, { ...file, content: committedEndings(asRead), asRead });
  }
  return read;
}
