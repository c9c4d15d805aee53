#!/bin/sh
# Runs Queue.java, which says what it is. `queue.sh --compile` puts its classes into classes/, or into $QUARTZ_CLASSES.
here=$(cd "$(dirname "$0")" && pwd)
jars=/usr/share/java
path=$jars/quartz2.jar:$jars/postgresql.jar:$jars/gson.jar:$jars/slf4j-api.jar:$jars/slf4j-nop.jar
classes=${QUARTZ_CLASSES:-$here/classes}
if [ "$1" = --compile ]; then
    exec javac -nowarn -d "$classes" -cp "$path" "$here/Queue.java"
fi
if [ ! -f "$classes/Queue.class" ]; then
    echo "Quartz is not installed: run $here/install" >&2
    exit 1
fi
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$classes:$path" Queue
