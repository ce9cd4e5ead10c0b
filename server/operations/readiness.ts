/** Whether a server wants to be sent requests. */
export type State = "starting" | "ready" | "draining";

/** What `/readyz` says. It is told by whoever starts and ends the server. */
export class Readiness {
  state: State;

  constructor(state: State) {
    this.state = state;
  }
}
