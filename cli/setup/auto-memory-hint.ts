/** Says how what Claude Code remembers by itself comes to other machines. */
export const TURN_ON_AUTO_MEMORY = "`memsync auto-memory on` brings it to your other machines";
