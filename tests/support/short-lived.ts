/**
 * The environment of processes that end within seconds, before code pays that is made faster for a
 * second and a third time. Making it takes a fifth to a third of their processor time.
 */
export const SHORT_LIVED = { BUN_JSC_useDFGJIT: "0", BUN_JSC_useFTLJIT: "0" } as const;
