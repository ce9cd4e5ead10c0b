import type { ReasonCode } from "../../shared/reasons.ts";
import type { FollowStatus } from "../files/state/follow-status.ts";
import type { DeletionStatus } from "../home/deleted-project.ts";
import type { JoinedStatus } from "../home/joined-status.ts";
import type { KeptText } from "../home/kept-text.ts";
import type { OddIgnoreLine } from "../ignored/odd-lines.ts";
import type { StatusNote } from "../plain/plain-status.ts";
import type { DamageNote } from "../recovery/set-aside.ts";
import type { OfAnother } from "../remotes/refuse-owners.ts";
import type { Polled } from "../watch/watch-trouble.ts";
import type { AudienceView } from "./audience-view.ts";
import type { HeldStatus } from "./held-status.ts";
import type { MachineStatus } from "./machine-status.ts";
import type { MemoryFoldersStatus } from "./memory-status.ts";
import type { PersonalStatus } from "./personal-status.ts";
import type { ServiceState } from "./service-state.ts";

/** How far a unit is saved on this machine and acknowledged by its service. */
export interface UnitStatus {
  /** Memories that are saved on this machine. */
  readonly memories: number;
  /** Changes that are saved here and that the service has not acknowledged. */
  readonly waiting: number;
  /** The service has answered about it before. */
  readonly contacted: boolean;
  /**
   * Why the service refuses it, in words; null where it does not. `refused_code`: the same as a
   * code.
   */
  readonly refused: string | null;
  readonly refused_code: ReasonCode | null;
  /** Further remarks. */
  readonly notes: readonly StatusNote[];
}

/** The followed file of one linked folder; `note` says why, in words that follow the path. */
export interface FolderStatus {
  readonly dir: string;
  /** The followed file's path from the folder. */
  readonly path: string;
  readonly state: FollowStatus["state"];
  readonly note: string | null;
  /** The code of what `note` says; null where there is nothing to say. */
  readonly why: ReasonCode | null;
  /** Why the folder is polled every few seconds; null: the system tells of changes. */
  readonly polled: Polled | null;
  /**
   * A contradiction between the link and what the repository says of its project, with what to do;
   * and its code.
   */
  readonly repository: string | null;
  readonly repository_code: ReasonCode | null;
  /** Other files there that could be followed, from the folder. `path` is the one that counts. */
  readonly beside: readonly string[];
  /** Further files there that follow the project's text, each as the one that counts. */
  readonly also: readonly Pick<FolderStatus, "path" | "state" | "note" | "why">[];
  /** What happened to the folder since it was linked. */
  readonly place: PlaceStatus | null;
}

export type PlaceStatus =
  /** It was at another path, and its link moved along. Told for a week. */
  | {
      readonly kind: "moved";
      readonly from: string;
      /**
       * Others' changes were written to the file there. They no longer are, because this may be
       * another folder.
       */
      readonly wrote: boolean;
      readonly at: string;
    }
  /** It took the place of a linked folder of the same project. Both are followed. */
  | {
      readonly kind: "replaced";
      /** Where the linked folder is followed now; null where that is not known. */
      readonly moved_to: string | null;
      /** Others' changes were written in that folder; nobody has agreed to it for this one. */
      readonly wrote: boolean;
      readonly at: string;
    };

/** One followed project, under the name in its first link, with its linked folders. */
export interface ProjectStatus extends UnitStatus {
  readonly id: string;
  readonly name: string;
  /** Name of the remote that it is bound to. */
  readonly remote: string;
  /** Null where the document has no text. */
  readonly text: KeptText | null;
  /** When this machine last got anything new of it; null where there is nothing of it yet. */
  readonly changed_at: string | null;
  /** Null for an existing project. */
  readonly deleted: DeletionStatus | null;
  /** Projects to which other machines have linked their folders of it; what is here stays here. */
  readonly joined: readonly JoinedStatus[];
  readonly folders: readonly FolderStatus[];
}

/** A project in the home that no folder is linked to; `folders` is empty. */
export interface UnlinkedProject extends Omit<ProjectStatus, "name"> {
  /** The name in its last link, else the one that its creator gave; null where there is neither. */
  readonly name: string | null;
  /** It was last synced with a service that has only the published interface. */
  readonly plain: boolean;
  /** How many of the changes that wait are sent without a link. */
  readonly sending: number;
}

