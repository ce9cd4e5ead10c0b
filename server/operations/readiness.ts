/** Whether a server wants to be sent requests. */
export type State = "starting" | "ready" | "draining";

/** The answer of `/readyz`. Set by whoever starts and ends the server. */
export class Readiness {
  state: State;

  constructor(state: State) {
    this.state = state;
  }
}
