-- Locks of single shops below a switch for all of them: the parent's row first, then the shop's own, for as long as the
-- transaction lasts. parent=share lets others take their shops meanwhile; with parent=update one shop keeps all others waiting.
-- Truth expected: share right; update broken: progress.
--
-- strategy: parent-row
-- shape: lock
-- claims: exclusive, progress
-- option: parent = share | update
-- needs: row_lock, nowait

-- name: setup [postgres]
CREATE TABLE shop_lock (path text PRIMARY KEY);
INSERT INTO shop_lock VALUES ('*');

-- name: resource [postgres]
INSERT INTO shop_lock VALUES ('*/' || :resource);

-- name: acquire [postgres] tx=hold when parent=share
-- on-error: busy
-- require: row
SELECT path FROM shop_lock WHERE path = '*' FOR SHARE NOWAIT;
SELECT path FROM shop_lock WHERE path = '*/' || :resource FOR UPDATE NOWAIT;

-- name: acquire [postgres] tx=hold when parent=update
-- on-error: busy
-- require: row
SELECT path FROM shop_lock WHERE path = '*' FOR UPDATE NOWAIT;
SELECT path FROM shop_lock WHERE path = '*/' || :resource FOR UPDATE NOWAIT;

-- name: release [postgres]

-- name: teardown [postgres]
DROP TABLE shop_lock;