/** The contact with a service. Its name is its address, or `embedded`. */
export interface ServiceStatus {
  readonly name: string;
  readonly state: ServiceState;
  readonly online: boolean;
  readonly live: boolean;
  /** The service has only the published interface. */
  readonly plain: boolean;
  readonly last_contact_at: string | null;
  /** Since when a call waits for its answer; null where none does. */
  readonly unanswered_since: string | null;
  /** When it is called again; null unless `state` is `busy`. */
  readonly busy_until: string | null;
  /**
   * Why it is not online, or what it refused last, in the service's or the system's words. Null
   * where there is nothing to say.
   */
  readonly message: string | null;
  /** The same as a code. */
  readonly code: ReasonCode | null;
  /** It is not called until a person has done what `message` says. */
  readonly blocked: boolean;
  /** It answers, but refuses every call because of its token, as `message` says. */
  readonly token_refused: boolean;
  /** The requests left in each window, by its name; empty where nothing is limited. */
  readonly requests: Readonly<Record<string, RequestsLeft>>;
  /** Null where no call waits for the budget. */
  readonly throttled: ThrottledStatus | null;
}

/** Calls have waited for the budget since then, and the next one will until then. */
export interface ThrottledStatus {
  readonly since: string;
  readonly until: string;
  /** How many projects wait to be called about; none: only `user` and `global` do. */
  readonly projects: number;
  /** What they wait for, and the same as a code. */
  readonly reason: string;
  readonly code: ReasonCode;
}

/** One remote that is in use. */
export interface RemoteStatus {
  readonly name: string;
  readonly default: boolean;
  readonly service: ServiceStatus;
  /** Its `user` and `global` layers together. */
  readonly own: UnitStatus;
  readonly user: UnitStatus;
  readonly global: UnitStatus;
  /** Who can read `global`; null: nobody else. */
  readonly audience: AudienceView | null;
  /** Why what the embedded service has is not moved to it unasked; null: nothing against it. */
  readonly of_another: OfAnother | null;
  /** When the token in use expires, as its service told; null: never, or it is not known. */
  readonly token_expires_at: string | null;
}

/** A remote that a person has named here, and that nothing is bound to. */
export interface UnusedRemote {
  readonly name: string;
  readonly url: string;
  /** A login has stored one. */
  readonly has_token: boolean;
}

/** Everything that `memsync status` shows; with `--json`, as it is. */
export interface DaemonStatus {
  readonly version: string;
  readonly home: string;
  readonly machine: MachineStatus;
  readonly gateway: { readonly url: string };
  /** The default remote's. */
  readonly service: ServiceStatus;
  /** The default remote, and those that something here is bound to. */
  readonly remotes: readonly RemoteStatus[];
  /** Those that nothing here is bound to. Their services are not called. */
  readonly unused_remotes: readonly UnusedRemote[];
  readonly projects: readonly ProjectStatus[];
  /**
   * Of these only a deletion is synced, and where their folders went, if that was done here. Those
   * whose deletion was sent, and that have nothing since, are left out.
   */
  readonly unlinked: readonly UnlinkedProject[];
  /** The default remote's `user` and `global` layers together. */
  readonly own: UnitStatus;
  /** Databases that were damaged, while their files are still there. */
  readonly damaged: readonly DamageNote[];
  /** What is held on this machine, each with the reason and what to do. */
  readonly held: readonly HeldStatus[];
  /** What assistants remember in files of their own. */
  readonly auto_memory: MemoryFoldersStatus;
  /** What is done with Serena's memories. */
  readonly serena: MemoryFoldersStatus;
  /** What is done with folders of rules. */
  readonly rules: MemoryFoldersStatus;
  /** The user's own text, and the files of assistants that have it. */
  readonly personal: PersonalStatus;
  /** Lines of files of ignored names that may not say what was meant. */
  readonly ignore_lines: readonly OddIgnoreLine[];
}

/** What is left of one of the account's quotas. */
export interface RequestsLeft {
  /** Null where the service does not tell. */
  readonly limit: number | null;
  readonly remaining: number;
  /** When the quota is renewed. */
  readonly resets_at: string;
}
