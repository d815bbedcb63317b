------------------------------- MODULE Lease -------------------------------
(* Workers read a shard of a stream and then its child, each under a lease.  *)
(* Nobody's clock is trusted: a lease may be taken over at any moment, also  *)
(* from a worker that is only slow and goes on. What a worker has done       *)
(* counts by its checkpoint alone. The bus drops what it has had before: it  *)
(* keeps the highest record of each shard.                                   *)
EXTENDS Naturals

CONSTANTS Workers, Records, Terms,
          Guarded,   \* a checkpoint has the term of the lease as a condition
          Waits,     \* a child is taken when its parent is finished
          Publishes  \* a record is published before it is below a checkpoint

Shards == {"parent", "child"}
End == Records + 1   \* the checkpoint of a shard that is read to its end

VARIABLES counter,     \* shard -> the term of its lease: grows with every owner
          checkpoint,  \* shard -> the last record that is done, in the lease's row
          term,        \* worker -> shard -> the term under which it believes to own it
          at,          \* worker -> shard -> how far it has come
          had          \* shard -> the highest record that the bus has had

vars == <<counter, checkpoint, term, at, had>>

Init == /\ counter = [s \in Shards |-> 0]
        /\ checkpoint = [s \in Shards |-> 0]
        /\ had = [s \in Shards |-> 0]
        /\ term = [w \in Workers |-> [s \in Shards |-> 0]]
        /\ at = [w \in Workers |-> [s \in Shards |-> 0]]

\* A conditional write on the term that was read: one of two takers wins.
Take(w, s) == /\ counter[s] < Terms
              /\ checkpoint[s] < End
              /\ s = "child" /\ Waits => checkpoint["parent"] = End
              /\ counter' = [counter EXCEPT ![s] = @ + 1]
              /\ term' = [term EXCEPT ![w][s] = counter[s] + 1]
              /\ at' = [at EXCEPT ![w][s] = checkpoint[s]]
              /\ UNCHANGED <<checkpoint, had>>

\* In order; the bus has it, or has had it or a later one before.
Publish(w, s) == /\ term[w][s] > 0 /\ at[w][s] < Records
                 /\ at' = [at EXCEPT ![w][s] = @ + 1]
                 /\ had' = [had EXCEPT ![s] = IF at[w][s] + 1 > @ THEN at[w][s] + 1 ELSE @]
                 /\ UNCHANGED <<counter, checkpoint, term>>

\* A checkpoint before the bus has the record.
Hurry(w, s) == /\ ~Publishes
               /\ term[w][s] > 0 /\ at[w][s] < Records
               /\ at' = [at EXCEPT ![w][s] = @ + 1]
               /\ UNCHANGED <<counter, checkpoint, term, had>>

Progress(w, s) == IF at[w][s] = Records THEN End ELSE at[w][s]

\* Refused where the lease has another owner: the worker then stops.
Write(w, s) == /\ term[w][s] > 0
               /\ IF term[w][s] = counter[s] \/ ~Guarded
                  THEN checkpoint' = [checkpoint EXCEPT ![s] = Progress(w, s)] /\ UNCHANGED term
                  ELSE term' = [term EXCEPT ![w][s] = 0] /\ UNCHANGED checkpoint
               /\ UNCHANGED <<counter, at, had>>

Crash(w) == /\ term' = [term EXCEPT ![w] = [s \in Shards |-> 0]]
            /\ UNCHANGED <<counter, checkpoint, at, had>>

Next == \E w \in Workers : \/ Crash(w)
                           \/ \E s \in Shards : Take(w, s) \/ Publish(w, s) \/ Hurry(w, s) \/ Write(w, s)

Spec == Init /\ [][Next]_vars

NothingSkipped == \A s \in Shards : \A r \in 1..Records : r <= checkpoint[s] => r <= had[s]
OneOwner == \A s \in Shards : \A v, w \in Workers : term[v][s] = term[w][s] /\ term[v][s] > 0 => v = w
ParentsFirst == had["child"] > 0 => had["parent"] = Records
NeverBack == [][\A s \in Shards : checkpoint'[s] >= checkpoint[s]]_vars
\* What the bus delivers of a shard has no gap: it goes up by one record at a time.
NoGap == [][\A s \in Shards : had'[s] <= had[s] + 1]_vars
=============================================================================
