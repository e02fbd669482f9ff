-- The prepared statements of a process of version 1. Never change them.
PREPARE old_list AS SELECT p.id::text AS id, '.' || p.name AS name, p.category_id::text AS category, p.status FROM "petstore".pets AS p WHERE p.id >= $1::bigint ORDER BY p.id LIMIT $2::bigint;
PREPARE old_create (text, bigint, text) AS WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(1347637588, '"petstore".pets'::regclass::oid::int))
INSERT INTO "petstore".pets AS p (id, name, category_id, status)
SELECT nextval('"petstore".pet_ids'), $1, $2::bigint, $3 FROM turn
RETURNING p.id::text AS id, '.' || p.name AS name, p.category_id::text AS category, p.status;
PREPARE old_issue (text, text, text, text, float8, float8, text, float8) AS INSERT INTO "petstore".keys
(id, token_sha256, plan, account, limit_per_minute, limit_per_day, label, expires_at, created_at)
VALUES ($1, $2, $3, $4, $5::float8, $6::float8, $7, $8::float8, floor(date_part('epoch', clock_timestamp()) * 1000)) RETURNING id, '.' || plan AS plan, '.' || account AS account, '.' || label AS label,
limit_per_minute AS minute, limit_per_day AS day, created_at AS created, expires_at AS expires, revoked_at AS revoked;
PREPARE old_find (text) AS SELECT id FROM "petstore".keys
WHERE token_sha256 = $1 AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > floor(date_part('epoch', clock_timestamp()) * 1000));
PREPARE old_spend (text, float8, float8, float8, float8, float8) AS SELECT s.granted, s.decided_at AS decided,
(s.state).used_in_minute AS minute, (s.state).minute_ends_at AS minuteends,
(s.state).used_in_day AS day, (s.state).day_ends_at AS dayends, (s.state).banned_until AS banned
FROM "petstore".spend($1, $2, $3, $4, $5, $6) AS s;
