import { type Mutation, mutation } from "./mutation.ts";

/** In shortened logs, held writes, and what changes its place. */
export const PLACES: readonly Mutation[] = [
  mutation(
    "rows that were partly compacted are served as all of them",
    "whoever lags behind a shortened log gets the whole document",
    "shared/replica/log/log-rows.ts",
    "if (rows.length !== throughSeq - afterSeq) return undefined;",
    "if (rows.length === 0) return undefined;",
  ),
  mutation(
    "compaction drops what no service has acknowledged",
    "rows that no service has acknowledged are not dropped",
    "daemon/home/open-replica.ts",
    "droppable: lowestAcked,",
    "",
  ),
  mutation(
    "what only deletes counts as nothing",
    "a deletion alone goes to the others",
    "shared/replica/store/exchange.ts",
    "return update.length === 2 && update[0] === 0 && update[1] === 0;",
    "return update[0] === 0;",
  ),
  mutation(
    "lines are doubles whatever their indentation",
    "lines that differ by their indentation are no doubles",
    "shared/replica/merge/block-match.ts",
    "const keyOf = (block: Block) => block.key;",
    "const keyOf = (block: Block) => block.key.trim();",
  ),
  {
    // Two places see to it: one where a project is bound anew, one where a service is opened.
    name: "going back to a former service is no first contact",
    found: "what came from a second service is told to the first one when a project comes back",
    replacements: [
      {
        file: "daemon/remotes/remote-book.ts",
        from: "await forgetPositions(db, open.id);",
        to: "",
      },
      {
        file: "daemon/remotes/open-remotes.ts",
        from: "if (!isGuarded) await store.write",
        to: "if (account === undefined) await store.write",
      },
    ],
  },
  mutation(
    "a held write is dropped when its project is bound anew",
    "a held write goes along when its project is bound anew",
    "daemon/remotes/remote-book.ts",
    "await giveHeldTo(db, project, to);",
    "",
  ),
  mutation(
    "a folder whose change failed on a full disk is followed no more",
    2089,
    "daemon/links/linked-folders.ts",
    "try {\n        await this.#applyBindings(changedRemotes);\n      } finally {",
    "{\n        await this.#applyBindings(changedRemotes);",
  ),
  mutation(
    "what waits while no daemon runs goes to the usual service",
    "what waits while no daemon runs goes to where its project is bound",
    "daemon/inbox/drain-inbox.ts",
    "(await findBinding(db, project)) ?? usual",
    "usual",
  ),
  {
    // The engine asks for no such project, and would not be given it.
    name: "a project goes on to its former service, too",
    found: "nothing of a project goes to its former service",
    replacements: [
      {
        file: "daemon/home/open-bound.ts",
        from: "if (bound !== undefined && bound !== account) return undefined;",
        to: "if (bound !== undefined) return await context.open({ owner: bound, name });",
      },
      {
        file: "daemon/remotes/open-remotes.ts",
        from: "this.#bindings.get(id) === account));",
        to: "this.#bindings.has(id)));",
      },
    ],
  },
  mutation(
    "a renamed folder's file is a stranger's",
    "a folder that was renamed while no daemon ran keeps its base",
    "daemon/links/move-link.ts",
    "await moveFollowed(db, from, to);",
    "",
  ),
  mutation(
    "a renamed folder is not looked for",
    "a folder that is renamed is followed where it is",
    "daemon/links/plan-place.ts",
    "const beside = await findMoved(link.dir, known.place);",
    "const beside = undefined;",
  ),
  mutation(
    "a memory that looks like a secret is taken from the inbox",
    "what waits while no daemon runs goes to where its project is bound",
    "daemon/inbox/drain-inbox.ts",
    "const why = await whyMemoryHeld(db, open, { memory, already: current });",
    "const why = undefined;",
  ),
  mutation(
    "a memory that looks like a secret is taken through the gateway",
    "a held write goes along when its project is bound anew",
    "daemon/gateway/withholding.ts",
    'return (await findSecrets(texts.join("\\n\\n"))).length > 0;',
    "return false;",
  ),
];
