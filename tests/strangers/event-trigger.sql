-- A queue whose jobs have no state: events tell it, and triggers on insert and delete write some of them. loose=1 does not ask
-- for the events. Truth expected: loose=0 right; loose=1 broken: no-duplicate.
--
-- strategy: event-trigger
-- shape: queue
-- summary: a job waits if it was queued more often than taken; triggers write the other events
-- claims: no-duplicate, no-loss
-- option: loose = 0

-- name: setup [postgres]
CREATE TABLE gate (n int PRIMARY KEY);
INSERT INTO gate VALUES (1);
CREATE TABLE job (id bigint PRIMARY KEY, class text NOT NULL, payload text);
CREATE TABLE job_event (seq bigserial PRIMARY KEY, job_id bigint NOT NULL, kind char(1) NOT NULL);
CREATE FUNCTION log_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'INSERT' THEN
        INSERT INTO job_event (job_id, kind) VALUES (NEW.id, 'q');
    ELSE
        INSERT INTO job_event (job_id, kind) VALUES (OLD.id, 'd');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER log_job AFTER INSERT OR DELETE ON job FOR EACH ROW EXECUTE FUNCTION log_job();

-- name: setup [mariadb]
CREATE TABLE gate (n int PRIMARY KEY);
INSERT INTO gate VALUES (1);
CREATE TABLE job (id bigint PRIMARY KEY, class varchar(40) NOT NULL, payload text);
CREATE TABLE job_event (seq bigint AUTO_INCREMENT PRIMARY KEY, job_id bigint NOT NULL, kind char(1) NOT NULL);
CREATE TRIGGER job_born AFTER INSERT ON job FOR EACH ROW INSERT INTO job_event (job_id, kind) VALUES (NEW.id, 'q');
CREATE TRIGGER job_gone AFTER DELETE ON job FOR EACH ROW BEGIN
    INSERT INTO job_event (job_id, kind) VALUES (OLD.id, 'd');
END;

-- name: setup [sqlite]
CREATE TABLE gate (n int PRIMARY KEY);
INSERT INTO gate VALUES (1);
CREATE TABLE job (id bigint PRIMARY KEY, class text NOT NULL, payload text);
CREATE TABLE job_event (seq INTEGER PRIMARY KEY AUTOINCREMENT, job_id bigint NOT NULL, kind char(1) NOT NULL);
CREATE TRIGGER "job ""born""" AFTER INSERT ON job BEGIN
    INSERT INTO job_event (job_id, kind) VALUES (NEW.id, 'q');
END;
CREATE TRIGGER job_gone AFTER DELETE ON job BEGIN
    INSERT INTO job_event (job_id, kind) VALUES (OLD.id, 'd');
END;

-- name: put
INSERT INTO job (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim [sqlite] tx=one begin=immediate
INSERT INTO job_event (job_id, kind)
SELECT j.id, 't' FROM job j
WHERE j.class = :class
  AND ((SELECT count(*) FROM job_event e WHERE e.job_id = j.id AND e.kind = 'q') >
       (SELECT count(*) FROM job_event e WHERE e.job_id = j.id AND e.kind = 't') OR :loose = 1)
ORDER BY j.id LIMIT 1
RETURNING job_id AS id;

-- name: claim [postgres, mariadb] tx=one
SELECT n FROM gate FOR UPDATE;
INSERT INTO job_event (job_id, kind)
SELECT j.id, 't' FROM job j
WHERE j.class = :class
  AND ((SELECT count(*) FROM job_event e WHERE e.job_id = j.id AND e.kind = 'q') >
       (SELECT count(*) FROM job_event e WHERE e.job_id = j.id AND e.kind = 't') OR :loose = 1)
ORDER BY j.id LIMIT 1
RETURNING job_id AS id;

-- name: complete
DELETE FROM job WHERE id = :id;

-- name: teardown [postgres]
DROP TABLE job_event;
DROP TABLE job;
DROP TABLE gate;
DROP FUNCTION log_job();

-- name: teardown [mariadb, sqlite]
DROP TABLE job_event;
DROP TABLE job;
DROP TABLE gate;
