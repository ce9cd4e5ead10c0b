/** What is wrong where an assistant would not find the program that its settings name. */
export const NOT_ON_PATH = "`memsync` is not on the PATH, by which assistants start it";

/** No package is named here: whoever registers its name elsewhere would be installed. */
export const MEND_PATH = "install it as the README says, or put its folder on the PATH";
