#!/usr/bin/env perl
# Small histories whose verdict is known: each was found by a search that shares no code with the
# judge, and made as small as it goes. The judge was wrong or silent on most of them once.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $dir     = "$FindBin::Bin/../histories";
my @queue   = ('--model', 'queue');
my @mutex   = ('--model', 'mutex');
my @owner   = (@mutex, '--claims', 'exclusive,owner-release');
my @recovery = ('--claims', 'recovery', '--recovery-bound', '1s');
my @progress = ('--claims', 'progress', '--progress-bound', '1s');
my @permits = ('--claims', 'permits');
my %verdict = (0 => 'held', 1 => 'violated', 5 => 'not tested');

# file, exit status, what it shows, options
my @cases = (
    ['ghost_semaphore.jsonl', 0, 'a refused release ends its hold for good', '--model', 'semaphore:2'],
    ['ghost_rwlock.jsonl', 0, 'the same with readers', '--model', 'rwlock'],
    ['ghost_rwlock_flag.jsonl', 0, 'the same, and the release says its mode', '--model', 'rwlock'],
    ['ghost_edn.jsonl', 0, 'a failed release ends the hold, by belief', '--model', 'rwlock'],
    ['owner_missed.jsonl', 1, 'who was told "not yours" has nothing to release', @owner],
    ['tie_reacquire.jsonl', 1, 'a worker\'s own order is never a tie', @mutex],
    ['tie_free.jsonl', 1, 'the same without ties', @mutex],
    ['tie_fence.jsonl', 1, 'so tokens must grow within a tick', @mutex, '--claims', 'fenced'],
    ['tie_fence_held.jsonl', 1, 'who keeps the lock was granted it after the one that gave it back within its tick', @mutex,
        '--claims', 'exclusive,fenced'],
    ['tie_fifo.jsonl', 1, 'what two producers and two consumers did in two ticks fits no order', '--model', 'fifo'],
    ['strict_empty.jsonl', 0, '"empty" is no matter of fifo', '--model', 'fifo'],
    ['strict_empty.jsonl', 1, 'but strictly it is: two items, one after the other, were there', @queue, '--strict'],
    ['strict_moment.jsonl', 0, 'there was a moment between them', @queue, '--strict'],
    ['string_process.jsonl', 1, 'a process may have a name', @mutex],
    ['dequeue_letgo.jsonl', 1, 'a dequeue is final', @queue],
    ['recover_twice.jsonl', 1, 'one recovery is one moment', @queue],
    ['recover_complete.jsonl', 1, 'a worker that lost its item to a recovery ends another\'s claim', @queue],
    ['recover_completed.jsonl', 1, 'what was completed while a recovery ran is claimed again', @queue,
        '--claims', 'no-duplicate'],
    ['tie_reset_first.jsonl', 1, 'a reset opens nothing that its worker completed after it, within a tick', @queue],
    ['tie_recover_late.jsonl', 1, 'nor does a recovery give its worker what that had claimed before it', @queue,
        '--claims', 'no-duplicate'],
    ['tie_recover_first.jsonl', 0, 'but what it claimed after it', @queue, '--claims', 'no-duplicate'],
    ['tie_complete_again.jsonl', 1, 'what a worker asks for later excuses nothing, within a tick', @queue],
    ['stranger_false.jsonl', 0, 'who never claimed it may have ended the claim: it need not', @queue,
        '--claims', 'no-duplicate'],
    ['lease_is_over.jsonl', 0, 'a claim whose item line says a lease ends with it', @queue, '--claims', 'no-duplicate'],
    ['lease_is_not_over.jsonl', 1, 'and not before', @queue, '--claims', 'no-duplicate'],
    ['renewal_without_effect.jsonl', 0, 'a renewal that changed nothing is none', @queue, '--claims', 'no-duplicate'],
    ['renewal_with_effect.jsonl', 1, 'and one that did is one', @queue, '--claims', 'no-duplicate'],
    ['renewal_without_length.jsonl', 0, 'a renewal that says no length keeps no recovery off', @queue, '--claims', 'no-duplicate'],
    ['renewal_of_its_length.jsonl', 0, 'a renewal keeps recoveries off for as long as it says', @queue, '--claims', 'no-duplicate'],
    ['key_late_complete.jsonl', 0, 'a complete of unknown outcome may end a later claim of its worker that was lost'],
    ['key_own_complete.jsonl', 1, 'but not beside its own claim, which it ends'],
    ['loss_unknown_claim.jsonl', 5, 'a claim of unknown outcome may have taken the item that no claim brought'],
    ['loss_beyond_the_unknown.jsonl', 1, 'but not three items, if it asked for two'],
    ['loss_of_other_class.jsonl', 1, 'nor one of another class'],
    ['loss_unnamed_returned.jsonl', 5, 'a claim that returned more than it named had the others, whatever came back of the dead',
        '--claims', 'no-loss'],
    ['loss_marked_only.jsonl', 1, 'but what it marked and did not return is lost', '--claims', 'no-loss'],
    ['loss_unknown_free.jsonl', 5, 'an item may have been given back before the end, and then nobody claimed it'],
    ['recovery_unknown_free.jsonl', 5, 'so that it is recovered from a dead worker, or lost'],
    ['unique_put_again.jsonl', 5, 'a name that is put again is of two items'],
    ['attempts_put_again.jsonl', 5, 'and their claims count apart'],
    ['recovery_put_again.jsonl', 5, 'a dead worker had one of them'],
    ['waits_put_again.jsonl', 5, 'and one of them waits'],
    ['rate_unnamed.jsonl', 1, 'a claim begins as many items as it returns'],
    ['progress_then_unknown.jsonl', 1, 'a worker was refused for 50 s before the answer that it did not receive'],
    ['progress_of_item_then_unknown.jsonl', 1, 'so was one that claims items'],
    ['beats_in_time.jsonl', 1, 'what a process that beats has is not taken, however old', @queue, '--claims', 'no-duplicate'],
    ['beats_late.jsonl', 0, 'of one that was silent for so long it is', @queue, '--claims', 'no-duplicate'],
    ['beats_before_claim.jsonl', 0, 'a claim is no sign of life', @queue, '--claims', 'no-duplicate'],
    ['beats_of_nobody.jsonl', 1, 'without beats its age counts from the claim', @queue, '--claims', 'no-duplicate'],
    ['beats_and_renewal.jsonl', 1, 'a brief renewal does not shorten what a beat says', @queue, '--claims', 'no-duplicate'],
    ['beats_and_renewal_late.jsonl', 0, 'nor does it last longer than that', @queue, '--claims', 'no-duplicate'],
    ['beats_beside_renewal.jsonl', 1, 'nor does a beat shorten what a later renewal says', @queue, '--claims', 'no-duplicate'],
    ['ended_session_renewed.jsonl', 1, 'who lost its session and renews has the item beside another', @queue,
        '--claims', 'no-duplicate'],
    ['ended_session_renewed_free.jsonl', 0, 'or after it', @queue, '--claims', 'no-duplicate'],
    ['stranger_and_renewal.jsonl', 1, 'the same after a stranger freed it', @queue, '--claims', 'no-duplicate'],
    ['stranger_completes_renewed.jsonl', 1, 'nor did a stranger complete what its worker renewed after that', @queue,
        '--claims', 'no-duplicate'],
    ['stranger_completes_late.jsonl', 0, 'but perhaps after the renewal', @queue, '--claims', 'no-duplicate'],
    ['stranger_frees_completed.jsonl', 1, 'a free brings back nothing that was completed', @queue, '--claims', 'no-duplicate'],
    ['ended_session_in_flight.jsonl', 0, 'a grant may be over before its answer comes', @mutex],
    ['ended_session_in_flight_item.jsonl', 0, 'the same of an item', @queue, '--claims', 'no-duplicate'],
    ['recovery_unasked.jsonl', 0, 'nobody waits for what nobody asks for', @mutex, @recovery],
    ['recovery_asked.jsonl', 1, 'but who asked once does', @mutex, @recovery],
    ['recovery_unasked_item.jsonl', 0, 'the same of an item', @queue, @recovery],
    ['recovery_asked_item.jsonl', 1, 'an answer "empty" is a try', @queue, @recovery],
    ['recovery_then_unknown.jsonl', 5, 'a try of unknown outcome may have had the lock of the dead', @mutex, @recovery],
    ['recovery_after_unknown.jsonl', 1, 'but not for longer than the bound', @mutex, @recovery],
    ['recovery_waited.jsonl', 1, 'nor if it waited for longer than that', @mutex, @recovery],
    ['recovery_then_unknown_item.jsonl', 5, 'the same of an item', @queue, @recovery],
    ['recovery_after_unknown_item.jsonl', 1, 'so it is late all the same', @queue, @recovery],
    ['unknown_elsewhere.jsonl', 1, 'what it may have of another resource is not what it gives back', @mutex,
        '--claims', 'exclusive'],
    ['answered_first.jsonl', 0, 'the claim that was answered first need not have been the first', '--model', 'fifo', '--claims', 'fifo'],
    ['fifo_given_back.jsonl', 0, 'a claim that was never answered may have had the item', '--model', 'fifo', '--claims', 'fifo'],
    ['fifo_given_back_late.jsonl', 1, 'not one that was asked for later', '--model', 'fifo', '--claims', 'fifo'],
    ['fifo_given_back_two.jsonl', 1, 'and no more items than it asked for', '--model', 'fifo', '--claims', 'fifo'],
    ['fifo_dequeue_lost.jsonl', 1, 'a dequeue gives nothing back', '--model', 'fifo', '--claims', 'fifo'],
    ['cleared_before.jsonl', 0, 'a clear may have found nothing, though it could have opened the item later', @queue,
        '--claims', 'no-duplicate'],
    ['resets_in_flight.jsonl', 0, 'resets while a worker completes what it has take nothing from it', @queue,
        '--claims', 'no-duplicate'],
    ['brief_beside_tie.jsonl', 1, 'a grant whose session perhaps ended at once came before the release of its tick', '--model', 'semaphore:2'],
    ['permits_told_twice.jsonl', 1, 'permits may stand on the answer, too', '--model', 'semaphore:2'],
    ['escaped_item.jsonl', 1, 'a text is the same with and without escapes', @queue, '--claims', 'no-duplicate'],
    ['jepsen_tagged.edn', 1, 'tagged records, a list, what is discarded', @queue],
    ['lease_gap.jsonl', 1, 'whenever the renewal took effect, both had it', '--model', 'lease'],
    ['lease_gap_let_go.jsonl', 0, 'the renewal may have come after the other let go', '--model', 'lease'],
    ['freed_twice.jsonl', 0, 'who has given an item back may free it again for another: it need not', @queue,
        '--claims', 'no-duplicate'],
    ['freed_twice.jsonl', 1, 'which its worker may not', @queue, '--claims', 'owner-release'],
    ['freed_twice_once.jsonl', 1, 'and it gives back no execution of another', @queue, '--claims', 'once'],
    ['freed_and_completed.jsonl', 0, 'who completes what it has given back may have changed nothing', @queue,
        '--claims', 'no-duplicate'],
    ['freed_and_completed.jsonl', 1, 'but it says that it has changed something', @queue, '--claims', 'owner-release'],
    ['failed_and_completed.jsonl', 1, 'the same of an item in error', @queue, '--claims', 'owner-release'],
    ['ended_session.jsonl', 1, 'a session was there for all that it answered', @owner],
    ['ended_session_before.jsonl', 0, 'and may have ended after that, whenever it was noted', @owner],
    ['ended_session_of_item.jsonl', 1, 'the same of an item', @queue, '--claims', 'no-duplicate'],
    ['stopped_later.jsonl', 1, 'a worker that was asked to stop has its item until it dies', @queue, '--claims', 'no-duplicate'],
    ['stopped_before.jsonl', 0, '... and not after that', @queue, '--claims', 'no-duplicate'],
    ['untold_renewal.jsonl', 1, 'a renewal without a length shows that its worker has it then', '--model', 'lease', '--claims', 'exclusive'],
    ['untold_renewal_in_time.jsonl', 0, 'but not for how long', '--model', 'lease', '--claims', 'exclusive'],
    ['untold_renewal_item.jsonl', 1, 'the same of an item', @queue, '--claims', 'no-duplicate'],
    ['permits_free_older.jsonl', 0, 'a release ends the grant whose permits it names', @permits],
    ['permits_free_drift.jsonl', 1, 'and no other one', @permits],
    ['permits_free_token.jsonl', 0, 'or whose token', @permits],
    ['permits_free_renewed.jsonl', 0, 'a renewal prolongs the one whose token it names', @permits],
    ['claim_without_arg.jsonl', 0, 'an answer that does not count rows marked as many as it returned', @queue,
        '--claims', 'bounded-claim'],
    ['stranger_again.jsonl', 1, 'an unknown outcome gives a stranger no item', @queue, '--claims', 'owner-release'],
    ['two_guarantees.jsonl', 1, 'each order has an item claimed twice, or ended by a stranger', @queue],
    ['two_guarantees.jsonl', 0, 'but one order has none claimed twice', @queue, '--claims', 'no-duplicate'],
    ['two_guarantees.jsonl', 0, 'and one has no end by a stranger', @queue, '--claims', 'owner-release'],
    ['tie_free_lost.jsonl', 1, 'a claim was not lost by an outcome that came before it, within a tick', @queue],
    ['tie_free_late.jsonl', 1, 'nor does a free of unknown outcome come before its claim', @queue],
    ['clear_unanswered.jsonl', 1, 'a clear that was never answered finds no item in error', @queue],
    ['noted_after_answer.jsonl', 1, 'a session was there for what it answered before another noted its end', @mutex],
    ['cut_by_count.jsonl', 5, 'a history with fewer events than its meta line says was cut', @mutex],
    ['committed_and_died.jsonl', 1, 'a grant that was committed outlasts its session, also if its worker died', @mutex],
    ['renewal_first_length.jsonl', 0, 'a renewal may be the first to say how long a lease is', '--model', 'lease'],
    ['release_without_session.jsonl', 1, 'who lost its session, as another saw, has nothing to release', @owner],
    ['release_own_note.jsonl', 0, 'a worker may note the end of its session before it comes', @owner],
    ['lease_over_at_grant.jsonl', 1, 'a lease that was over before its grant was answered came first', '--model', 'lease',
        '--claims', 'exclusive,fenced'],
    ['token_of_no_grant.jsonl', 1, 'a release by a token that no grant has ends the newest', @mutex, '--claims', 'exclusive,fenced'],
    ['answered_in_trip.jsonl', 1, 'a session was there when its answer was asked for, and may have ended after that', @queue,
        '--claims', 'no-duplicate,owner-release'],
    ['refused_past_token.jsonl', 0, 'a release that names the token of an older grant is of that one', @owner],
    ['refused_past_token_held.jsonl', 1, 'so its refusal ends no later grant', @owner],
    ['renewed_past_token.jsonl', 1, 'nor does the refusal of a renewal', '--model', 'lease', '--claims', 'exclusive,owner-release'],
    ['released_past_token.jsonl', 1, 'and a second release of the older one is nobody\'s', @owner],
    ['token_of_none.jsonl', 5, 'a token that no grant has may be of any', '--model', 'semaphore:3', '--claims', 'exclusive'],
    ['renewal_length_no_permits.jsonl', 5, 'the length that a renewal asks for is no number of permits'],
    ['unknown_given_back.jsonl', 1, 'one grant of unknown outcome is given back once', @owner],
    ['reentrant_failed.jsonl', 0, 'an inner release that failed may be tried again', '--model', 'reentrant', '--claims', 'exclusive,owner-release'],
    ['reentrant_lease.jsonl', 1, 'a lease counts from the inner grant, too'],
    ['reentrant_lost.jsonl', 5, 'an inner grant may be the first of another session', '--model', 'reentrant', '--claims', 'exclusive'],
    ['reentrant_mode.jsonl', 5, 'an inner grant may be of another mode', '--model', 'reentrant', '--claims', 'exclusive'],
    ['reentrant_token.jsonl', 5, 'or have another token', '--model', 'reentrant', '--claims', 'fenced'],
    ['recovery_passed_on.jsonl', 5, 'a worker whose lease was over, and passed on, did not die in it', '--model', 'lease', @recovery],
    ['recovery_noted_late.jsonl', 5, 'nor did one whose death was noted later', @mutex, @recovery],
    ['end_of_first_log.jsonl', 1, 'a worker waits until the end of all logs', @mutex, @progress],
    ['end_of_last_log.jsonl', 1, 'in any order of the logs', @mutex, @progress],
    ['fifo_silent.jsonl', 0, 'who is silent for the shortest lease may have lost its place', '--model', 'lease', '--claims', 'fifo,exclusive'],
    ['fifo_silent_granted.jsonl', 0, 'also if its first try is granted', '--model', 'lease', '--claims', 'fifo'],
    ['fifo_quiet_granted.jsonl', 1, 'not who is silent for less', '--model', 'lease', '--claims', 'fifo'],
    ['progress_given_up.jsonl', 1, 'who tries another lock has waited for the first until then', @mutex, @progress],
    ['fifo_other_class_unknown.jsonl', 1, 'a claim of unknown outcome of another class excuses no overtaking'],
    ['fifo_same_class_unknown.jsonl', 0, 'one of the same class does'],
    ['priority_tick.jsonl', 1, 'puts of one tick, claimed in two: the less urgent came first'],
    ['recovery_attempts_first.jsonl', 1, 'one of three tries of the item, and it never comes back'],
    ['attempts_clear_all.jsonl', 0, 'errors that were cleared give an item its tries again'],
    ['attempts_clear_all_three.jsonl', 1, 'and no more of them'],
    ['attempts_reset_all.jsonl', 0, 'as does a reset'],
    ['permits_many.jsonl', 0, 'one worker with 70 permits'],
    ['permits_many_wrong.jsonl', 1, 'one worker with 70 permits, and another number is free'],
    ['fifo_silent_overtakes.jsonl', 1, 'who lost its place may not be granted before others in line', '--model', 'lease', '--claims', 'fifo'],
    ['clock_after.jsonl', 1, 'a clock that was set later excuses nothing', @mutex],
    ['fifo_two_lines.jsonl', 5, 'a worker in two lines', @mutex, '--claims', 'fifo'],
    ['fifo_other_cancelled.jsonl', 1, 'a cancel leaves the line of its own resource only', @mutex, '--claims', 'fifo'],
    ['fenced_answered.jsonl', 1, 'the token of a write may stand on its answer', @mutex, '--claims', 'fenced'],
    ['fenced_answered_right.jsonl', 0, '... of one write, and not of the other', @mutex, '--claims', 'fenced'],
    ['unique_put_together.jsonl', 0, 'a put of two items is refused for one of them'],
    ['unique_put_twice_together.jsonl', 0, 'or since they have one key'],
    ['unique_one_class.jsonl', 1, 'two unfinished items of one key'],
    ['unique_two_classes.jsonl', 5, 'but each class may have keys of its own'],
    ['uncertain_recovery.jsonl', 0, 'an uncertain clock makes no recovery late', @mutex, @recovery, '--uncertainty', '1s'],
    ['uncertain_progress.jsonl', 5, 'and no wait long', @mutex, @progress, '--uncertainty', '1s'],
    ['uncertain_end.jsonl', 1, 'nor does it hide a lock that is never given back', @mutex, '--claims', 'exclusive', '--uncertainty', '1us'],
    ['fifo_holder_in_line.jsonl', 1, 'of two places a holder has one, until it releases', '--model', 'semaphore:2', '--claims', 'fifo'],
    ['fifo_restart_in_tick.jsonl', 0, 'a worker does not overtake itself, within a tick', @mutex, '--claims', 'fifo'],
    ['fifo_other_try.jsonl', 0, 'a try of another lock is no sign of life in this line', '--model', 'lease', '--claims', 'fifo'],
    ['recovery_renewed_since.jsonl', 1, 'a lease that was renewed after another one had the lock is its worker\'s again', '--model', 'lease', @recovery],
    ['recovery_granted_again.jsonl', 1, 'so is a lock that was granted again'],
    ['recovery_own_try.jsonl', 1, 'the dead worker\'s own try excuses nothing', '--model', 'reentrant', @recovery],
    ['recovery_own_claim.jsonl', 1, 'nor does its own claim'],
    ['unknown_in_parts.jsonl', 5, 'what was granted at once may be given back in parts', '--model', 'semaphore:5', '--claims', 'exclusive,owner-release'],
    ['dropped_grant.jsonl', 0, 'a release of unknown outcome may be tried again much later', '--model', 'semaphore:20', '--claims', 'owner-release'],
    ['reentrant_failed_last.jsonl', 0, 'nor need it be, by belief', '--model', 'reentrant', '--claims', 'exclusive,owner-release'],
    ['value_intern.jsonl', 0, 'a text and an integer are different items', @queue, '--claims', 'no-duplicate'],
);
for my $case (@cases) {
    my ($file, $want, $shows, @options) = @$case;
    my ($status, $out, $err) = lockbench('check', @options, "$dir/$file");
    is($status, $want, "$file: $verdict{$want}: $shows") or diag $out, $err;
    my ($again, $plainly) = lockbench('check', '--plain', @options, "$dir/$file");
    is("$again $plainly", "$status $out", "$file: the same without shortcuts")
        if $plainly !~ /search for an order was given up/;
}

