/** Imported with `type: "text"`: what is in the file. */
declare module "*.css" {
  const text: string;
  export = text;
}

declare module "*.js" {
  const text: string;
  export = text;
}
