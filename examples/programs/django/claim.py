#!/usr/bin/python3
"""Django's ORM: select_for_update(skip_locked=True) in a transaction, as its users write a queue.

  examples/programs/django/install
  lockbench verify -s examples/programs/django/claim.py -d postgresql://...
"""
import json
import sys

import django
from django.conf import settings
from django.db import connection, models, transaction
from django.db.utils import Error
from django.utils import timezone

HELLO = {
    "hello": 1,
    "strategy": "django-skip-locked",
    "version": django.get_version(),
    "shape": "queue",
    "claims": ["no-duplicate", "no-loss", "owner-release"],
    "engines": ["postgres"],
    "operations": ["put", "claim", "complete", "free", "recover"],
}


def define_job():
    class Job(models.Model):
        payload = models.TextField()
        owner = models.TextField(null=True)
        since = models.DateTimeField(null=True)
        done = models.BooleanField(default=False)

        class Meta:
            app_label = "work"

    return Job


class Worker:
    def open(self, request):
        target = request["target"]
        settings.configure(
            USE_TZ=True,
            DATABASES={
                "default": {
                    "ENGINE": "django.db.backends.postgresql",
                    "NAME": target["database"],
                    "USER": target["user"],
                    "PASSWORD": target.get("password") or "",
                    "HOST": target.get("host") or target["socket"],
                    "PORT": str(target["port"]),
                }
            },
        )
        django.setup()
        self.me = request["worker"]
        self.Job = define_job()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return {"ok": True, "session": cursor.fetchone()[0]}

    def setup(self, request):
        with connection.schema_editor() as editor:
            editor.create_model(self.Job)
        return {"ok": True}

    def teardown(self, request):
        return {"ok": True}

    def put(self, request):
        self.Job.objects.create(id=request["item"], payload=request["payload"])
        return {"ok": True}

    def claim(self, request):
        with transaction.atomic():
            free = self.Job.objects.select_for_update(skip_locked=True).filter(owner=None, done=False)
            jobs = list(free.order_by("id")[: request["n"]])
            for job in jobs:
                job.owner, job.since = self.me, timezone.now()
                job.save()
        return {"ok": True, "items": [{"item": job.id} for job in jobs]} if jobs else {"empty": True}

    def end(self, request, **values):
        mine = self.Job.objects.filter(id=request["item"], owner=self.me, done=False)
        return {"ok": True} if mine.update(**values) else {"refused": True}

    def complete(self, request):
        return self.end(request, done=True, owner=None)

    def free(self, request):
        return self.end(request, owner=None)

    def recover(self, request):
        limit = timezone.now() - timezone.timedelta(milliseconds=request["older_than_ms"])
        self.Job.objects.filter(done=False, since__lt=limit).exclude(owner=None).update(owner=None)
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
    except Error as error:
        answer = {"error": str(error).strip(), "unknown": True}
    say({"id": request["id"], **answer})
