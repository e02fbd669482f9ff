-- A database of version 1 with rows, as the release of that version created it. Never change it.
CREATE SCHEMA "petstore";
CREATE TABLE "petstore".versions (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE "petstore".pets (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  category_id bigint NOT NULL,
  status text COLLATE "C" CHECK (status IN ('available', 'pending', 'sold'))
);
CREATE INDEX pets_by_status ON "petstore".pets (status, id);
CREATE SEQUENCE "petstore".pet_ids AS bigint OWNED BY "petstore".pets.id;
CREATE TABLE "petstore".keys (
  number bigint GENERATED ALWAYS AS IDENTITY,
  id text PRIMARY KEY,
  token_sha256 text NOT NULL UNIQUE,
  plan text NOT NULL,
  account text,
  limit_per_minute double precision,
  limit_per_day double precision,
  label text,
  created_at double precision NOT NULL,
  expires_at double precision,
  revoked_at double precision
);
CREATE TABLE "petstore".quota (
  subject text COLLATE "C" PRIMARY KEY,
  used_in_minute double precision NOT NULL,
  minute_ends_at double precision NOT NULL,
  used_in_day double precision NOT NULL,
  day_ends_at double precision NOT NULL,
  refused_in_minute double precision NOT NULL,
  banned_until double precision NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX quota_by_end ON "petstore".quota (greatest(day_ends_at, banned_until));

CREATE FUNCTION "petstore".spend(
  who text, per_minute double precision, per_day double precision,
  after_refusals double precision, ban_length double precision, at double precision,
  OUT granted boolean, OUT decided_at double precision, OUT state "petstore".quota
) LANGUAGE plpgsql AS $spend$
DECLARE
  banned boolean := false;
BEGIN
  LOOP
    SELECT q.* INTO state FROM "petstore".quota AS q WHERE q.subject = who FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO "petstore".quota VALUES (who, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING;
  END LOOP;
  decided_at := coalesce(at, floor(date_part('epoch', clock_timestamp()) * 1000));
  IF decided_at >= state.minute_ends_at THEN
    state.minute_ends_at := (floor(decided_at / 60000) + 1) * 60000;
    state.used_in_minute := 0; state.refused_in_minute := 0;
  ELSE
    state.minute_ends_at := least(state.minute_ends_at, decided_at + 60000);
  END IF;
  IF decided_at >= state.day_ends_at THEN
    state.day_ends_at := (floor(decided_at / 86400000) + 1) * 86400000;
    state.used_in_day := 0; 
  ELSE
    state.day_ends_at := least(state.day_ends_at, decided_at + 86400000);
  END IF;
  IF after_refusals IS NOT NULL THEN
    state.banned_until := CASE WHEN decided_at >= state.banned_until THEN 0
      ELSE least(state.banned_until, decided_at + ban_length) END;
    banned := state.banned_until <> 0;
  END IF;
  granted := NOT banned AND state.used_in_minute < per_minute AND state.used_in_day < per_day;
  IF granted THEN
    state.used_in_minute := state.used_in_minute + 1;
    state.used_in_day := state.used_in_day + 1;
  ELSIF after_refusals IS NOT NULL AND NOT banned THEN
    state.refused_in_minute := state.refused_in_minute + 1;
    IF state.refused_in_minute >= after_refusals THEN
      state.banned_until := decided_at + ban_length;
      state.refused_in_minute := 0;
    END IF;
  END IF;
  UPDATE "petstore".quota AS q SET used_in_minute = state.used_in_minute, minute_ends_at = state.minute_ends_at,
    used_in_day = state.used_in_day, day_ends_at = state.day_ends_at,
    refused_in_minute = state.refused_in_minute, banned_until = state.banned_until
  WHERE q.subject = who;
END
$spend$;
INSERT INTO "petstore".versions (version) VALUES (1);
INSERT INTO "petstore".pets (id, name, category_id, status) VALUES
  (nextval('"petstore".pet_ids'), 'Rex', 9223372036854775807, 'available'),
  (nextval('"petstore".pet_ids'), 'Straße', -1, NULL),
  (nextval('"petstore".pet_ids'), 'Kiwi', 3, 'sold');
INSERT INTO "petstore".quota VALUES ('account:acme', 4, 1700000040000, 7, 1700006400000, 2, 0);
