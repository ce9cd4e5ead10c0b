/**
 * The environment of processes that end within seconds, before code pays that is made faster for a
 * second and a third time. Making it takes a fifth to a third of their processor time.
 */
export const SHORT_LIVED = { BUN_JSC_useDFGJIT: "0", BUN_JSC_useFTLJIT: "0" } as const;

/**
 * The environment of processes of some minutes, which do much of everything and little of one
 * thing: there, making code faster for the third time is the loss that remains, a tenth of what
 * tests take and a fifth of what the simulation does.
 */
export const MINUTES_LONG = { BUN_JSC_useFTLJIT: "0" } as const;
