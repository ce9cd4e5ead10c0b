/**
 * The environment of processes that end before code pays that is made faster, for they last some
 * seconds, or have little to do: all of it is interpreted, but for regular expressions. Making it
 * takes a third of their processor time, and giving memory back to the system, which their end
 * does, a twentieth.
 */
export const SHORT_LIVED = {
  BUN_JSC_useBaselineJIT: "0",
  BUN_JSC_useDFGJIT: "0",
  BUN_JSC_useFTLJIT: "0",
  MIMALLOC_PURGE_DELAY: "-1",
} as const;

/**
 * The environment of processes of some minutes, which do much of everything and little of one
 * thing: there, making code faster for the third time is the loss that remains, a tenth of what
 * tests take and a fifth of what the simulation does.
 */
export const MINUTES_LONG = { BUN_JSC_useFTLJIT: "0" } as const;
