/** Whether a server wants to be sent requests. */
export type State = "starting" | "ready" | "draining";

/** The answer of `/readyz`. Set by whoever starts and ends the server. */
export class Readiness {
  state: State;
  /** Whether something that the server needs, such as its database, can't be used at present. */
  isOut: () => boolean = () => false;

  constructor(state: State) {
    this.state = state;
  }

  /** What a probe is told. */
  get told(): State {
    return this.state === "ready" && this.isOut() ? "starting" : this.state;
  }
}