my ($ignored, $told) = lockbench('check', @queue, "$dir/recover_complete.jsonl");
like($told, qr/^no-duplicate +held/m, 'recover_complete.jsonl: the protocol let it be claimed again');
like($told, qr/^owner-release +violated/m, 'recover_complete.jsonl: but not be completed by the first');
like($told, qr/^1 item was claimed 2 times: .* from workers that were alive/m, 'recover_complete.jsonl: done twice');

($ignored, $told) = lockbench('check', @queue, "$dir/beats_revived.jsonl");
like($told, qr/^no-duplicate +violated/m, 'beats_revived.jsonl: no recovery can have taken the claim before the beat');

my (undef, $renewed) = lockbench('check', '--model', 'lease', '--claims', 'exclusive,fenced', "$dir/renewed_after_session.jsonl");
like($renewed, qr/^fenced +not tested: a session may have ended, or not/m,
    'renewed_after_session.jsonl: the order of the grants is not known');

my (undef, $beside) = lockbench('check', @owner, "$dir/release_beside_owner.jsonl");
like($beside, qr/^exclusive +violated.*^owner-release +held/ms,
    'release_beside_owner.jsonl: a worker that was let in beside the owner may own something of its own');

# Names mean the same in all files of one call, and no two the same.
my $again = spew('again.jsonl', <<'END');
{"type":"invoke","f":"dequeue","process":0,"time":9}
{"type":"ok","f":"dequeue","process":0,"time":10,"value":"a"}
END
for my $case (
    ['queue', 'names_host_a.jsonl', 'names_host_b.jsonl', $again, qr/item "a" was claimed/],
    ['mutex', 'resources_host_a.edn', 'resources_host_b.edn', "$dir/resources_host_a.edn", qr/of file 1/])
{
    my ($model, $one, $other, $same, $names) = @$case;
    my ($code, $says) = lockbench('check', '--model', $model, "$dir/$other", "$dir/$one");
    is($code, 0, "$one, $other: two names are two things") or diag $says;
    ($code, $says) = lockbench('check', '--model', $model, "$dir/$one", $same);
    is($code, 1, "$one: one name is one thing") or diag $says;
    like($says =~ s/\s+/ /gr, $names, 'and the witness says which');
}

