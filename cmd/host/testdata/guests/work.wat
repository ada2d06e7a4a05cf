;; Works for a while, at which it reports a step now and then, and answers "ok".
(module
  (import "toolquay:host/1" "progress" (func $progress (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\00\47\00\00\00{\22progress\22:{\22message\22:\22working\22,\22done\22:1,\22total\22:2,\22output\22:\22step\5cn\22}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (local $steps i32) (local $rounds i32)
    (local.set $steps (i32.const 40))
    (loop $step
      (call $progress (i32.const 512) (i32.const 79))
      (local.set $rounds (i32.const 8000000))
      (loop $round
        (local.set $rounds (i32.sub (local.get $rounds) (i32.const 1)))
        (br_if $round (local.get $rounds)))
      (local.set $steps (i32.sub (local.get $steps) (i32.const 1)))
      (br_if $step (local.get $steps)))
    (i64.const 274877907013))
)
