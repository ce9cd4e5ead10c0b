/** Every size limit of the interface, in UTF-8 bytes unless the name says otherwise. */
export const LIMITS = {
  memoryValueBytes: 32 * 1024,
  memoryKeyBytes: 512,
  claudeMdBytes: 1024 * 1024,
  metadataBytes: 64 * 1024,
  metadataDepth: 32,
  memoriesPerSync: 10_000,
  sessionsPerSync: 10_000,
  bodyBytes: 16 * 1024 * 1024,
  exchangeBodyBytes: 64 * 1024 * 1024,
  projectNameBytes: 200,
  queryBytes: 512,
  /** A document of a larger encoded size accepts only deletions. */
  documentBytes: 11 * 1024 * 1024,
  /** What a document may have beyond that of records which tell of memories' deletions. */
  deletionRecordsBytes: 1024 * 1024,
  connectionsPerProject: 20,
  pageSize: 1000,
  /** The largest part of a backlog in one exchange. */
  exchangePartBytes: 8 * 1024 * 1024,
  /** How many projects one exchange may be about. */
  projectsPerExchange: 50,
  /**
   * Size of the updates in an answer about several projects. The one that exceeds it is the last.
   */
  batchAnswerBytes: 8 * 1024 * 1024,
} as const;

const encoder = new TextEncoder();

/** Length of `text` in UTF-8 bytes. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

/** Whether `text` takes more than `bytesMax` bytes of UTF-8; cheap for clearly short text. */
export function exceedsBytes(text: string, bytesMax: number): boolean {
  if (text.length * 3 <= bytesMax) return false;
  return text.length > bytesMax || utf8Bytes(text) > bytesMax;
}
