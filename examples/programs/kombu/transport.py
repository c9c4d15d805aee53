#!/usr/bin/python3
"""kombu's SQLAlchemy transport, which Celery uses for a broker in a database: put, get, ack.

  examples/programs/kombu/install
  lockbench verify -s examples/programs/kombu/transport.py -d postgresql://...

A message is made invisible when it is taken; ack tells the library alone, and nothing makes it visible again when its
worker dies.
"""
import json
import queue
import sys

import kombu
import sqlalchemy

HELLO = {
    "hello": 1,
    "strategy": "kombu-sqlalchemy",
    "version": kombu.__version__,
    "shape": "queue",
    "claims": ["no-duplicate", "no-loss"],
    "engines": ["postgres"],
    "operations": ["put", "claim", "complete", "free"],
}


class Worker:
    def open(self, request):
        target = request["target"]
        url = sqlalchemy.engine.URL.create(
            "postgresql+psycopg2",
            username=target["user"],
            password=target.get("password"),
            database=target["database"],
            query={"host": target.get("host") or target["socket"], "port": str(target["port"])},
        )
        self.connection = kombu.Connection("sqla+" + url.render_as_string(hide_password=False))
        self.messages = {}
        self.queue = None
        return {"ok": True}

    def setup(self, request):
        """The first use makes the tables and the queue's row."""
        if self.queue is None:
            self.queue = self.connection.SimpleQueue("work")
        return {"ok": True}

    def teardown(self, request):
        return {"ok": True}

    def put(self, request):
        self.setup(request)
        self.queue.put({"item": request["item"], "payload": request["payload"]})
        return {"ok": True}

    def claim(self, request):
        self.setup(request)
        items = []
        while len(items) < request["n"]:
            try:
                message = self.queue.get(block=False)
            except queue.Empty:
                break
            self.messages[message.payload["item"]] = message
            items.append({"item": message.payload["item"]})
        return {"ok": True, "items": items} if items else {"empty": True}

    def complete(self, request):
        self.messages.pop(request["item"]).ack()
        return {"ok": True}

    def free(self, request):
        self.messages.pop(request["item"]).requeue()
        return {"ok": True}


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
    except (sqlalchemy.exc.SQLAlchemyError, kombu.exceptions.OperationalError) as error:
        answer = {"error": str(error).strip(), "unknown": True}
    say({"id": request["id"], **answer})