# Joined files belong to one run: one file's facts must not be applied to the others.
sub of_run
{
    my ($name, %differs) = @_;
    my %says = (shape => 'lock', resources => 2, capacity => '1*2', reentrant => 0, lease => 0, claims => 'exclusive',
        release => 'belief', drained => 0, complete => 1, period_ns => 0, progress_bound_ns => 0, %differs);
    my $meta = join '', map { "$_=$says{$_}\\n" } sort keys %says;
    return spew($name, <<"END");
{"type":"info","f":"meta","process":"nemesis","time":0,"events":2,"value":"$meta"}
{"type":"invoke","f":"acquire","process":0,"time":1,"log":0}
{"type":"ok","f":"acquire","process":0,"time":2,"log":0}
END
}
my $first = of_run('first.jsonl');
for my $case (
    ['capacity', '1*1,2*1', 'capacity of resource 1 is 2, and 1 in '],
    ['resources', 1, 'resources is 1, and 2 in ', capacity => '1*1'],
    ['lease', 1, 'lease is 1, and 0 in '],
    ['period_ns', 7, 'period_ns is 7, and 0 in '],
    ['release', 'state', 'release is state, and belief in '],
    ['progress_bound_ns', 9, 'progress_bound_ns is 9, and 0 in '],
    ['claims', 'exclusive,fenced', 'claims is exclusive,fenced, and exclusive in '],
    ['reentrant', 1, 'reentrant is 1, and 0 in '],
    ['shape', 'queue', 'shape is queue, and lock in '])
{
    my ($key, $value, $says, @more) = @$case;
    my ($code, undef, $said) = lockbench('check', $first, of_run('other.jsonl', $key => $value, @more));
    is($code, 2, "two files with another $key are not of one run");
    like($said, qr/other\.jsonl:1: \Q$says\E\S*first\.jsonl:1: files that are checked together must be of one run/,
        'and it is said which');
}
is((lockbench('check', $first, of_run('other.jsonl')))[0], 1, 'two files that agree are judged as one');
is((lockbench('check', '--claims', 'exclusive', $first, of_run('other.jsonl', claims => 'fenced')))[0], 1,
    'what an option says is not asked of the files');
