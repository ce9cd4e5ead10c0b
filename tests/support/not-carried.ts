const CONFLICTS =
  "a plain service holds one value of a key, so a losing version is known to one machine alone";
const OWN_KEYS = "memories of the user and the account have no keys on a plain service";
const OLDER_COPY = "without positions an older copy looks like edits that others made";
const FIRST_CONTACT =
  "what was deleted while on another service looks, at first contact, as if it had never been here";
const UNPUBLISHED = "what a plain service is asked for there is not in the published interface";
const UPDATES =
  "a plain service is sent items, no updates: tests/unit/plain-strangers.test.ts has some refused";
const NAME = "a plain service does not carry by which name the others have the file";
const JOINED = "a plain service does not carry to which project a machine has linked its folder";
const WRITER = "a plain service does not say which machine wrote a value";

/** Tests of the daemon suite that a plain service cannot pass, each with what is not carried. */
export const NOT_CARRIED: ReadonlyMap<string, string> = new Map([
  ["the losing value of a key is shown on both machines, and restored", CONFLICTS],
  ["a deletion that a write undid is shown on both machines, and settled", CONFLICTS],
  ["both versions of a line are shown on both machines, until one of them is deleted", CONFLICTS],
  ["conflicts outlive restarts, and one that is dismissed goes everywhere", CONFLICTS],
  ["a write without a daemon settles its key's conflict at once", CONFLICTS],
  ["a write made while another machine writes the same key ends equal", CONFLICTS],
  ["a new conflict is told by every command until `conflicts` was shown", CONFLICTS],
  ["nothing of it is seen over the interface", CONFLICTS],
  ["choosing takes away no equal line of another section", CONFLICTS],
  ["an id that two projects share means the one that one stands in", CONFLICTS],
  ["an export comes back byte for byte from an empty home", CONFLICTS],
  ["a project that is deleted is gone everywhere, and its files stay", UNPUBLISHED],
  ["a machine that was offline brings nothing back, and loses nothing", UNPUBLISHED],
  ["a deleted project is begun anew with the file that is there", UNPUBLISHED],
  ["a project that is linked nowhere here is listed, and deleted everywhere", UNPUBLISHED],
  ["a deletion of what is linked nowhere waits for its service, as any", UNPUBLISHED],
  ["a project is deleted at its remote, be nothing else there linked any more", UNPUBLISHED],
  ["`remote rm` is not kept from it by projects that were deleted", UNPUBLISHED],
  ["a remote whose service is gone for good can be removed, and nothing is lost", UNPUBLISHED],
  ["`link` says that a project was deleted, also where that was not known", UNPUBLISHED],
  ["`link --anew` begins a project anew of whose end this machine had not heard", UNPUBLISHED],
  ["stats and sessions are the service's, or the replica's, and say which", UNPUBLISHED],
  ["projects are connected by folder and by id, and never in silence offline", UNPUBLISHED],
  ["each sync is a line of the log: what, how much of it, and whose it is", WRITER],
  ["what is restored on one machine is restored on all", WRITER],
  ["a missing file is written under the name that the others use", NAME],
  ["two machines of one name are told on both, and another name in one home settles it", WRITER],
  ["memories of the user layer reach every project, the project's own do not", OWN_KEYS],
  ["a machine that goes on in a project is told where another has linked it", JOINED],
  ["two machines that joined two projects in opposite directions both know", JOINED],
  ["moving to a service brings everything, and texts meet once", OWN_KEYS],
  ["of a memory that the remote has with another value both are kept, and said", OWN_KEYS],
  ["going back to the embedded service and out again loses nothing", FIRST_CONTACT],
  ["a server put back to an older copy gets everything again", OLDER_COPY],
  ["a server put back and written to until its log is as long again is found out", OLDER_COPY],
  ["one refused write blocks no other, over real connections", UPDATES],
]);
