/** Anonymous clients are kept in this many buckets. */
export const BUCKETS = 256
/** The largest number of anonymous clients in one bucket: 10,240 in all, so that their counts have bounded room. */
export const BUCKET_SIZE = 40

/** Returns the bucket of an anonymous subject (FNV-1a). */
export function bucketOf(subject: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < subject.length; i++) hash = Math.imul(hash ^ subject.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % BUCKETS
}
