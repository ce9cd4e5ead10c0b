import { dirname, join, normalize } from "node:path";
import {
  isCallExpression,
  isExportDeclaration,
  isExternalModuleReference,
  isIdentifier,
  isImportDeclaration,
  isImportSpecifier,
  isImportTypeNode,
  isLiteralTypeNode,
  isModuleDeclaration,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isStringLiteral,
  isTypeOfExpression,
  isTypeReferenceNode,
  type NewExpression,
  type Node,
} from "typescript/unstable/ast";
import manifest from "../../package.json" with { type: "json" };
import { nodesIn, type Source } from "./source-tree.ts";

export interface Import {
  readonly specifier: string;
  /** A module of the project by its path; undefined for a package. */
  readonly path: string | undefined;
  readonly node: Node;
  /** It is put together when the program runs, so that nobody knows what it is. */
  readonly isComputed: boolean;
}

/**
 * All that `source` imports: by statement, by call, in types, by a reference at its head, by what
 * it declares of another module, and as the program of a worker.
 */
export function importsOf(source: Source): Import[] {
  const { tree } = source;
  const referenced = tree.referencedFiles.map(({ fileName }) => ({
    specifier: fileName,
    path: moduleNamed(source.path, /^[./]/.test(fileName) ? fileName : `./${fileName}`),
    node: tree,
    isComputed: false,
  }));
  const named = [...nodesIn(tree)].flatMap((node) => {
    const naming = namingNode(node);
    return naming === undefined ? [] : [importNamed(source, node, naming)];
  });
  return [...referenced, ...named];
}

function importNamed(source: Source, node: Node, naming: Node): Import {
  const isText = isStringLiteral(naming) || isNoSubstitutionTemplateLiteral(naming);
  const specifier = isText ? naming.text : naming.getText(source.tree);
  const path = isText ? moduleNamed(source.path, specifier) : undefined;
  return { specifier, path, node, isComputed: !isText };
}

/** The project's module that a module names; undefined for a package of others. */
function moduleNamed(from: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return normalize(join(dirname(from), specifier));
  return OWN_MODULES.get(specifier);
}

/** What the package itself exports, by the names under which its users import it. */
const OWN_MODULES: ReadonlyMap<string, string> = new Map(
  Object.entries(manifest.exports).flatMap(([name, target]) => {
    if (typeof target === "string") return [];
    const path = /^\.\/dist\/types\/(.+)\.d\.ts$/.exec(target.import.types)?.[1];
    return path === undefined ? [] : [[`${manifest.name}${name.slice(1)}`, `${path}.ts`] as const];
  }),
);

/** The node that names what `node` imports, if it imports anything. */
function namingNode(node: Node): Node | undefined {
  if (isImportDeclaration(node) || isExportDeclaration(node)) return node.moduleSpecifier;
  if (isExternalModuleReference(node)) return node.expression;
  if (isModuleDeclaration(node)) return isOfProject(node.name) ? node.name : undefined;
  if (isImportTypeNode(node)) {
    return isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  }
  if (isNewExpression(node)) return namedByNew(node);
  if (isCallExpression(node)) return loads(node.expression) ? node.arguments[0] : undefined;
  return isLoaderPassedOn(node) ? node : undefined;
}

/** Of all that a module declares, another module of this project: `declare module "./other.ts"`. */
function isOfProject(name: Node): boolean {
  return isStringLiteral(name) && name.text.startsWith(".");
}

/** The last name in what is called: `Worker` of `threads.Worker`. */
function lastName(called: Node): string {
  if (isPropertyAccessExpression(called)) return called.name.text;
  return isIdentifier(called) ? called.text : "";
}

/** A worker's program, by name or by URL; any file beside this one; a function made of a text. */
function namedByNew(made: NewExpression): Node | undefined {
  const [first, base] = made.arguments ?? [];
  const name = lastName(made.expression);
  if (name === "Function") return made;
  if (name === "URL") return base?.getText() === "import.meta.url" ? first : undefined;
  // What is made of a text is no module, and what a URL names is seen where the URL is made.
  if (!/^(Shared)?Worker$/.test(name) || first === undefined || isCallExpression(first)) {
    return undefined;
  }
  return isNewExpression(first) && namedByNew(first) !== undefined ? undefined : first;
}

/** What loads or finds a module when it is called with a name. */
const LOADERS =
  /^(import(\.(defer|source|meta\.re(solve|quire)))?|(\w+\.)?require(\.resolve)?|eval)$/;

function loads(called: Node): boolean {
  if (LOADERS.test(called.getText()) || lastName(called) === "Function") return true;
  const made = isPropertyAccessExpression(called) ? called.expression : called;
  return isCallExpression(made) && lastName(made.expression) === "createRequire";
}

const isCalled = (node: Node) =>
  (isCallExpression(node.parent) || isNewExpression(node.parent)) &&
  node.parent.expression === node;

/** A loader that gets another name: what is called by that, nobody finds. */
function isLoaderPassedOn(node: Node): boolean {
  const { parent } = node;
  if (isPropertyAccessExpression(node)) return LOADERS.test(node.getText()) && !isCalled(node);
  if (!isIdentifier(node) || !/^(require|createRequire|eval|(Shared)?Worker)$/.test(node.text)) {
    return false;
  }
  if (isImportSpecifier(parent)) return parent.propertyName === node;
  if (isTypeReferenceNode(parent) || isTypeOfExpression(parent)) return false;
  const isMember = isPropertyAccessExpression(parent);
  const isName = "name" in parent && parent.name === node;
  // `require.main` calls nothing, and `function require()` is another thing of that name.
  if (isMember !== isName) return false;
  const loader = isMember ? parent : node;
  return node.text === "createRequire" ? !isMadeAndCalled(loader) : !isCalled(loader);
}

/** `createRequire(…)(…)` and `createRequire(…).resolve(…)`. */
function isMadeAndCalled(maker: Node): boolean {
  if (!isCalled(maker)) return false;
  const { parent } = maker.parent;
  return isCalled(maker.parent) || (isPropertyAccessExpression(parent) && isCalled(parent));
}
