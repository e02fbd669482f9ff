import { FUNCTIONS } from './functions.ts'

/**
 * The tables. All times are milliseconds since 1970, as JavaScript has them.
 *
 * Each request rewrites a counter, so `fillfactor` leaves room for new row versions: such an update
 * (HOT) changes no index, and the next updates reuse its space without vacuum.
 */
const TABLES = `
CREATE TABLE pets (
  id bigint PRIMARY KEY CHECK (id >= 1),
  name text NOT NULL,
  category_id bigint NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
);
COMMENT ON TABLE pets IS 'The animals. They become visible in the order of their ids, because clients follow the list by id.';
CREATE SEQUENCE pet_ids AS bigint OWNED BY pets.id;
ALTER TABLE pets ALTER COLUMN id SET DEFAULT nextval('pet_ids');
-- A page with a status filter is as fast as one without.
CREATE INDEX pets_by_status ON pets (status, id);

CREATE TABLE turn (id int PRIMARY KEY CHECK (id = 1));
-- The row is locked, but never changed, so it needs no vacuum.
COMMENT ON TABLE turn IS 'One row. The transaction that holds its lock takes ids and commits before the next one takes ids.';

CREATE TABLE used_keys (
  key_sha256 bytea PRIMARY KEY,
  fingerprint_sha256 bytea NOT NULL,
  pet json NOT NULL,
  used_at bigint NOT NULL
);
COMMENT ON TABLE used_keys IS 'The idempotency keys of the last 48 hours.';
COMMENT ON COLUMN used_keys.key_sha256 IS 'The SHA-256 of the scope and the key.';
COMMENT ON COLUMN used_keys.fingerprint_sha256 IS 'The SHA-256 of what the client has sent.';
COMMENT ON COLUMN used_keys.pet IS 'The animal as it was added. A repeated request gets it, also after the animal has changed.';
-- Expired keys are deleted in the order of their times.
CREATE INDEX used_keys_by_time ON used_keys (used_at);

CREATE TABLE keys (
  id text COLLATE "C" PRIMARY KEY,
  token_sha256 text NOT NULL UNIQUE,
  previous_token_sha256 text UNIQUE,
  previous_token_expires_at bigint,
  plan text NOT NULL,
  account text,
  limit_per_minute bigint,
  limit_per_day bigint,
  label text,
  access text CHECK (access IN ('read', 'write')),
  created_at bigint NOT NULL,
  expires_at bigint,
  suspended_at bigint,
  revoked_at bigint,
  last_used_on text
);
COMMENT ON TABLE keys IS 'API keys. A token is not stored, only its hash. The limits are null if those of the plan apply.';
COMMENT ON COLUMN keys.id IS 'Begins with the time of issue, so the order of the ids is the order of issue.';
COMMENT ON COLUMN keys.previous_token_sha256 IS 'The token before the last rotation, if it stays valid until previous_token_expires_at.';
COMMENT ON COLUMN keys.access IS 'Null stands for write.';
COMMENT ON COLUMN keys.last_used_on IS 'The last UTC day on which a request had this key, such as 2030-01-31.';
CREATE INDEX keys_by_account ON keys (account, id) WHERE account IS NOT NULL;

CREATE TABLE quota (
  subject text COLLATE "C" PRIMARY KEY,
  bucket int,
  used_in_minute bigint NOT NULL DEFAULT 0,
  minute_ends_at bigint NOT NULL DEFAULT 0,
  used_in_day bigint NOT NULL DEFAULT 0,
  day_ends_at bigint NOT NULL DEFAULT 0,
  refused_in_minute bigint NOT NULL DEFAULT 0,
  banned_until bigint NOT NULL DEFAULT 0,
  counted_at bigint NOT NULL DEFAULT 0,
  last_granted int NOT NULL DEFAULT 0,
  last_refused_before_ban int NOT NULL DEFAULT 0,
  ends_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE quota IS 'The counts of each customer and of each client address, after the last requests that were counted together.';
COMMENT ON COLUMN quota.bucket IS 'Null for a customer. Client addresses share 256 buckets, each of a limited number of rows.';
COMMENT ON COLUMN quota.used_in_minute IS 'Requests that were granted in the minute that ends at minute_ends_at.';
COMMENT ON COLUMN quota.used_in_day IS 'Requests that were granted on the day that ends at day_ends_at.';
COMMENT ON COLUMN quota.refused_in_minute IS 'Refused requests in this minute that count towards the next ban.';
COMMENT ON COLUMN quota.banned_until IS 'The end of the ban; 0 for none.';
COMMENT ON COLUMN quota.counted_at IS 'The time of the last requests.';
COMMENT ON COLUMN quota.last_granted IS 'How many of the last requests were granted: the first ones.';
COMMENT ON COLUMN quota.last_refused_before_ban IS 'How many of the last requests were refused before the one that began a ban.';
COMMENT ON COLUMN quota.ends_at IS 'The end of the day in which a ban that begins now would end. The row is deleted two days later.';
-- Old counters are deleted in the order of their ends. The column changes once a day, so most updates do not write the index.
CREATE INDEX quota_by_end ON quota (ends_at);
CREATE INDEX quota_by_bucket ON quota (bucket) WHERE bucket IS NOT NULL;`

/**
 * Puts a text between two tags `$petstore$`. Adds `_` to the tags until the text contains nothing
 * that would end the quote.
 */
export function dollarQuoted(text: string): string {
  let tag = '$petstore$'
  while (`${text}${tag}`.indexOf(tag) < text.length) tag = tag.replace(/\$$/, '_$')
  return tag + text + tag
}

/**
 * Each step leads from one version of the schema to the next. Never change a released step; add
 * another step.
 */
export const STEPS: readonly string[] = [TABLES + FUNCTIONS]
