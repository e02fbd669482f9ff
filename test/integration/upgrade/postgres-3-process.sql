-- The statement that version 3 uses to add animals. Never change it.
PREPARE old_create_all (text, int) AS SELECT c.id::text AS id FROM "petstore".create_all($1::text::json, $2) AS c (id) ORDER BY c.id;
