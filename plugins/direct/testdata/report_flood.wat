;; Reports progress a million times, each time with the number of the report, and
;; answers "ok". After the first half it makes a capability call and waits for it.
(module
  (import "toolquay:host/1" "progress" (func $progress (param i32 i32)))
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (import "toolquay:host/1" "read" (func $read (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\00\22\00\00\00{\22progress\22:{\22message\22:\220000000\22}}")
  (data (i32.const 768) "\01\00\00\00)\00\00\00{\22capability\22:\22test.echo\22,\22args\22:{\22n\22:1}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func $count (local $at i32)
    (local.set $at (i32.const 550))
    (loop $carry
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 57))
        (then
          (i32.store8 (local.get $at) (i32.const 48))
          (local.set $at (i32.sub (local.get $at) (i32.const 1)))
          (br $carry))))
    (i32.store8 (local.get $at) (i32.add (i32.load8_u (local.get $at)) (i32.const 1))))
  (func $report (param $n i32)
    (loop $again
      (call $count)
      (call $progress (i32.const 512) (i32.const 42))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  (func (export "call") (param i32 i32) (result i64)
    (call $report (i32.const 500000))
    (drop (call $read (call $submit (i32.const 768) (i32.const 49)) (i32.const 8192) (i32.const 4096)))
    (call $report (i32.const 500000))
    (i64.const 274877907013))
)
