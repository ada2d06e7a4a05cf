;; Makes one capability call, makes room for the answer, reads it whole in as few
;; reads as the host allows, and answers "ok".
(module
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (import "toolquay:host/1" "wait" (func $wait (param i32 i32) (result i64)))
  (import "toolquay:host/1" "read" (func $read (param i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\00%\00\00\00{\22capability\22:\22bench.read\22,\22args\22:{}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (local $id i32) (local $at i32) (local $n i32) (local $room i32)
    (local.set $id (call $submit (i32.const 512) (i32.const 45)))
    (i32.store (i32.const 1024) (local.get $id))
    ;; The high half of what wait returns is how much can be read at once.
    (local.set $room (i32.add (i32.const 65536)
      (i32.wrap_i64 (i64.shr_u (call $wait (i32.const 1024) (i32.const 1)) (i64.const 32)))))
    (local.set $n (i32.sub (i32.shr_u (i32.add (local.get $room) (i32.const 131071)) (i32.const 16)) (memory.size)))
    (if (i32.gt_s (local.get $n) (i32.const 0)) (then (drop (memory.grow (local.get $n)))))
    (local.set $at (i32.const 65536))
    (block $end
      (loop $more
        (local.set $n (call $read (local.get $id) (local.get $at)
          (i32.sub (i32.shl (memory.size) (i32.const 16)) (local.get $at))))
        (br_if $end (i32.le_s (local.get $n) (i32.const 0)))
        (local.set $at (i32.add (local.get $at) (local.get $n)))
        (br $more)))
    (i64.const 274877907013)))
