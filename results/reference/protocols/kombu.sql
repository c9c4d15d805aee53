-- A message is locked, made invisible, and later deleted. That its reader is dead is nowhere found out.
-- After kombu's SQLAlchemy transport. The statements are ours: no code of the library was run, and no version of it
-- is claimed.
-- Expected: broken: what a dead reader made invisible stays so: recovery.
--
-- strategy: kombu
-- shape: queue
-- needs: row_lock
-- claims: no-duplicate, no-loss, bounded-claim, recovery

-- name: setup [postgres, mariadb]
CREATE TABLE kombu_message (
    id bigint PRIMARY KEY,
    queue varchar(64) NOT NULL,
    visible int NOT NULL DEFAULT 1,
    payload text
);
CREATE INDEX kombu_visible ON kombu_message (queue, visible, id);

-- name: put [postgres, mariadb]
INSERT INTO kombu_message (id, queue, payload) VALUES (:id, :class, :payload);

-- name: claim [postgres, mariadb] tx=one
-- on-error: busy
-- require: row
SELECT id FROM kombu_message WHERE queue = :class AND visible = 1 ORDER BY id LIMIT 1 FOR UPDATE;
UPDATE kombu_message SET visible = 0 WHERE id = :id;
SELECT id, payload FROM kombu_message WHERE id = :id;

-- name: complete [postgres, mariadb]
-- on-error: retry
DELETE FROM kombu_message WHERE id = :id AND visible = 0;

-- name: teardown [postgres, mariadb]
DROP TABLE kombu_message;
