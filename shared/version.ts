import { version } from "../package.json" with { type: "json" };

/** This program's version, as in its package. */
export const VERSION: string = version;
