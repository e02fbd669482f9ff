-- The statement that version 2 added to those of version 1. Never change it.
PREPARE old_spend_anonymous (text, float8, float8, float8, float8, float8, int) AS
SELECT s.granted, s.decided_at AS decided,
(s.state).used_in_minute AS minute, (s.state).minute_ends_at AS minuteends,
(s.state).used_in_day AS day, (s.state).day_ends_at AS dayends, (s.state).banned_until AS banned
FROM "petstore".spend_anonymous($7, $1, $2, $3, $4, $5, $6) AS s;
