#!/usr/bin/env node
// pg-boss: fetch and complete, with its own supervision for jobs that outlive expireInSeconds.
//
//   examples/programs/pg-boss/install
//   lockbench verify -s examples/programs/pg-boss/queue.mjs -d postgresql://...
//
// A job that is active for longer than expireInSeconds is failed and tried again. pg-boss looks for such jobs in
// intervals of whole seconds; here it is told to look before each fetch.
//
// Called as keyed.mjs, an item's unique key is its singletonKey in a queue of policy short, of which one job of a key waits
// at a time, and its priority is the job's. --opt policy=standard and --opt priority=no leave them out.
import { createInterface } from 'node:readline'
import PgBoss from 'pg-boss'

const QUEUE = 'work'
const jobs = new Map()
const isKeyed = process.argv[1].endsWith('/keyed.mjs')
let boss, expireInSeconds, retryLimit, policy, byPriority

const operations = {
  async open({ target, options }) {
    boss = new PgBoss({
      host: target.host || target.socket,
      port: target.port,
      user: target.user,
      password: target.password,
      database: target.database,
      max: 1,
      supervise: false,
      schedule: false,
    })
    boss.on('error', () => {})
    expireInSeconds = options.ttl_ms / 1000
    retryLimit = Number(options.attempts) - 1
    policy = options.policy ?? 'standard'
    byPriority = options.priority !== 'no'
    return {}
  },
  async setup() {
    await boss.start()
    await boss.createQueue(QUEUE, { name: QUEUE, policy, retryLimit, expireInSeconds })
    return {}
  },
  async teardown() {
    return {}
  },
  async put({ item, payload, unique_key, priority }) {
    const keys = isKeyed ? { singletonKey: unique_key, priority } : {}
    const id = await boss.send(QUEUE, { item, payload }, { expireInSeconds, retryLimit, ...keys })
    return id === null ? { refused: true } : {}
  },
  async claim({ n }) {
    await boss.expire()
    const fetched = await boss.fetch(QUEUE, { batchSize: n, priority: byPriority })
    for (const job of fetched) jobs.set(job.data.item, job.id)
    return fetched.length > 0 ? { items: fetched.map((job) => ({ item: job.data.item })) } : { empty: true }
  },
  async complete({ item }) {
    const { affected } = await boss.complete(QUEUE, jobs.get(item))
    return affected === 1 ? {} : { refused: true }
  },
  async retry({ item }) {
    const { affected } = await boss.fail(QUEUE, jobs.get(item))
    return affected === 1 ? {} : { refused: true }
  },
}

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')
const keyed = { attributes: ['unique_key', 'priority'], unique: 'until-claimed', priority: 'highest-first' }
say({
  hello: 1,
  strategy: isKeyed ? 'pg-boss-keyed' : 'pg-boss',
  version: '10.1.5',
  shape: 'queue',
  lease: true,
  lease_unit_ms: 1000,
  claims: ['no-duplicate', 'no-loss', 'owner-release', 'attempts', ...(isKeyed ? ['unique', 'priority'] : [])],
  engines: ['postgres'],
  options: { attempts: '1000', ...(isKeyed && { policy: 'short', priority: 'yes' }) },
  ...(isKeyed && keyed),
  attempts: 'attempts',
  operations: ['put', 'claim', 'complete', 'retry'],
})
let isStarted = false
for await (const text of createInterface({ input: process.stdin })) {
  const request = JSON.parse(text)
  if (request.do === 'close') process.exit(0)
  try {
    if (!isStarted && request.do !== 'open' && request.do !== 'setup') await boss.start()
    isStarted ||= request.do !== 'open'
    const answer = await operations[request.do](request)
    const isNo = answer.empty || answer.refused
    say({ id: request.id, ...(isNo ? {} : { ok: true }), ...answer })
  } catch (error) {
    say({ id: request.id, error: error.message, unknown: true })
  }
}
