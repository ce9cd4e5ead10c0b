import { type Mistake, mistakesIn } from "./mistake.ts";

const joined = mistakesIn("daemon/links/relink.ts", "unit/joined-projects.test.ts");
const settled = mistakesIn("daemon/links/settle-joins.ts", "unit/joined-projects.test.ts");
const told = mistakesIn("daemon/status/joined-projects.ts", "unit/joined-projects.test.ts");
const last = mistakesIn("daemon/home/last-words.ts", "unit/last-words.test.ts");
const half = mistakesIn("daemon/files/state/unfinished.ts", "unit/unfinished-saves.test.ts");
const waits = mistakesIn("daemon/files/saves/overtaken-saves.ts", "unit/waiting-saves.test.ts");
const past = mistakesIn("daemon/git/git-past.ts", "long/cloned-anew.test.ts");
const aside = mistakesIn(
  "daemon/files/tracked/take-git-version.ts",
  "long/discarded-in-git.test.ts",
);
const sight = mistakesIn("daemon/files/tracked/tracked-sight.ts", "long/discarded-in-git.test.ts");
const undone = mistakesIn("daemon/files/lines/undone-changes.ts", "long/discarded-in-git.test.ts");
const holding = mistakesIn(
  "daemon/files/saves/aside-conflicts.ts",
  "long/aside-until-settled.test.ts",
);

const put = mistakesIn("daemon/files/tracked/put-by-git.ts", "long/pulled-unseen.test.ts");
const makers = mistakesIn("daemon/git/commit-makers.ts", "long/pulled-unseen.test.ts");
const stale = mistakesIn("daemon/git/commit-makers.ts", "long/pulled-stale.test.ts");
const committed = mistakesIn("daemon/git/file-steps.ts", "unit/pulled-committed.test.ts");
const between = mistakesIn("daemon/git/file-steps.ts", "long/pulled-between.test.ts");
const disputes = (file: string) => mistakesIn(file, "unit/pulled-disputes.test.ts");

const met = mistakesIn("daemon/files/saves/meet-file.ts", "unit/first-meeting.test.ts");

