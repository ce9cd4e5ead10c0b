/**
 * For whom a daemon runs: for the user whose the home's own memories are, or for another one.
 * `unknown`: its token, or its service, is a new one of which no service has told yet.
 */
export type Whose = "home" | "another" | "unknown";
