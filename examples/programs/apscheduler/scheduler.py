#!/usr/bin/python3
"""APScheduler 3: schedulers in several processes on one SQLAlchemy job store.

  examples/programs/apscheduler/install
  lockbench verify -s examples/programs/apscheduler/scheduler.py -d postgresql://...

A put is add_job with a date that is now. A claim is one pass of the scheduler over what is due: _process_jobs, which
its main loop calls, with an executor that hands the jobs to lockbench. The scheduler removes a job once it has
submitted it, so there is nothing to complete. Its documentation says that a job store must not be shared.
"""
import datetime
import json
import logging
import sys

import apscheduler
import sqlalchemy
from apscheduler.executors.base import BaseExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.base import BaseScheduler
from apscheduler.schedulers.blocking import BlockingScheduler

HELLO = {
    "hello": 1,
    "strategy": "apscheduler",
    "version": apscheduler.version,
    "shape": "queue",
    "claims": ["no-duplicate", "no-loss"],
    "engines": ["postgres"],
    "operations": ["put", "claim", "complete"],
}


def work(item, payload):
    pass


class Handing(BaseExecutor):
    """Gives what it is told to run to the adapter."""

    def __init__(self, handed):
        super().__init__()
        self.handed = handed

    def _do_submit_job(self, job, run_times):
        self.handed.append(job.args[0])
        self._instances[job.id] = 0


class Worker:
    scheduler = None

    def open(self, request):
        target = request["target"]
        url = sqlalchemy.engine.URL.create(
            "postgresql+psycopg2",
            username=target["user"],
            password=target.get("password"),
            database=target["database"],
            query={"host": target.get("host") or target["socket"], "port": str(target["port"])},
        )
        self.engine = sqlalchemy.create_engine(url, pool_size=1, max_overflow=0)
        self.handed = []
        with self.engine.connect() as connection:
            return {"ok": True, "session": connection.execute(sqlalchemy.text("SELECT pg_backend_pid()")).scalar()}

    def setup(self, request):
        """The job store makes its table; BlockingScheduler.start would begin its loop."""
        if self.scheduler is None:
            self.scheduler = BlockingScheduler(
                jobstores={"default": SQLAlchemyJobStore(engine=self.engine)},
                executors={"default": Handing(self.handed)},
                timezone=datetime.timezone.utc,
                job_defaults={"misfire_grace_time": None},
            )
            self.scheduler.wakeup = lambda: None
            BaseScheduler.start(self.scheduler)
        return {"ok": True}

    def teardown(self, request):
        return {"ok": True}

    def put(self, request):
        self.setup(request)
        self.scheduler.add_job(
            work,
            "date",
            run_date=datetime.datetime.now(datetime.timezone.utc),
            args=[request["item"], request["payload"]],
            id=str(request["item"]),
        )
        return {"ok": True}

    def claim(self, request):
        self.setup(request)
        if not self.handed:
            try:
                self.scheduler._process_jobs()
            except JobLookupError:
                pass  # another scheduler has removed it; what was submitted runs all the same
        items, self.handed[:] = self.handed[: request["n"]], self.handed[request["n"] :]
        return {"ok": True, "items": [{"item": item} for item in items]} if items else {"empty": True}

    def complete(self, request):
        return {"ok": True}


def say(line):
    print(json.dumps(line), flush=True)


logging.disable(logging.CRITICAL)
say(HELLO)
worker = Worker()
for text in sys.stdin:
    request = json.loads(text)
    if request["do"] == "close":
        break
    try:
        answer = getattr(worker, request["do"])(request)
    except sqlalchemy.exc.SQLAlchemyError as error:
        answer = {"error": str(error).strip(), "unknown": True}
    say({"id": request["id"], **answer})
