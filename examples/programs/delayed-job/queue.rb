#!/usr/bin/ruby
# delayed_job with ActiveRecord: Delayed::Job.reserve, destroy, unlock.
#
#   examples/programs/delayed-job/install
#   lockbench verify -s examples/programs/delayed-job/queue.rb -d postgresql://...
#
# A job whose locked_at is older than max_run_time may be reserved by another worker.
#
# Called as keyed.rb, an item has its priority: the lowest number first. --opt priority=no leaves it out.
require 'json'
require 'logger'
require 'active_record'
require 'delayed_job'
require 'delayed_job_active_record'

Work = Struct.new(:item, :payload) do
  def perform; end

  def reschedule_at(now, _attempts)
    now
  end
end

class Adapter
  Me = Struct.new(:name, :read_ahead)

  def initialize
    @jobs = {}
  end

  def open(request)
    target = request['target']
    ActiveRecord::Base.establish_connection(
      adapter: 'postgresql', host: target['host'] || target['socket'], port: target['port'],
      username: target['user'], password: target['password'], database: target['database']
    )
    Delayed::Worker.logger = Logger.new(IO::NULL)
    Delayed::Worker.max_attempts = request['options']['attempts'].to_i
    @by_priority = request['options']['priority'] == 'yes'
    @worker = Delayed::Worker.new
    @max_run_time = request['options']['ttl_ms'] / 1000.0
    @me = Me.new(request['worker'], 5)
    { ok: true, session: ActiveRecord::Base.connection.select_value('SELECT pg_backend_pid()') }
  end

  # The library's migration, as its generator writes it.
  def setup(_request)
    ActiveRecord::Schema.verbose = false
    ActiveRecord::Schema.define do
      create_table :delayed_jobs do |table|
        table.integer :priority, default: 0, null: false
        table.integer :attempts, default: 0, null: false
        table.text :handler, null: false
        table.text :last_error
        table.datetime :run_at, precision: 6
        table.datetime :locked_at, precision: 6
        table.datetime :failed_at, precision: 6
        table.string :locked_by
        table.string :queue
        table.timestamps null: true
      end
      add_index :delayed_jobs, %i[priority run_at], name: 'delayed_jobs_priority'
    end
    { ok: true }
  end

  def teardown(_request)
    { ok: true }
  end

  def put(request)
    priority = @by_priority ? { priority: request['priority'] } : {}
    Delayed::Job.enqueue(Work.new(request['item'], request['payload']), priority)
    { ok: true }
  end

  def claim(request)
    items = []
    while items.size < request['n'] && (job = Delayed::Job.reserve(@me, @max_run_time))
      item = job.payload_object.item
      @jobs[item] = job
      items << { item: item }
    end
    items.empty? ? { empty: true } : { ok: true, items: items }
  end

  # As Delayed::Worker#run: the job's row is deleted by its id, whoever has it.
  def complete(request)
    @jobs.delete(request['item']).destroy
    { ok: true }
  end

  # As Delayed::Worker#run of a job that fails.
  def retry(request)
    error = StandardError.new('it failed')
    error.set_backtrace(caller)
    @worker.send(:handle_failed_job, @jobs.delete(request['item']), error)
    { ok: true }
  end

  def free(request)
    job = @jobs.delete(request['item'])
    job.unlock
    job.save!
    { ok: true }
  end
end

$stdout.sync = true
is_keyed = $PROGRAM_NAME.end_with?('/keyed.rb')
keyed = is_keyed ? { attributes: ['priority'], priority: 'lowest-first' } : {}
puts({ hello: 1, strategy: is_keyed ? 'delayed-job-keyed' : 'delayed-job', version: '4.1.9', shape: 'queue', lease: true, engines: ['postgres'],
       claims: %w[no-duplicate no-loss owner-release attempts] + (is_keyed ? ['priority'] : []), attempts: 'attempts',
       options: { attempts: '1000' }.merge(is_keyed ? { priority: 'yes' } : {}), **keyed,
       operations: %w[put claim complete free retry] }.to_json)
adapter = Adapter.new
while (line = gets)
  request = JSON.parse(line)
  break if request['do'] == 'close'

  begin
    answer = adapter.public_send(request['do'], request)
  rescue ActiveRecord::ActiveRecordError => e
    answer = { error: e.message, unknown: true }
  end
  puts({ id: request['id'] }.merge(answer).to_json)
end
