#!/bin/sh
# A lease with a fence in a table of SQLite, as a program for lockbench: the smallest one in shell.
#   lockbench verify -s examples/programs/lease.sh -d sqlite:
# Needs the sqlite3 shell. Requests come as compact JSON, so that a shell can cut them.
echo '{"hello":1,"strategy":"lease-sh","shape":"lock","lease":true,
  "claims":["exclusive","owner-release","fenced"],"engines":["sqlite"]}' | tr -d '\n'
echo

now="CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
number() { printf '%s' "$line" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
text() { printf '%s' "$line" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
ask() { sqlite3 -cmd '.timeout 10000' "$db" "$1"; }

while read -r line; do
    id=$(number id)
    resource=$(text resource)
    answer='"ok":true'
    case $(text 'do') in
    open)
        db=$(text path)
        me=$(text worker)
        ttl=$(number ttl_ms)
        ;;
    setup)
        ask 'CREATE TABLE lease (name TEXT PRIMARY KEY, owner TEXT, until INTEGER, token INTEGER)'
        for name in $(printf '%s' "$line" | grep -o '"r[0-9]*"' | tr -d '"'); do
            ask "INSERT INTO lease VALUES ('$name', NULL, 0, 0)"
        done
        ;;
    acquire)
        token=$(ask "UPDATE lease SET owner = '$me', until = $now + $ttl, token = token + 1
                     WHERE name = '$resource' AND until <= $now RETURNING token")
        if [ -n "$token" ]; then answer="\"ok\":true,\"token\":$token"; else answer='"busy":true'; fi
        ;;
    release)
        done=$(ask "UPDATE lease SET owner = NULL, until = 0
                    WHERE name = '$resource' AND token = $(number token) RETURNING 1")
        [ -n "$done" ] || answer='"refused":true'
        ;;
    esac
    echo "{\"id\":$id,$answer}"
done
