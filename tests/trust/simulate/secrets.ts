import { listHeld } from "../../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT } from "../../../daemon/home/local-account.ts";
import type { ProjectId } from "../../../shared/ids.ts";
import type { Machine } from "./machine.ts";

/** A memory that looks like a secret, and so stays on its machine. */
export interface SecretWrite {
  readonly machine: Machine;
  readonly project: ProjectId;
  readonly key: string;
  readonly value: string;
  acknowledged: boolean;
  excused: boolean;
}

/** What has to be held, and shown to nobody else, for ever. */
export class Secrets {
  readonly #writes: SecretWrite[] = [];
  readonly #report: (problem: string) => void;

  constructor(report: (problem: string) => void) {
    this.#report = report;
  }

  ask(machine: Machine, project: ProjectId, secret: string): SecretWrite {
    const number = this.#writes.length;
    const key = `secret ${number}`;
    const value = `${secret} ${number}`;
    const write = { machine, project, key, value, acknowledged: false, excused: false };
    this.#writes.push(write);
    return write;
  }

  /** What was held by this machine may be gone: its home was put back to an older copy. */
  excuse(machine: Machine): void {
    for (const write of this.#writes) if (write.machine === machine) write.excused = true;
  }

  /** Each is still held, where its project is bound to by now. */
  async checkAtRest(): Promise<void> {
    for (const { machine, project, value, acknowledged, excused } of this.#writes) {
      const { running } = machine;
      if (!running || !acknowledged || excused) continue;
      const account = running.remotes.bindingOf(project) ?? LOCAL_ACCOUNT;
      const held = await listHeld(running.store.reader, { account, document: project });
      if (held.some((item) => item.value === value)) continue;
      this.#report(`${machine.name} holds "${value}" no more`);
    }
  }
}
