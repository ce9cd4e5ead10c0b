import { expect, test } from "bun:test";
import { seededRandom } from "../support/random.ts";
import { newAccount } from "../support/service.ts";
import { exchangeProject, WireReplica } from "./wire-replica.ts";

const PROJECT = "proj_protocol";
const SEEDS = [1, 2, 3, 4, 5];
const STEPS = 60;

/** One step of a replica: a write, a deletion, or a call of which anything may get lost. */
async function step(replica: WireReplica, random: () => number, at: number): Promise<void> {
  const key = `key-${Math.floor(random() * 6)}`;
  const what = random();
  if (what < 0.45) return replica.set(key, `value ${at}`);
  if (what < 0.55) return replica.remove(key);
  const request = replica.request();
  if (what < 0.65) return;
  const answer = await exchangeProject(replica.client, PROJECT, request);
  if (what < 0.75) return;
  const answered = what < 0.85 ? await exchangeProject(replica.client, PROJECT, request) : answer;
  replica.take(answered);
}

for (const seed of SEEDS) {
  test(`replicas that follow the protocol are equal at rest, seed ${seed}`, async () => {
    const random = seededRandom(seed);
    const client = newAccount();
    const replicas = [1, 2, 3].map(() => new WireReplica(client, PROJECT));
    await client.post(`/v1/projects/${PROJECT}/sync`, { claude_md_content: "# Start\n" });
    for (let at = 0; at < STEPS; at++) {
      const replica = replicas[Math.floor(random() * replicas.length)];
      if (replica) await step(replica, random, at);
    }
    for (const _round of [1, 2]) for (const replica of replicas) await replica.sync();
    const [first, ...others] = replicas.map((replica) => replica.memories());
    expect(Object.keys(first ?? {}).length).toBeGreaterThan(0);
    for (const other of others) expect(other).toEqual(first ?? {});
    const read = await client.get<{ memories: { key: string; content: string }[] }>(
      `/v1/memories?project_id=${PROJECT}&layer=project`,
    );
    const served = read.body.memories.map(({ key, content }) => [key, content]);
    expect(Object.fromEntries(served)).toEqual(first ?? {});
  });
}
