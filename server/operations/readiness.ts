/** Whether a server wants to be sent requests. */
export type State = "starting" | "ready" | "draining";

/** The answer of `/readyz`. Set by whoever starts and ends the server. */
export class Readiness {
  state: State;
  /** Whether what the server stands on can't be used just now, so that it isn't ready. */
  isOut: () => boolean = () => false;

  constructor(state: State) {
    this.state = state;
  }

  /** What a probe is told. */
  get told(): State {
    return this.state === "ready" && this.isOut() ? "starting" : this.state;
  }
}
