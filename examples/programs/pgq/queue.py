#!/usr/bin/python3
"""PgQ: events come in batches, from one tick to the next, and each consumer reads all of them in order.

All workers are one consumer here, "worker", as several processes of one service are by mistake: next_batch gives each of
them the same batch until that is finished. With --opt lock=1 the process that has the batch holds an advisory lock,
and the others wait. A claim hands on the next events of the batch; the batch is finished with its last event. free puts
an event into the retry queue. The workers call the ticker and the mover of retries, one at a time, in place of pgqd.

  examples/programs/pgq/install
  lockbench verify -s examples/programs/pgq/queue.py -d postgresql://...
  lockbench verify -s examples/programs/pgq/queue.py -d postgresql://... --opt lock=1
"""
import glob
import json
import re
import sys

import psycopg2

HELLO = {
    "hello": 1,
    "strategy": "pgq",
    "summary": "PgQ, all workers as one consumer",
    "shape": "queue",
    "claims": ["no-duplicate", "no-loss"],
    "engines": ["postgres"],
    "operations": ["put", "claim", "complete", "free"],
    "options": {"lock": "0"},
}
QUEUE, CONSUMER = "work", "worker"
TICK_LOCK, BATCH_LOCK = 1, 2
for path in glob.glob("/usr/share/postgresql/*/extension/pgq.control"):
    HELLO["version"] = re.search(r"default_version *= *'(.*)'", open(path).read())[1]


class Worker:
    def open(self, request):
        target = request["target"]
        self.db = psycopg2.connect(
            dbname=target["database"],
            user=target["user"],
            password=target.get("password") or None,
            host=target.get("host") or target["socket"],
            port=target["port"],
        )
        self.db.autocommit = True
        self.has_lock_option = request["options"].get("lock") == "1"
        self.batch, self.waiting, self.in_hand = None, [], {}
        return {"ok": True, "session": self.ask("SELECT pg_backend_pid()")}

    def ask(self, sql, *values):
        with self.db.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchone()[0]

    def setup(self, request):
        with self.db.cursor() as cursor:
            cursor.execute("CREATE EXTENSION pgq")
        self.ask("SELECT pgq.create_queue(%s)", QUEUE)
        for name, value in (("ticker_max_lag", "0"), ("ticker_max_count", "1")):
            self.ask("SELECT pgq.set_queue_config(%s, %s, %s)", QUEUE, name, value)
        self.ask("SELECT pgq.register_consumer(%s, %s)", QUEUE, CONSUMER)
        return {"ok": True}

    def teardown(self, request):
        return {"ok": True}

    def put(self, request):
        item, payload = str(request["item"]), request["payload"]
        self.ask("SELECT pgq.insert_event(%s, %s, %s, %s, NULL, NULL, NULL)", QUEUE, "job", item, payload)
        return {"ok": True}

    def tick(self):
        self.ask("SELECT pg_advisory_lock(%s)", TICK_LOCK)
        self.ask("SELECT pgq.maint_retry_events()")
        self.ask("SELECT pgq.ticker(%s)", QUEUE)
        self.ask("SELECT pg_advisory_unlock(%s)", TICK_LOCK)

    def next_batch(self):
        """Fills waiting, if there is a batch with events. Batches without any are finished at once."""
        if self.has_lock_option and not self.ask("SELECT pg_try_advisory_lock(%s)", BATCH_LOCK):
            return
        self.tick()
        while not self.waiting:
            self.batch = self.ask("SELECT pgq.next_batch(%s, %s)", QUEUE, CONSUMER)
            if self.batch is None:
                self.unlock()
                return
            with self.db.cursor() as cursor:
                cursor.execute("SELECT ev_id, ev_data FROM pgq.get_batch_events(%s)", (self.batch,))
                self.waiting = [(event, int(data)) for event, data in cursor.fetchall()]
            if not self.waiting:
                self.ask("SELECT pgq.finish_batch(%s)", self.batch)

    def unlock(self):
        if self.has_lock_option:
            self.ask("SELECT pg_advisory_unlock(%s)", BATCH_LOCK)

    def claim(self, request):
        if not self.waiting and not self.in_hand:
            self.next_batch()
        events, self.waiting = self.waiting[: request["n"]], self.waiting[request["n"] :]
        self.in_hand.update((item, event) for event, item in events)
        return {"ok": True, "items": [{"item": item} for _, item in events]} if events else {"empty": True}

    def end(self, item):
        """Finishes the batch with its last event. PgQ does not know of single ones."""
        del self.in_hand[item]
        if self.waiting or self.in_hand:
            return {"ok": True}
        is_mine = self.ask("SELECT pgq.finish_batch(%s)", self.batch)
        self.unlock()
        return {"ok": True} if is_mine else {"refused": True}

    def complete(self, request):
        return self.end(request["item"])

    def free(self, request):
        self.ask("SELECT pgq.event_retry(%s, %s, 0)", self.batch, self.in_hand[request["item"]])
        return self.end(request["item"])


def say(line):
    print(json.dumps(line), flush=True)


say(HELLO)
worker = Worker()
for text in sys.stdin:
    request = json.loads(text)
    if request["do"] == "close":
        break
    try:
        answer = getattr(worker, request["do"])(request)
    except psycopg2.Error as error:
        answer = {"error": str(error).strip(), "unknown": True}
    say({"id": request["id"], **answer})
