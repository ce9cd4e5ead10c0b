import { replaceInSources } from "../simulate/loader.ts";
import { MISTAKES } from "./mistakes.ts";

// Before a test file is read: the program gets the mistake that the environment names.

const { MEMSYNC_PLANTED: planted } = process.env;
const mistake = MISTAKES.find(({ name }) => name === planted);
if (!mistake) throw new Error(`there is no mistake "${planted}"`);
replaceInSources(mistake.replacements);