/** In half-written texts, and in what git has set aside before somebody's eyes. */
export const FOLLOWED: readonly Mistake[] = [
  met(
    "what only a file has that is met for the first time is taken for new",
    "an old copy that is met brings a deleted line back, and every machine says so",
    "!isBegunHere(open) && document.everHadText() && sides.come(hasWord).length > 0;",
    "sides.kept.length > 0 && sides.come(hasWord).length > 0;",
  ),
  met(
    "a conflict about a file that is met has what the document had alone",
    "an old copy that is met is the whole text again for whoever chooses the file's side",
    "withWords(come(() => true))",
    "withWords(come(() => false))",
  ),
  joined(
    "a folder that goes to another project leaves no word",
    "whoever goes on in a project is told where another machine has linked it",
    "if (isThere) recordJoin(",
    "if (!isThere) recordJoin(",
  ),
  settled(
    "one folder that is linked back takes back what its other clones have done",
    "as long as another folder of it is in the other project nothing has gone back",
    "isForAll || (isOwn && !isIn(join.to))",
    "isForAll || isOwn",
  ),
  told(
    "two machines that have joined two projects in opposite directions change places",
    "of two projects that were joined in both directions the later join is told alone",
    "if (isDeclined(join) || (await isCrossed(db, project, join))) continue;",
    "if (isDeclined(join)) continue;",
  ),
  last(
    "what is written into an unlinked project goes along with where its folder went",
    "a join is sent, and what is written after it stays here",
    "return rows.findLast(({ payload }) => saysAny(payload, keys))?.seq;",
    "return rows.at(-1)?.seq;",
  ),
  half(
    "a text that may be half written is taken at once",
    "a program that never stops writing is waited for a minute",
    "if (this.#isHalf(former, file)) return UNFINISHED_MS;",
    "",
  ),
  half(
    "a program that never stops writing is waited for without an end",
    "a program that never stops writing is waited for a minute",
    "const lastMs = first + UNFINISHED_MS_MAX - now;",
    "const lastMs = first + 10 * UNFINISHED_MS_MAX - now;",
  ),
  half(
    "a program that has the file open is not waited for",
    "a text of which a program has written a part is waited for while that has the file open",
    "if (lastMs <= 0 || !(await this.#isOpen())) return this.over();",
    "return this.over();",
  ),
  half(
    "what is left of a longer text while a shorter one is written over it is saved",
    "a shorter text that is written over the former one, a line, is taken without what was left of that",
    "return missingEnd(before, content) > 0 || isUncut(before, content);",
    "return missingEnd(before, content) > 0;",
  ),
  half(
    "what a half-written text lacks is deleted",
    "what is not written yet as the daemon ends, into a file that has lost its name, deletes nothing",
    "if (missing === 0) return former;",
    "return former;",
  ),
  half(
    "what was left of a longer text and cut off at once is a save",
    "what was left of a longer text and was cut off at once is not in the history",
    "if (isBegunOver(before, content, next.content)) return true;",
    "",
  ),
  half(
    "each piece of a text that is being written is a save",
    "pieces that end inside a line are not in the history, whole lines are",
    "return endsInsideLine(content) && !endsInsideLine(shown) && next.content.startsWith(content);",
    "return false;",
  ),
  half(
    "what the next save continues is no save, however long it stood",
    "a text without a last line break that stood for a second is in the history, though the next one only continues it",
    "if (next === undefined || Math.abs(next.savedAt - savedAt) >= BEGINNING_MS) return false;",
    "if (next === undefined) return false;",
  ),
  mistakesIn("daemon/files/followed-file.ts", "unit/unfinished-saves.test.ts")(
    "what was saved over while a text waits is kept in memory",
    "each of many saves that look half written is in the history while the last one still waits",
    "await this.#overtaken.keep(overtaken, { file: read, isMoved, known }, save ?? undefined);",
    "",
  ),
  waits(
    "a text that waits is only in its file",
    "a text that may be half written is in the history at once, and stays there",
    "if (isNew) await keepSave(context, open, { dir, ...waiting, ...WAITING });",
    "",
  ),
  waits(
    "a text that waits seems to be saved over while its file is away",
    "whole lines of a text that waited arrive once its file is gone",
    "const now = last?.hash ?? this.#waiting;",
    "const now = last?.hash;",
  ),
  aside(
    "what git discards is a deletion of others' lines",
    "what others wrote and nobody committed stays after git checkout, and is told",
    "leftBehind.isDiscarded ? await othersIn(db, open, { base, committed }) : undefined;",
    "undefined as OthersChanges | undefined;",
  ),
  aside(
    "what git discards is others'",
    "what was saved here is undone everywhere by git checkout",
    'hasWritten: (at) => !(lines[at]?.spans ?? []).every(isOwn) || says(known[at] ?? ""),',
    "hasWritten: () => true,",
  ),
  aside(
    "what this machine has moved or chosen is its own",
    "what others wrote, and this machine has moved, stays after git checkout, and is told",
    ' || says(known[at] ?? ""),',
    ",",
  ),
  mistakesIn("daemon/files/saves/own-spans.ts", "long/discarded-in-git.test.ts")(
    "what this machine wrote before its log was compacted is others'",
    "what was saved here is undone by git checkout though the log no longer says who saved it",
    "if (claimed.length > 0) return claimed.every(({ home }) => home === open.writer.home);",
    "",
  ),
  mistakesIn("shared/replica/document/author.ts", "unit/machine-names.test.ts")(
    "machines of one name are one",
    "homes say whether two authors are one machine, and names where a home is not known",
    "if (one.home !== undefined && other.home !== undefined) return one.home === other.home;",
    "",
  ),
  mistakesIn("shared/replica/log/machines.ts", "unit/machine-names.test.ts")(
    "a home takes the records of all that have its name and say no more",
    "a name that no home claims stays, for it may be another machine's",
    "home === undefined ? clientsNamed(document, name) : (own?.clients ?? []);",
    "clientsNamed(document, name);",
  ),
  mistakesIn("daemon/sync/copied-home.ts", "unit/machine-status.test.ts")(
    "a copied home keeps the id of the one that it was copied from",
    "of a home and its copy each gets an id of its own once it hears of the other, and both are told",
    "homeId.renew();",
    "",
  ),
  mistakesIn("shared/replica/conflicts/over-conflict.ts", "long/aside-until-settled.test.ts")(
    "a conflict about what git took is over once others delete that",
    "what git put back in the file stays there, and is told, though others delete what it stands for",
    "versions.every(({ isStanding, text }) => isStanding || holdsEachLine(content, text)) &&",
    "",
  ),
  holding(
    "a conflict about what git took is over once the file has that again",
    "what git put back stays in the file beside the lines that it took, if these are typed again",
    "if (put.some((line) => alone.has(line))) continue;",
    "",
  ),
  holding(
    "an equal line elsewhere counts as what git put back",
    "what git put back stays in the file, and is told, though others write an equal line elsewhere",
    "const alone = new Set(lines.filter((_, at) => !stay.has(at)));",
    "const alone = new Set(lines.filter((line) => !inDocument.includes(line)));",
  ),
  mistakesIn("daemon/files/lines/undone-changes.ts", "long/discarded-equal-lines.test.ts")(
    "a line is as committed if the committed text has it anywhere",
    "what others wrote stays after git checkout though another section has an equal committed line",
    "const added = said(before).filter((at) => !wasCommitted.has(at));",
    'const added = said(before).filter((at) => !then.includes(before[at] ?? ""));',
  ),
  mistakesIn("daemon/files/saves/take-edit.ts", "long/aside-until-settled.test.ts")(
    "what is typed below a line that git put back is a rival of what it took",
    "a line that is typed below what git put back comes below it, and settles nothing",
    "besideAside(open, { base: shown, lines: saved, aside })",
    "{ base: shown, lines: saved, added: new Set<number>() }",
  ),
  holding(
    "a conflict whose entry somebody deleted is settled",
    "whoever deletes the entry of a conflict has settled nothing: it is told again, and can be chosen",
    "else if (!isOver(conflict, open.document.content())) {",
    "else if (fate) {",
  ),
  holding(
    "a conflict belongs to the home that it names",
    "a copy of a home settles nothing that git set aside at the home that it is a copy of",
    "for (const conflict of known ?? namedAsHere(open)) {",
    "for (const conflict of namedAsHere(open)) {",
  ),
  sight(
    "a text that an editor saved is git's",
    "whoever deletes one of others' lines in an editor means it",
    "if (!(await hasBlob(git, file, text))) return false;",
    "return true;",
  ),
  sight(
    "a text that git's index does not know is a person's",
    "what others wrote stays after git restore from an older commit, and is told",
    "if (!(await hasBlob(git, file, text))) return false;",
    "return false;",
  ),
  sight(
    "a text that somebody committed is git's",
    "whoever deletes others' lines and commits something means it",
    "if (isSince && (await isAt(last.commit))) return false;",
    "if (isSince) return true;",
  ),
  sight(
    "a part of a file that git discards is a deletion of others' lines",
    "what others deleted stays deleted where git checkout -p puts it back, and is told",
    "return behind >= 0 && behind <= REFRESH_MS && (await this.#isStagedAsCommitted(file, commit));",
    "return behind > REFRESH_MS;",
  ),
  undone(
    "whatever is deleted beside a write of git's index is git's",
    "whoever deletes more than others' lines beside a write of git's index means it",
    "isAnyGone: added.some(isGone), back, isWhole, isMixed };",
    "isAnyGone: added.some(isGone), back, isWhole, isMixed: true };",
  ),
  put(
    "whoever saves after a pull has seen what it brought",
    "a line pulled from a stranger stays, and is told, where an editor saves its text of before within the minute",
    "await noteFromGit(context, open, { ...options, change: { ...change, former } });",
    "",
  ),
  mistakesIn("daemon/files/take-sight.ts", "long/pulled-unseen.test.ts")(
    "a save over what git brought is one of the text before that",
    "a line pulled from a stranger stays where an editor saves over it before it is looked at",
    "isPassed &&= await new Taking(context, passed, { ...options, came }).takePassed();",
    "isPassed = false;",
  ),
  past(
    "a repository cloned anew is the former one",
    "a folder that is cloned into the emptied folder deletes no line of others, with consent to write",
    "if (isAnother) return await pastOfAnother(git, file, { none, read, commit, isTold });",
    "",
  ),
  past(
    "a file that git brings is an edit of what was untracked",
    "a folder that is begun as a new repository and reset, while it is looked at deletes no line of others, with consent to write",
    "const isOwn = here.some((each) => made.has(each));",
    "const isOwn = true;",
  ),
  makers(
    "whoever commits here after a fetch has made what was fetched",
    "a pulled line is in doubt though another file was committed after it",
    'isFetched ? "others" : "anybody"',
    'isFetched ? "person" : "anybody"',
  ),
  stale(
    "others have made what nobody is known to have made",
    "a pulled line stays where a stale save is committed and a program commits it that writes no log",
    'isFetched ? "others" : "anybody"',
    '"others"',
  ),
  between(
    "whoever merges by a command has settled git's marks",
    "a pulled line is in doubt after a merge that somebody gave up",
    "return isByHand && shown?.isReadIn(content) === true;",
    "return shown !== undefined;",
  ),
  disputes("daemon/files/tracked/shown-by-git.ts")(
    "a text of before in the place of git's marks is by somebody who has read them",
    "a save of a text of before in the place of git's marks is in doubt",
    "const isNew = (line: string) => hasWord(line) && !had.has(line);",
    "const isNew = (line: string) => hasWord(line) && had.has(line);",
  ),
  disputes("daemon/files/tracked/shown-by-git.ts")(
    "whoever puts anything new in the place of git's marks has read them",
    "who puts something new in the place of git's marks may have typed it before, committed at once",
    "return isAlike && (met > 1 || (met === 1 && own.size === 1));",
    "return true;",
  ),
  disputes("daemon/files/tracked/shown-by-git.ts")(
    "whoever makes one line of both versions has read neither",
    "who makes one line of what git's marks show has seen it, committed at once",
    "return isAlike && (met > 1 || (met === 1 && own.size === 1));",
    "return false;",
  ),
  disputes("daemon/git/file-steps.ts")(
    "what git has shown, and nobody has read for sure, comes into no document",
    "a save of a text of before in the place of git's marks is in doubt",
    "if (!last || !isByHand || !shown || shown.isReadIn(over)) return;",
    "if (over !== undefined) return;",
  ),
  disputes("daemon/files/tracked/shown-by-git.ts")(
    "what git has shown for long is in doubt like what came just now",
    "a minute after git has shown its marks whoever solves the conflict has seen them",
    'return { text: text.join(""), at: marked.at, isReadIn };',
    'return { text: text.join(""), at: undefined, isReadIn };',
  ),
  disputes("daemon/files/tracked/settled-in-git.ts")(
    "who has read what is between git's marks has read the whole file",
    "of a line beside git's marks nobody can say that it was seen",
    "const isRead = (line: string) => isPart(plainLines(line), read);",
    'const isRead = (line: string) => line !== "";',
  ),
  disputes("daemon/files/tracked/take-git-version.ts")(
    "what a pulled commit moves comes back untold where it was deleted",
    "a section that a deleted, and that a pulled commit moves, is told",
    ": carriedBack(open, file, { known: fileText(known), before, committed });",
    ": [];",
  ),
  committed(
    "a commit that was amended was never there",
    "a pulled line stays where its commit is amended with the text of before",
    "for (const tip of [...makers.replaced, to]) {",
    "for (const tip of [to]) {",
  ),
  mistakesIn("daemon/files/tracked/passed-texts.ts", "long/pulled-stale.test.ts")(
    "what waits to be committed says that git has put nothing there",
    "a pulled line stays where something waits to be committed: stash, pull and stash pop",
    "if (!isLeft(saved.content) && !isLeft",
    "if (!isLeft",
  ),
  mistakesIn("daemon/files/take-sight.ts", "long/pulled-stale.test.ts")(
    "of a text that is held nothing came into the file",
    "a line stays though a secret comes beside it that is held, and a stale save is saved",
    'if (taken.kind === "held") return await this.#takeShared(open, known);',
    'if (taken.kind === "held") return false;',
  ),
  mistakesIn("daemon/files/tracked/put-by-git.ts", "long/pulled-stale.test.ts")(
    "what git has brought was there since the file's time",
    "a pulled line stays where a hook sets the file's time to its commit's",
    "Math.max(file.savedAt, putAt ?? 0)",
    "Math.max(file.savedAt, 0)",
  ),
  mistakesIn("daemon/files/tracked/came-by-git.ts", "long/pulled-stale.test.ts")(
    "whoever reverts a commit has not seen what it brought",
    "what a revert takes away goes untold",
    'madeBy === "others" || madeBy === "revert"',
    'madeBy === "others"',
  ),
  mistakesIn("daemon/files/tracked/passed-texts.ts", "unit/pulled-committed.test.ts")(
    "whoever commits after a pull has seen what it brought",
    "a pulled line stays where an editor's text of before is committed before a look",
    "const passed = isCommitted ? steps.slice(0, -1) : steps;",
    "const passed = isCommitted ? [] : steps;",
  ),
  mistakesIn("daemon/files/tracked/passed-steps.ts", "long/pulled-between.test.ts")(
    "what another history brings was there before",
    "what another history brings stays where the text of before is saved before a look",
    'const isPut = past?.relation === "elsewhere";',
    'const isPut = past?.relation === "anew";',
  ),
  mistakesIn("daemon/files/tracked/passed-texts.ts", "long/pulled-between.test.ts")(
    "what was pulled is in doubt though it stood there for a minute",
    "what a pull brought is in no doubt a minute after it, where a commit followed later",
    "over.some((each) => isSoon(at, each.at))",
    "over.length > 0",
  ),
  mistakesIn("daemon/files/tracked/came-by-git.ts", "unit/pulled-committed.test.ts")(
    "whoever commits a minute after a pull has not seen what it brought",
    "whoever commits without a pulled line a minute after the pull is in no doubt",
    "committedAt - cameAt < UNSEEN_MS",
    "committedAt >= cameAt",
  ),
  mistakesIn("daemon/files/tracked/tracked-sight.ts", "long/pulled-unseen.test.ts")(
    "what a squashed merge brings is a person's",
    "a squashed line of a stranger is in doubt, committed or not",
    "fetched: isOthers(since) ? undefined : await this.#fetched(standing, file, at),",
    "fetched: undefined,",
  ),
  mistakesIn("daemon/files/tracked/tracked-sight.ts", "long/pulled-between.test.ts")(
    "what somebody types is from a branch that was fetched",
    "what somebody deletes and types again is in no doubt though a branch that was fetched deletes it",
    "if (!(await isStaged(git, standing.file, file.content))) return undefined;",
    "",
  ),
  mistakesIn("shared/replica/merge/taken-back.ts", "long/pulled-apart.test.ts")(
    "a line that both had and one has deleted comes back untold",
    "what one machine pulled and deleted is told, where a calls first",
    "return runs.filter(([first, end]) => {",
    "return runs.slice(1).filter(([first, end]) => {",
  ),
  mistakesIn("shared/replica/merge/taken-back.ts", "long/pulled-apart.test.ts")(
    "what the other wrote later is taken for what both had",
    "what its author wrote after the commit is none of it, where a calls first",
    'line?.side === "theirs" && isRead(line)',
    'line?.side === "theirs"',
  ),
  mistakesIn("daemon/files/saves/brought-back.ts", "long/set-aside-others.test.ts")(
    "blank lines go though the lines that they came with stay",
    "a section that others wrote again stays with its blank lines, and they go with it",
    "withBlanks(indicesFrom(at, removed), shown, isReturned)",
    "indicesFrom(at, removed).filter(isReturned)",
  ),
  mistakesIn("shared/replica/merge/taken-back.ts", "long/pulled-apart.test.ts")(
    "what was moved is told as deleted",
    "a pulled line that one has moved is there once, where a calls first",
    "|| !isFewer(said)",
    "",
  ),
  mistakesIn("shared/replica/merge/taken-back.ts", "long/pulled-apart.test.ts")(
    "what one has deleted and the other moved is not told",
    "a pulled line that b has moved and the other has deleted is told, where a calls first",
    "if (moved.length > 0) return moved;",
    "",
  ),
  mistakesIn("shared/replica/merge/taken-back.ts", "unit/pulled-mended.test.ts")(
    "what one has deleted and the other mended is not told",
    "what a deleted and the other mended is told, where a calls first",
    'return put.filter(({ side, text }) => side === "theirs" && isNew(text));',
    "return [];",
  ),
  mistakesIn("shared/replica/merge/taken-back.ts", "unit/pulled-mended.test.ts")(
    "what both have mended is told as deleted, too",
    "what both mended is told once, where a calls first",
    "if (isMendedHere ||",
    "if (",
  ),
  mistakesIn("daemon/sync/read-apart.ts", "unit/pulled-mended.test.ts")(
    "whatever the other wrote is taken for a mended line",
    "what one wrote beside a line that both had before is not told, where a calls first",
    "isGone(struct.origin) || isGone(struct.rightOrigin)",
    "true",
  ),
  mistakesIn("daemon/disk/followable-files.ts", "unit/followed-links.test.ts")(
    "a link to a hidden file is followed",
    "a symbolic link to what is no instruction file is left alone: .envrc.md",
    "if (isHidden || !INSTRUCTIONS.test(path))",
    "if (!INSTRUCTIONS.test(path))",
  ),
  mistakesIn("daemon/files/left-link.ts", "unit/followed-links.test.ts")(
    "where a link led is shared after the link is deleted",
    "a symbolic link that is deleted shares its target no more, and deletes nothing",
    "if (isThere || isFollowedName(path)) return undefined;",
    "if (found.length >= 0) return undefined;",
  ),
  mistakesIn("daemon/files/left-link.ts", "unit/links-back.test.ts")(
    "a link that is back has its target take out what others wrote in its place",
    "a link that a save replaced and that git checkout puts back is followed to its target again",
    "if (known?.path === own.path) {",
    "if (known?.path === own.name) {",
  ),
];