my ($shape_code, undef, $shape_said) = lockbench('check', $first, "$dir/names_host_a.jsonl");
is($shape_code, 2, 'a lock and a queue are not joined');
like($shape_said, qr/names_host_a\.jsonl:3: an operation of a queue, but the model of the file is of a lock/, 'and it is said');
my ($bad_code, undef, $bad_said) = lockbench('check', $first, of_run('other.jsonl', capacity => '0*2'));
is($bad_code, 2, 'a capacity of 0 is none');
like($bad_said, qr/other\.jsonl:1: the history's meta text has capacity=0\*2/, 'and the file is named');

# An ambiguous history is neither held nor violated.
for my $case (
    ['permits_in_parts.jsonl', 'semaphore:2', 'exclusive,owner-release', qr/more or fewer permits/],
    ['permits_at_once.jsonl', 'semaphore:2', 'exclusive,owner-release', qr/more or fewer permits/],
    ['put_again.jsonl', 'queue', 'no-duplicate,fifo', qr/put more than once: give each one a name/],
    ['put_again_fifo.jsonl', 'fifo', 'fifo', qr/put more than once: give each one a name/],
    ['once_put_again.jsonl', '', 'once', qr/put more than once: give each one a name/],
    ['group_put_again.jsonl', '', 'group-exclusive', qr/put more than once: give each one a name/],
    ['group_of_text.jsonl', '', 'group-exclusive', qr/other names than numbers from 0 on/],
    ['groups_host_a.jsonl groups_host_b.jsonl', '', 'group-exclusive', qr/does not say which items are of one group/],
    ['permits_free_prolonged.jsonl', '', 'permits', qr/did not say which of its worker's grants/],
    ['permits_free_any.jsonl', '', 'permits', qr/did not say which of its worker's grants/],
    ['permits_free_parts.jsonl', '', 'permits', qr/other permits than were granted at once/],
    ['renewal_of_either.jsonl', '', 'exclusive', qr/renewal did not say which of its worker's grants/],
    ['clock_before.jsonl', 'mutex', 'exclusive', qr/this machine's clock was set 400 ms ahead, seen at 8\.00 ms/],
    ['priority_claims_tick.jsonl', '', 'priority', qr/several items within a tick of the clock/],
    ['recovery_attempts_maybe.jsonl', '', 'recovery', qr/may have reached the attempt limit/],
    ['recovery_attempts_over.jsonl', '', 'recovery', qr/no worker died holding it/],
    ['recovery_capacity.jsonl', '', 'recovery', qr/others go on beside a dead worker/],
    ['classes_five.jsonl', '', 'no-duplicate', qr/moved from class to class/],
    ['permits_shared.jsonl', '', 'permits', qr/readers share it/],
    ['cut_after_drain.jsonl', '', 'no-duplicate,no-loss', qr/the history is cut off/])
{
    my ($files, $model, $claims, $reason) = @$case;
    my @model = $model eq '' ? () : ('--model', $model);
    my ($code, $says) = lockbench('check', @model, '--claims', $claims, map { "$dir/$_" } split / /, $files);
    is($code, 5, "$files: not tested") or diag $says;
    like($says =~ s/\s+/ /gr, $reason, 'and it is said why');
}

# Witnesses name the file's own processes, and mention a recovery.
(undef, $told) = lockbench('check', @mutex, "$dir/string_process.jsonl");
like($told, qr/process w1 was granted resource 0 at .* while process 0 held it/, 'a process with a name');
like($told, qr/^ +process w1 +\S/m, 'also in the drawing');
(undef, $told) = lockbench('check', @queue, "$dir/recover_twice.jsonl");
$told =~ s/\s+/ /g;
like($told, qr/recover ran at 100\.000 ms, 40\.0 ms after the first of them was requested; ttl 20\.0 ms/,
    'recover_twice.jsonl: the witness tells of the recovery');

# Strictly: the witness names the item in the queue; an unknown case is not called held.
my ($not, $none, $why) = lockbench('check', @queue, '--strict', "$dir/strict_untold.jsonl");
like($none, qr/^fifo +not tested: claims of unknown outcome may have taken items/m, 'strict_untold.jsonl');
(undef, $none) = lockbench('check', '--strict', "$dir/strict_after_recover.jsonl");
like($none, qr/^fifo +not tested: /m, 'strict_after_recover.jsonl: a recover may have brought the item back');
is((lockbench('check', '--strict', "$dir/strict_beside_recover.jsonl"))[0], 1, 'strict_beside_recover.jsonl: the item was there all the time');
($not, $none, $why) = lockbench('check', @mutex, '--strict', "$dir/tie_free.jsonl");
is($not, 2, '--strict of a lock is a usage error');
like($why, qr/--strict: is for queues/, 'and it is said');

# A value that only some tools read as one number is refused.
my ($status, $out, $err) = lockbench('check', @queue, "$dir/value_float.jsonl");
is($status, 2, 'value_float.jsonl: 1.0 is no name of an item');
like($err, qr/value_float\.jsonl:1: 1\.0: a number that names something must be a whole one/, 'and it is said');

# A complaint about a text names its line.
my @complaints = (
    ['mutex', '{"type":"invoke","f":"acquire","process":0,"time":9223372036854775807}', qr/:2: time \d+ ns is beyond/],
    ['queue', '{"type":"info","f":"item","process":"nemesis","time":1,"value":1}', qr/:2: item without the log of its claim/],
    ['queue', '{"type":"info","f":"item","process":"nemesis","log":0,"time":1,"value":1}', qr/:2: item outside of a claim/],
    ['mutex', '{"type":"invoke","f":"put","process":0,"time":1,"value":1}', qr/:2: an operation of a queue, but --model mutex/],
    ['queue', '{"type":"invoke","f":"put","process":0,"time":1,"value":-1,"arg":5}', qr/:2: a put of more ids than there are/],
    ['mutex', '{"type":"invoke","f":"acquire","process":0,"time":1,"object":3}' . "\n" .
              '{"type":"ok","f":"acquire","process":0,"time":1}',
        qr/:3: process 0 ends acquire of another resource than it invoked in line 2/],
    ['mutex', '{"type":"invoke","f":"acquire","process":0,"time":1,"arg":0}', qr/:2: arg of acquire is its permits, 1 or more/],
    ['mutex', '{"type":"invoke","f":"acquire","process":0,"time":1,"arg":-2}', qr/:2: arg must be a number from 0 to \d+/],
    ['queue', '{"type":"invoke","f":"recover","process":0,"time":1,"arg":-2}', qr/:2: arg must be a number from 0 to \d+/],
    ['mutex', '{"type":"invoke","f":"acquire","process":0,"time":-7}', qr/:2: time must be a whole number/],
);
# Notes whose number makes no sense would be taken off waits, or end what lasts still.
for my $case (
    ['stall', '"value":-5', 'stall must have a length of time in ns as its value'],
    ['stall', '"value":"long"', 'stall must have a length of time in ns as its value'],
    ['stall', '"value":4611686018427387905', 'stall must have a length of time in ns as its value'],
    ['stall', '"token":-5', 'stall must have a length of time in ns as its value'],
    ['stall', '"value":5,"arg":4', 'arg of stall must be a number from 0 to 3'],
    ['restart', '"value":-1', 'restart must have a length of time in ns as its value'],
    ['death', '"arg":4294967295', 'arg of death must be the number of a log'],
    ['session-end', '"arg":1048576', 'arg of session-end must be the number of a log'],
    ['meta', '"events":-1', 'events of meta must be a number from 0 on'],
    ['meta', '"unix":"now"', 'unix of meta must be a number from 0 on'])
{
    my ($note, $keys, $says) = @$case;
    push @complaints, ['mutex', qq({"type":"info","f":"$note","process":"nemesis","log":0,"time":9,$keys}), qr/:2: \Q$says\E/];
}
for my $case (@complaints) {
    my ($model, $line, $says) = @$case;
    my ($code, undef, $said) = lockbench('check', '--model', $model, spew('bad.jsonl', "\n$line\n"));
    is($code, 2, "exit status 2: $line");
    like($said, $says, 'and the line is named');
}

# Items that one statement ends: each end says which.
my $batch = join '', map { qq({"type":"$_->[0]","f":"$_->[1]","process":1,"time":$_->[2],"log":1$_->[3]}\n) }
    ['invoke', 'put', 1, ',"value":1,"arg":2'], ['ok', 'put', 2, ',"value":1,"arg":2'],
    ['invoke', 'complete', 3, ',"value":1'], ['invoke', 'complete', 3, ',"value":2'];
for my $case (
    ['', qr/bad\.jsonl:5: process 1 ends complete of one item of a batch of 2, but does not say which: each end of a batch must name its item/],
    [',"value":2', qr/bad\.jsonl: .*the ends of a batch must name its items, in the order of their invokes/])
{
    my ($value, $says) = @$case;
    my ($code, undef, $said) = lockbench('check', @queue,
        spew('bad.jsonl', $batch . qq({"type":"ok","f":"complete","process":1,"time":4,"log":1$value}\n)));
    is($code, 2, 'an end of a batch' . ($value eq '' ? ' without an item' : ' out of order'));
    like($said, $says, 'and it is said what is missing');
}

for my $case (
    ['other_item.jsonl', 'queue', qr/other_item\.jsonl:2: process 0 ends enqueue of another item than it invoked in line 1/],
    ['permits_free_untold.jsonl', 'semaphore:4', qr/permits_free_untold\.jsonl:4: permits must have how many are free/],
    ['tuple_or_not.edn', 'mutex', qr/tuple_or_not\.edn:4: a tuple names the resource, but line 2 names none/])
{
    my ($file, $model, $says) = @$case;
    my ($code, undef, $said) = lockbench('check', '--model', $model, "$dir/$file");
    is($code, 2, "exit status 2: $file");
    like($said, $says, 'and the line is named');
}

# Guarded writes of a queue come back from an export.
my ($writes, $wrote, $trouble) = lockbench('check', @queue, '--claims', 'no-duplicate', spew('writes.jsonl', <<'END'));
{"type":"invoke","f":"put","process":0,"time":0,"value":1}
{"type":"ok","f":"put","process":0,"time":1,"value":1}
{"type":"invoke","f":"dequeue","process":0,"time":2}
{"type":"ok","f":"dequeue","process":0,"time":3,"value":1}
{"type":"invoke","f":"write","process":0,"time":4,"token":7}
{"type":"ok","f":"write","process":0,"time":5,"token":7}
END
is($writes, 0, 'a queue has guarded writes') or diag $trouble;

# A cut export: the missing part may excuse everything.
for my $file ('cut_export_queue.jsonl', 'cut_export_progress.jsonl') {
    ($status, $out, $err) = lockbench('check', "$dir/$file");
    isnt($status, 1, "$file: nothing is violated") or diag $out, $err;
    like($out, qr/cut off/, "$file: it is said that it is cut off");
}

# Our own export says how many events it has.
($status, $out) = lockbench('check', '--export', 'jsonl', "$dir/cut_export_queue.jsonl");
is($status, 0, 'a cut history can be exported');
unlike($out, qr/\A[^\n]*"events":/, 'and does not become whole by that');

done_testing();
