;; Logs a million lines, then answers "ok".
(module
  (import "toolquay:host/1" "progress" (func $progress (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\00/\00\00\00{\22log\22:{\22level\22:\22info\22,\22message\22:\22still here\22}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (local $n i32)
    (local.set $n (i32.const 1000000))
    (loop $again
      (call $progress (i32.const 512) (i32.const 55))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i64.const 274877907013))
)
